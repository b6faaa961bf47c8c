//! Repairs a thread that an earlier process has left.
//!
//! The thread may be cut off anywhere, and older versions of a store wrote things that no provider accepts.
//! Nothing from it is in flight any more. So each call gets one result, directly after its message and in the
//! order of the calls: the real one wherever it is, otherwise one that states that the tool may have run.
//! Results without a call are dropped. No message of the user or the model is lost.
//!
//! The model's thinking in a finished turn is dropped. A provider has no more use for it, and rejects it if
//! the store has changed it, which cannot be detected.

use super::model_errors::{fitted_name, is_valid_name};
use super::server_tools::{without_open, without_orphans};
use super::step::interrupted;
use super::thread::{Block, Call, CallResult, Message, Thought};

/// The thread with one result for every call. Only complete pairs of the provider's own calls and results
/// stay.
pub(crate) fn repaired(thread: Vec<Message>) -> Vec<Message> {
    let mut results = Results::of(&thread);
    let mut seen: Vec<String> = Vec::new();
    let mut whole = Vec::with_capacity(thread.len() + 1);
    let open = open_from(&thread);
    for (at, message) in thread.into_iter().enumerate() {
        match message {
            Message::User(text) if text.trim().is_empty() => {}
            Message::User(_) => whole.push(message),
            Message::Results(_) => {}
            Message::Assistant(blocks) => {
                let blocks: Vec<Block> = blocks
                    .into_iter()
                    .filter_map(|block| worth_keeping(block, at >= open, &mut seen))
                    .collect();
                let answers: Vec<CallResult> =
                    blocks.iter().filter_map(Block::call).map(|call| results.answer(call)).collect();
                if !blocks.is_empty() {
                    whole.push(Message::Assistant(blocks));
                }
                if !answers.is_empty() {
                    whole.push(Message::Results(answers));
                }
            }
        }
    }
    without_open(&mut whole);
    without_orphans(&mut whole);
    whole
}

/// The start of the calls and results that the next request may still continue. Providers treat the user's
/// messages after results as part of the results.
fn open_from(thread: &[Message]) -> usize {
    let is_reply = |message: &Message| matches!(message, Message::Assistant(_)) && !message.has_calls();
    thread.iter().rposition(is_reply).map_or(0, |last| last + 1)
}

/// The block, if a provider accepts it: thinking that it may still need, a text that is not blank, or the
/// first call of an id. The arguments of the call become an object.
fn worth_keeping(block: Block, is_open: bool, seen: &mut Vec<String>) -> Option<Block> {
    match block {
        Block::Thought(thought) if !is_wanted(&thought, is_open) => None,
        Block::Text(text) if text.trim().is_empty() => None,
        Block::Call(call) if seen.contains(&call.id) => None,
        Block::Call(mut call) => {
            seen.push(call.id.clone());
            if !matches!(serde_json::from_str(&call.args), Ok(serde_json::Value::Object(_))) {
                call.args = "{}".to_owned();
            }
            if !is_valid_name(&call.tool) {
                call.tool = fitted_name(&call.tool);
            }
            Some(Block::Call(call))
        }
        Block::Thought(_) | Block::Text(_) | Block::Server(_) => Some(block),
    }
}

/// True if a provider accepts the thinking and may still need it. A signature that is an object may belong to
/// a call, regardless of the turn.
fn is_wanted(thought: &Thought, is_open: bool) -> bool {
    match thought.signature.as_deref().unwrap_or_default() {
        "" => false,
        signature if signature.starts_with('{') => is_sealed(signature),
        _ => is_open && !thought.text.is_empty(),
    }
}

/// True if the object has the encrypted part in which a provider without storage keeps its thinking.
fn is_sealed(signature: &str) -> bool {
    let object: serde_json::Value = serde_json::from_str(signature).unwrap_or_default();
    object["encrypted_content"].as_str().is_some_and(|part| !part.is_empty())
}

/// The results of a thread, wherever they are.
struct Results(Vec<CallResult>);

impl Results {
    fn of(thread: &[Message]) -> Results {
        let results = thread.iter().flat_map(|message| match message {
            Message::Results(results) => results.as_slice(),
            Message::User(_) | Message::Assistant(_) => &[],
        });
        Results(results.cloned().collect())
    }

    /// The answer to a call. If there are two, it is the first, because the model has read that one.
    fn answer(&mut self, call: &Call) -> CallResult {
        match self.0.iter().position(|result| result.call_id == call.id) {
            Some(at) => self.0.remove(at),
            None => interrupted(call),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> Block {
        let (tool, args) = ("lookup".to_owned(), "{}".to_owned());
        Block::Call(Call::new(id, tool, args))
    }

    fn result(id: &str, text: &str) -> CallResult {
        CallResult::text(id.to_owned(), text.to_owned(), false)
    }

    fn user() -> Message {
        Message::User("and now?".to_owned())
    }

    #[test]
    fn results_are_moved_to_their_calls_from_anywhere() {
        let broken = vec![
            Message::Assistant(vec![call("a"), call("b")]),
            Message::Results(vec![result("b", "two")]),
            user(),
            Message::Results(vec![result("a", "one"), result("a", "again"), result("x", "of nobody")]),
        ];
        let whole = [
            Message::Assistant(vec![call("a"), call("b")]),
            Message::Results(vec![result("a", "one"), result("b", "two")]),
            user(),
        ];
        assert_eq!(repaired(broken), whole);
        assert_eq!(repaired(whole.to_vec()), whole, "what is whole stays as it is");
    }

    #[test]
    fn content_that_no_provider_accepts_is_repaired_or_dropped() {
        let mut cut = call("b");
        if let Block::Call(call) = &mut cut {
            call.args = "{\"key\":\"b".to_owned();
        }
        let broken = vec![
            Message::Assistant(vec![Block::Text(" ".to_owned()), call("a")]),
            Message::Assistant(vec![call("a"), cut]),
            Message::Assistant(vec![call("a")]),
        ];
        let repaired = repaired(broken);
        assert_eq!(repaired.len(), 4, "{repaired:?}");
        assert_eq!(repaired[0], Message::Assistant(vec![call("a")]));
        assert_eq!(repaired[2], Message::Assistant(vec![call("b")]));
    }
}
