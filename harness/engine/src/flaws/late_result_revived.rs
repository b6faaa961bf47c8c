//! BUG: A result that arrives during the next turn is added after that turn's prompt. A report of this class:
//! <https://github.com/hugoduncan/psi/issues/171>

use super::prelude::*;

flaw! {
    Flaw::new("late-result-revived", "results-once").class("late-result");

    fn late_result(&mut self, call_id: String, outcome: &ToolOutcome, thread: &mut Vec<Message>) {
        if let Some(Message::User(_)) = thread.last() {
            let text = outcome.text().to_owned();
            thread.push(Message::Results(vec![CallResult::text(call_id, text, false)]));
        }
    }
}
