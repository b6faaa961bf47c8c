//! BUG: A result that arrives after the stop is recorded in addition to the invented one. A report of this
//! class: <https://github.com/hugoduncan/psi/issues/171>

use super::prelude::*;

flaw! {
    Flaw::new("late-result-twice", "results-once").class("late-result");

    fn late_result(&mut self, call_id: String, outcome: &ToolOutcome, thread: &mut Vec<Message>) {
        let is_error = !outcome.is_success();
        let result = CallResult::text(call_id, outcome.text().to_owned(), is_error);
        let answered = thread.iter_mut().rev().find_map(|message| match message {
            Message::Results(results) if results.iter().any(|earlier| earlier.call_id == result.call_id) => {
                Some(results)
            }
            _ => None,
        });
        if let Some(results) = answered {
            results.push(result);
        }
    }
}
