//! The send model of a LangGraph agent at the next user message.
//!
//! Pending writes are dropped then (measured with langgraph 1.2), so only the checkpoint counts.

use std::collections::BTreeSet;

use brickbat_rules::histories::{Block as Content, Role};

use super::message::INVALID;
use super::{DEEP_AGENT, REACT_AGENT, postgres, redis};
use crate::clients::{self, Quirk};
use crate::{Block, Ending, Message, Place, Sent, Session};

pub(super) fn send(session: &Session) -> Sent {
    let mut sent = Sent::as_stored(session);
    if [DEEP_AGENT, postgres::DEEP_AGENT, redis::DEEP_AGENT].contains(&session.generation) {
        fill(&mut sent);
    }
    if clients::of(session.dialect).have(Quirk::LanggraphCleans) {
        as_anthropic(&mut sent);
    }
    if [REACT_AGENT, postgres::REACT_AGENT, redis::REACT_AGENT].contains(&session.generation) {
        sent.gives_up = unanswered(session).map(|place| (INVALID_CHAT_HISTORY.to_owned(), place));
    }
    sent
}

/// The error that `_validate_chat_history` raises, in `langgraph/prebuilt/chat_agent_executor.py`, without
/// the call names.
const INVALID_CHAT_HISTORY: &str = "Found AIMessages with tool_calls that do not have a corresponding ToolMessage. (INVALID_CHAT_HISTORY) That is what \
     `create_react_agent` says to a new message; in a graph of your own, the provider refuses it.";

/// The first call without a result anywhere in the messages.
fn unanswered(session: &Session) -> Option<Place> {
    let answered = answered(&session.messages);
    let mut blocks = session.messages.iter().flat_map(|message| &message.blocks);
    let is_open = |block: &&Block| match &block.content {
        Content::Call(call) => block.state.is_none() && !answered.contains(call.id.as_str()),
        _ => false,
    };
    blocks.find(is_open).map(|block| block.place.clone())
}

fn answered(messages: &[Message]) -> BTreeSet<&str> {
    messages.iter().flat_map(Message::results).map(|result| result.call.as_str()).collect()
}

/// `PatchToolCallsMiddleware` in `deepagents/middleware/patch_tool_calls.py` of deepagents, with its texts.
fn fill(sent: &mut Sent) {
    let answered: BTreeSet<String> = answered(&sent.messages).into_iter().map(str::to_owned).collect();
    let mut n = 0;
    let mut messages = Vec::with_capacity(sent.messages.len());
    for message in std::mem::take(&mut sent.messages) {
        let mut filled = Vec::new();
        for block in &message.blocks {
            let Content::Call(call) = &block.content else { continue };
            if answered.contains(&call.id) {
                continue;
            }
            let (name, id) = (&call.name, &call.id);
            let words = match block.state {
                Some(_) => format!(
                    "Tool call {name} with id {id} could not be executed - arguments were malformed or \
                     truncated."
                ),
                None => format!(
                    "Tool call {name} with id {id} did not complete - no result was recorded. It may have \
                     been cancelled or interrupted."
                ),
            };
            let (content, place) = (Content::Result(call.failed(words)), block.place.clone());
            let blocks = vec![Block { place: place.clone(), content, state: None }];
            filled.push(Message { role: Role::Tool, blocks, id: None, place, ending: Ending::Whole });
        }
        n += filled.len();
        messages.push(message);
        messages.extend(filled);
    }
    sent.messages = messages;
    if n > 0 {
        sent.mended.push(("fills calls without a result", n));
    }
}

/// `_format_messages` in `langchain_anthropic/chat_models.py`: leaves out blank texts in a list of blocks and
/// replies without content, sends an empty object for arguments that are not an object, and replaces
/// characters that Anthropic does not accept in ids.
fn as_anthropic(sent: &mut Sent) {
    let (mut n_texts, mut n_arguments, mut n_ids) = (0, 0, 0);
    for message in &mut sent.messages {
        let n = message.blocks.len();
        message.blocks.retain(|block| match &block.content {
            Content::Text(text) => block.place.pointer.ends_with("/content") || !text.trim().is_empty(),
            _ => true,
        });
        n_texts += n - message.blocks.len();
        for block in &mut message.blocks {
            match &mut block.content {
                Content::Call(call) => {
                    n_ids += normalise(&mut call.id);
                    if block.state.as_deref() == Some(INVALID) && !is_object(&call.arguments) {
                        call.arguments = "{}".to_owned();
                        n_arguments += 1;
                    }
                }
                Content::Result(result) => n_ids += normalise(&mut result.call),
                _ => {}
            }
        }
    }
    let n = sent.messages.len();
    sent.messages.retain(|message| message.role != Role::Assistant || !message.blocks.is_empty());
    for (words, n) in [
        ("drops blank texts", n_texts),
        ("drops replies without content", n - sent.messages.len()),
        ("sends empty arguments for those that cannot be read", n_arguments),
        ("replaces characters of ids", n_ids),
    ] {
        if n > 0 {
            sent.mended.push((words, n));
        }
    }
}

fn is_object(arguments: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(arguments).is_ok_and(|value| value.is_object())
}

/// Replaces the characters that Anthropic does not accept in an id. Returns 1 if the id has changed,
/// otherwise 0.
fn normalise(id: &mut String) -> usize {
    let is_taken = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if id.chars().all(is_taken) {
        return 0;
    }
    *id = id.chars().map(|letter| if is_taken(letter) { letter } else { '_' }).collect();
    1
}
