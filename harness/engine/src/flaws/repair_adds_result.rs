//! BUG: A repair on load looks for results only in the next message, and invents those that come later.
//! Strands: <https://github.com/strands-agents/harness-sdk/issues/1435>

use super::prelude::*;

flaw! {
    Flaw::new("repair-adds-result", "results-once").class("extra-result");

    fn loaded(&self, thread: Vec<Message>) -> Vec<Message> {
        let mut whole = Vec::with_capacity(thread.len() + 1);
        let mut messages = thread.into_iter().peekable();
        while let Some(message) = messages.next() {
            let calls: Vec<Call> = message.calls().cloned().collect();
            whole.push(message);
            if calls.is_empty() {
                continue;
            }
            let mut answers = match messages.next_if(|next| matches!(next, Message::Results(_))) {
                Some(Message::Results(results)) => results,
                _ => Vec::new(),
            };
            for call in &calls {
                if !answers.iter().any(|result| result.call_id == call.id) {
                    answers.push(interrupted(call));
                }
            }
            answers.sort_by_key(|result| calls.iter().position(|call| call.id == result.call_id));
            whole.push(Message::Results(answers));
        }
        whole
    }
}
