//! The send model of TanStack AI: `convertMessagesToModelMessages` of `@tanstack/ai` 0.58.0, then
//! `formatMessages` of `@tanstack/ai-anthropic` 0.18.11. Neither checks that every call has a result. Before
//! the first request of a turn, `checkForPendingToolCalls` runs calls without a result, and puts the results
//! after the new user message. Responses accepts them there, but Anthropic and Chat Completions reject that
//! one turn.

use std::collections::BTreeSet;

use brickbat_rules::histories::{Block as Content, Role};
use serde_json::Value;

use super::PERSISTED;
use super::parts::UNFINISHED;
use crate::clients::{self, Quirk};
use crate::stores::pairs;
use crate::{Block, Message, NOT_RECORDED, Sent, Session};

/// The send model of a session.
pub(super) fn send(session: &Session) -> Sent {
    let mut sent = Sent::as_stored(session);
    // `uiMessageToModelMessages`: "Skip system messages - they're handled via systemPrompts".
    sent.messages.retain(|message| message.role != Role::System);
    // The client sends its messages without the states of their calls, so an unfinished call arrives as a
    // complete one.
    let keeps_states = session.generation != PERSISTED;
    let n_cut = leave_out(&mut sent.messages, |block| {
        keeps_states && matches!(block.content, Content::Call(_)) && is_in(&UNFINISHED, block)
    });
    let n_half = leave_out(&mut sent.messages, |block| {
        matches!(block.content, Content::Result(_)) && is_in(&["streaming"], block)
    });
    let n_twice = leave_out_repeated(&mut sent.messages);
    sent.messages.iter_mut().for_each(in_order);
    // `mergeConsecutiveSameRoleMessages`: "Skip empty assistant messages".
    sent.messages.retain(|message| message.role == Role::User || !message.blocks.is_empty());
    let n_twice = n_twice + leave_out_merged(&mut sent.messages);
    sent.messages.iter_mut().flat_map(|message| &mut message.blocks).for_each(plain);
    let n_run = match clients::of(session.dialect).have(Quirk::TanstackRerunsCalls) {
        true => {
            let dangling = pairs::dangling(&sent.messages);
            pairs::fill(&mut sent.messages, dangling, NOT_RECORDED)
        }
        false => 0,
    };
    let mended = [
        ("runs calls without a result again", n_run),
        ("leaves out calls whose arguments were cut off", n_cut),
        ("leaves out results that were cut off", n_half),
        ("leaves out the second result of a call", n_twice),
    ];
    sent.mended.extend(mended.into_iter().filter(|(_, n)| *n > 0));
    sent
}

fn is_in(states: &[&str], block: &Block) -> bool {
    block.state.as_deref().is_some_and(|state| states.contains(&state))
}

fn leave_out(messages: &mut [Message], is_out: impl Fn(&Block) -> bool) -> usize {
    let mut n = 0;
    for message in messages {
        let before = message.blocks.len();
        message.blocks.retain(|block| !is_out(block));
        n += before - message.blocks.len();
    }
    n
}

/// `emittedToolResultIds`: in each message of the list, only the first result of a call counts.
fn leave_out_repeated(messages: &mut [Message]) -> usize {
    messages.chunk_by_mut(|a, b| a.place == b.place).map(keep_first).sum()
}

/// The same for the messages that are merged into one user message: "De-duplicate tool_result blocks with the
/// same tool_use_id".
fn leave_out_merged(messages: &mut [Message]) -> usize {
    let is_reply = |message: &Message| message.role == Role::Assistant;
    messages.chunk_by_mut(|a, b| is_reply(a) == is_reply(b)).map(keep_first).sum()
}

fn keep_first(messages: &mut [Message]) -> usize {
    let mut seen = BTreeSet::new();
    let mut n = 0;
    for message in messages {
        let before = message.blocks.len();
        message.blocks.retain(|block| match &block.content {
            Content::Result(result) => seen.insert(result.call.clone()),
            _ => true,
        });
        n += before - message.blocks.len();
    }
    n
}

/// Puts thoughts, text and calls in this order, since a model message has separate fields for them. Text-only
/// content becomes one text, or none if that is empty (`collapseContentParts`).
fn in_order(message: &mut Message) {
    message.blocks.sort_by_key(|block| match &block.content {
        Content::Thinking(_) => 0,
        Content::Call(_) => 2,
        _ => 1,
    });
    let is_mixed = message
        .blocks
        .iter()
        .any(|block| !matches!(block.content, Content::Text(_) | Content::Thinking(_) | Content::Call(_)));
    let mut joined: Vec<Block> = Vec::with_capacity(message.blocks.len());
    for block in message.blocks.drain(..) {
        if let Content::Text(more) = &block.content
            && let Some(Block { content: Content::Text(text), .. }) = joined.last_mut()
            && !is_mixed
        {
            text.push_str(more);
        } else {
            joined.push(block);
        }
    }
    // `appendThinkingBlocks`: "if (!thinking.signature) continue".
    joined.retain(|block| match &block.content {
        Content::Text(text) => is_mixed || !text.is_empty(),
        Content::Thinking(thinking) => {
            thinking.signature.as_ref().is_some_and(|signature| !signature.is_empty())
        }
        _ => true,
    });
    message.blocks = joined;
}

/// The changes that `formatMessages` makes to calls and results: arguments that are JSON but not an object
/// become an empty object, and results become plain strings without an error flag.
fn plain(block: &mut Block) {
    match &mut block.content {
        Content::Call(call) => {
            if let Ok(value) = serde_json::from_str::<Value>(&call.arguments)
                && !value.is_object()
                && !value.is_array()
            {
                call.arguments = "{}".to_owned();
            }
        }
        Content::Result(result) => {
            result.is_error = false;
            let is_blank = |block: &Content| matches!(block, Content::Text(text) if text.trim().is_empty());
            if matches!(result.output.as_slice(), [one] if is_blank(one)) {
                result.output.clear();
            }
        }
        _ => {}
    }
}
