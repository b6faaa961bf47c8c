//! Repairs a thread that an earlier process has left.
//!
//! What a process leaves may be cut anywhere, and older versions of a store wrote what no provider takes. Nothing of it
//! is on its way any more, so each call gets one result, directly after its message and in the order of the calls: the
//! real one wherever it stands, else one that says that the tool may have run. What answers no call is dropped, and
//! nothing that the user or the model said is lost.

use super::step::interrupted;
use super::thread::{Block, Call, CallResult, Message};

/// The thread with one result for every call.
pub(crate) fn repaired(thread: Vec<Message>) -> Vec<Message> {
    let mut results = Results::of(&thread);
    let mut seen: Vec<String> = Vec::new();
    let mut whole = Vec::with_capacity(thread.len() + 1);
    for message in thread {
        match message {
            Message::User(_) => whole.push(message),
            Message::Results(_) => {}
            Message::Assistant(blocks) => {
                let blocks: Vec<Block> =
                    blocks.into_iter().filter_map(|block| worth_keeping(block, &mut seen)).collect();
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
    whole
}

/// A block that a provider takes: text that says something, and the first call of each id, with an object as arguments.
fn worth_keeping(block: Block, seen: &mut Vec<String>) -> Option<Block> {
    match block {
        Block::Text(text) if text.trim().is_empty() => None,
        Block::Call(call) if seen.contains(&call.id) => None,
        Block::Call(mut call) => {
            seen.push(call.id.clone());
            if !matches!(serde_json::from_str(&call.args), Ok(serde_json::Value::Object(_))) {
                call.args = "{}".to_owned();
            }
            Some(Block::Call(call))
        }
        Block::Thought(_) | Block::Text(_) => Some(block),
    }
}

/// The results of a thread, wherever they stand.
struct Results(Vec<CallResult>);

impl Results {
    fn of(thread: &[Message]) -> Results {
        let results = thread.iter().flat_map(|message| match message {
            Message::Results(results) => results.as_slice(),
            Message::User(_) | Message::Assistant(_) => &[],
        });
        Results(results.cloned().collect())
    }

    /// The answer to a call. Of two the first is the one that the model has read.
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
        Block::Call(Call { id: id.to_owned(), tool, args, signature: None })
    }

    fn result(id: &str, text: &str) -> CallResult {
        CallResult { call_id: id.to_owned(), text: text.to_owned(), is_error: false }
    }

    fn user() -> Message {
        Message::User("and now?".to_owned())
    }

    #[test]
    fn results_are_moved_to_their_calls_from_wherever_they_stand() {
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
    fn what_no_provider_takes_is_mended_or_dropped() {
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
