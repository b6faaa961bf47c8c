//! The send model of the AI SDK, and the cases in which it gives up.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::histories::{Block as Content, Role};

use crate::clients::{self, Quirk};
use crate::session::{ASKED, DECLINED};
use crate::{Block, Message, Place, Sent, Session};

/// Maximum number of ids in the error here. The SDK's own message lists all.
const MAX_IDS: usize = 20;

/// The send model of `streamText` and `generateText`.
pub(crate) fn send(session: &Session) -> Sent {
    let mut sent = Sent::as_stored(session);
    let n_cut = leave_out_cut_calls(&mut sent.messages);
    let n_empty = leave_out_empty_texts(&mut sent.messages);
    sent.gives_up = missing_results(&sent.messages, waits(session).is_some());
    let (n_moved, n_files) = match clients::of(session.dialect).have(Quirk::AiSdkOrdersReplies) {
        true => (calls_last(&mut sent.messages), leave_out_files(&mut sent.messages)),
        false => (0, 0),
    };
    leave_out_blank_outputs(&mut sent.messages);
    let mended = [
        ("leaves out calls whose arguments were cut off", n_cut),
        ("leaves out empty texts", n_empty),
        ("moves calls behind texts", n_moved),
        ("leaves out files of the model", n_files),
    ];
    sent.mended.extend(mended.into_iter().filter(|(_, n)| *n > 0));
    sent
}

/// Describes what happens to trailing calls that wait for a decision: the user is asked, and `streamText`
/// then runs the call or answers it with the denial (`collectToolApprovals`). `None` unless all open calls
/// wait.
pub(crate) fn waits(session: &Session) -> Option<&'static str> {
    let last = session.messages.iter().rposition(|message| message.role == Role::Assistant)?;
    let (reply, after) = session.messages[last..].split_first()?;
    if after.iter().any(|message| message.role != Role::Tool) {
        return None;
    }
    let results = after.iter().flat_map(Message::results);
    let answered: BTreeSet<&str> = results.map(|result| result.call.as_str()).collect();
    let open = reply.blocks.iter().filter(|block| match &block.content {
        Content::Call(call) => !is_cut(block) && !answered.contains(call.id.as_str()),
        _ => false,
    });
    let waits =
        |block: &Block| matches!(block.state.as_deref(), Some(ASKED | DECLINED | "approval-responded"));
    let states: Vec<bool> = open.map(waits).collect();
    let all_wait = !states.is_empty() && states.into_iter().all(|waits| waits);
    all_wait.then_some("waits for the user's decision about the call")
}

/// `convertToModelMessages`: `if (part.state !== 'input-streaming')`. A message with no other content is not
/// sent.
fn leave_out_cut_calls(messages: &mut Vec<Message>) -> usize {
    let mut n = 0;
    messages.retain_mut(|message| {
        let before = message.blocks.len();
        message.blocks.retain(|block| !is_cut(block));
        n += before - message.blocks.len();
        before == message.blocks.len() || !message.blocks.is_empty()
    });
    n
}

fn is_cut(block: &Block) -> bool {
    matches!(block.content, Content::Call(_)) && block.state.as_deref() == Some("input-streaming")
}

/// `convertToLanguageModelMessage`: "remove empty text parts". The rest of the message is sent, even if it is
/// empty.
fn leave_out_empty_texts(messages: &mut [Message]) -> usize {
    let mut n = 0;
    for message in messages.iter_mut().filter(|message| message.role != Role::System) {
        let before = message.blocks.len();
        message.blocks.retain(|block| !matches!(&block.content, Content::Text(text) if text.is_empty()));
        n += before - message.blocks.len();
    }
    n
}

/// `convertToLanguageModelPrompt` keeps a set of open calls, and throws if the set is not empty at a user
/// message or at the end. It does not match results and calls in any other way. At the end, calls of the last
/// reply that wait for a decision are allowed.
/// <https://github.com/vercel/ai/blob/main/packages/ai/src/prompt/convert-to-language-model-prompt.ts>
fn missing_results(messages: &[Message], end_waits: bool) -> Option<(String, Place)> {
    let last = messages.iter().rposition(|message| message.role == Role::Assistant);
    let mut open: BTreeMap<&str, Open> = BTreeMap::new();
    let mut n_calls = 0;
    for (n, message) in messages.iter().enumerate() {
        match message.role {
            Role::Assistant => {
                for block in &message.blocks {
                    if let Content::Call(call) = &block.content {
                        let waits = end_waits && last == Some(n);
                        let (place, state) = (&block.place, block.state.as_deref());
                        open.entry(&call.id).or_insert(Open { n: n_calls, place, state, waits });
                        n_calls += 1;
                    }
                }
            }
            Role::Tool => {
                for result in message.results() {
                    open.remove(result.call.as_str());
                }
            }
            Role::User | Role::System if !open.is_empty() => return Some(error(&open)),
            Role::User | Role::System => {}
        }
    }
    open.values().any(|call| !call.waits).then(|| error(&open))
}

/// A call without a result.
struct Open<'m> {
    /// The number of calls before it.
    n: usize,
    place: &'m Place,
    /// The state in the store.
    state: Option<&'m str>,
    /// True if it waits for the user's decision.
    waits: bool,
}

/// The message of `MissingToolResultsError`, with the calls in order.
fn error(open: &BTreeMap<&str, Open>) -> (String, Place) {
    let mut calls: Vec<(&str, &Open)> = open.iter().map(|(id, call)| (*id, call)).collect();
    calls.sort_by_key(|(_, call)| call.n);
    let (is, plural) = if calls.len() > 1 { ("s are", "s") } else { (" is", "") };
    let ids: Vec<&str> = calls.iter().take(MAX_IDS).map(|(id, _)| *id).collect();
    let more = if calls.len() > MAX_IDS { ", …" } else { "" };
    let ids = ids.join(", ");
    let place = calls.first().map(|(_, call)| call.place.clone()).unwrap_or_default();
    let words = format!(
        "AI_MissingToolResultsError: Tool result{is} missing for tool call{plural} {ids}{more}. {}",
        by_version(open)
    );
    (words, place)
}

/// The behaviour of each version with these open calls, as measured with `ai` 5.0.277, 6.0.326 and 7.0.173. The store
/// does not record the version.
fn by_version(open: &BTreeMap<&str, Open>) -> &'static str {
    let all_are = |state: &str| open.values().all(|call| call.state == Some(state));
    if all_are(DECLINED) {
        "(AI SDK 6; AI SDK 7 sends the refusal as the result, and 5 sends the call without a result.)"
    } else if all_are(ASKED) {
        "(AI SDK 6; AI SDK 7 leaves the call out, and 5 sends it without a result.)"
    } else {
        "(AI SDK 6 and 7; AI SDK 5 sends the call without a result.)"
    }
}

/// `moveToolUseBlocksToEnd` of `@ai-sdk/anthropic`: moves calls behind all other blocks up to the next
/// thought, since Anthropic rejects texts between calls.
fn calls_last(messages: &mut [Message]) -> usize {
    let mut n = 0;
    for message in messages.iter_mut().filter(|message| message.role == Role::Assistant) {
        // The provider leaves out unsigned thoughts ("unsupported reasoning metadata").
        message.blocks.retain(|block| match &block.content {
            Content::Thinking(thinking) => thinking.signature.is_some(),
            _ => true,
        });
        let is_call = |block: &Block| matches!(block.content, Content::Call(_));
        for segment in message.blocks.chunk_by_mut(|a, b| is_thinking(a) == is_thinking(b)) {
            if !segment.is_sorted_by_key(is_call) {
                segment.sort_by_key(is_call);
                n += 1;
            }
        }
    }
    n
}

fn is_thinking(block: &Block) -> bool {
    match &block.content {
        Content::Thinking(_) => true,
        Content::Native { value, .. } => crate::json::text(value, "type") == "redacted_thinking",
        _ => false,
    }
}

/// `@ai-sdk/anthropic` does not support files made by the model.
fn leave_out_files(messages: &mut [Message]) -> usize {
    let is_file = |block: &Block| match &block.content {
        Content::Image(_) => true,
        Content::Native { value, .. } => matches!(crate::json::text(value, "type"), "image" | "document"),
        _ => false,
    };
    let mut n = 0;
    for message in messages.iter_mut().filter(|message| message.role == Role::Assistant) {
        let before = message.blocks.len();
        message.blocks.retain(|block| !is_file(block));
        n += before - message.blocks.len();
    }
    n
}

/// An output of a single text is sent as a plain string. Unlike a text block, the string may be blank.
fn leave_out_blank_outputs(messages: &mut [Message]) {
    for block in messages.iter_mut().flat_map(|message| &mut message.blocks) {
        if let Content::Result(result) = &mut block.content
            && let [Content::Text(text)] = result.output.as_slice()
            && text.trim().is_empty()
        {
            result.output.clear();
        }
    }
}
