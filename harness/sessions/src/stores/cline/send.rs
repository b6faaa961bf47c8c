//! The send models of Cline and the products derived from it.
//!
//! In the older form, resuming answers the calls of the last reply if it is the last message or the one
//! before (`resumeTaskFromHistory`, `src/core/task/Task.ts` of <https://github.com/RooCodeInc/Roo-Code>).
//! Earlier calls stay open, <https://github.com/RooCodeInc/Roo-Code/issues/11764>. In the newer form, every
//! call without a result anywhere is answered after its reply (`appendMissingToolResults` of the package
//! `@cline/core` 0.0.86). A misplaced result stays where it is.
//!
//! In the older form Cline itself gives a result to every call that the next message does not answer
//! (`ensureToolResultsFollowToolUse` in `src/core/context/context-management/ContextManager.ts` of
//! <https://github.com/cline/cline>).

use std::collections::BTreeSet;

use brickbat_rules::histories::{self, CallResult, Role};

use super::{BARE, BARE_OF_CLINE};
use crate::{Block, Ending, Message, Sent, Session};

pub(super) const WORDS_OF_RESUME: &str =
    "answers them with `Task was interrupted before this tool call could be completed.`";
pub(super) const WORDS_OF_BUILDER: &str =
    "answers them with `Tool execution was interrupted before a result was produced.`";
pub(super) const WORDS_OF_CONTEXT: &str = "answers them with `result missing`";
const FILLED_BY_CONTEXT: &str = "result missing";
const FILLED_AT_RESUME: &str = "Task was interrupted before this tool call could be completed.";
const FILLED_BY_BUILDER: &str = "Tool execution was interrupted before a result was produced.";

pub(super) fn send(session: &Session) -> Sent {
    let mut sent = Sent::as_stored(session);
    let n_filled = match session.generation {
        BARE => fill_last(&mut sent),
        BARE_OF_CLINE => fill_each(&mut sent),
        _ => fill_all(&mut sent),
    };
    if n_filled > 0 {
        sent.mended.push(("fills calls without a result", n_filled));
    }
    sent
}

/// Number of trailing messages that the older form examines.
const N_LOOKED_AT: usize = 2;

fn fill_last(sent: &mut Sent) -> usize {
    let n = sent.messages.len();
    let Some(last) = sent.messages.iter().rposition(|message| message.role == Role::Assistant) else {
        return 0;
    };
    if n - last > N_LOOKED_AT {
        return 0;
    }
    let answered = answered(&sent.messages[last..]);
    match filler(&sent.messages[last], &answered, FILLED_AT_RESUME, false) {
        Some(filler) => {
            let n_filled = filler.blocks.len();
            // With the existing results, before the user's text.
            sent.messages.insert(last + 1, filler);
            n_filled
        }
        None => 0,
    }
}

fn fill_all(sent: &mut Sent) -> usize {
    let answered = answered(&sent.messages);
    let mut n_filled = 0;
    let mut messages = Vec::with_capacity(sent.messages.len());
    for message in std::mem::take(&mut sent.messages) {
        let filler = filler(&message, &answered, FILLED_BY_BUILDER, true);
        n_filled += filler.as_ref().map_or(0, |filler| filler.blocks.len());
        messages.push(message);
        messages.extend(filler);
    }
    sent.messages = messages;
    n_filled
}

/// Each reply is answered by the message after it.
fn fill_each(sent: &mut Sent) -> usize {
    let mut n_filled = 0;
    let mut rest = std::mem::take(&mut sent.messages).into_iter().peekable();
    while let Some(message) = rest.next() {
        let answered = answered(rest.peek().map(std::slice::from_ref).unwrap_or_default());
        let filler = filler(&message, &answered, FILLED_BY_CONTEXT, false);
        n_filled += filler.as_ref().map_or(0, |filler| filler.blocks.len());
        sent.messages.push(message);
        sent.messages.extend(filler);
    }
    n_filled
}

fn answered(messages: &[Message]) -> BTreeSet<String> {
    messages.iter().flat_map(Message::results).map(|result| result.call.clone()).collect()
}

/// The answers to a reply's unanswered calls.
fn filler(reply: &Message, answered: &BTreeSet<String>, words: &str, is_error: bool) -> Option<Message> {
    if reply.role != Role::Assistant {
        return None;
    }
    let blocks = reply.blocks.iter().filter_map(|block| match &block.content {
        histories::Block::Call(call) if !answered.contains(&call.id) => {
            let output = vec![histories::Block::Text(words.to_owned())];
            let result = CallResult { is_error, ..CallResult::new(&call.id, &call.name, output) };
            Some(Block { place: block.place.clone(), content: histories::Block::Result(result), state: None })
        }
        _ => None,
    });
    let blocks: Vec<Block> = blocks.collect();
    let place = blocks.first()?.place.clone();
    Some(Message { role: Role::Tool, blocks, id: None, place, ending: Ending::Whole })
}
