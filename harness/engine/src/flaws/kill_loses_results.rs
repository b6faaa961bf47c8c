//! BUG: Results are saved when all have come; a resume treats those that had come as unknown.
//! A report of its class: <https://github.com/langchain-ai/open-swe/issues/1604>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("kill-loses-results", "results-kept", || Box::new(KillLosesResults)).class("kill-resume");

struct KillLosesResults;

impl Decisions for KillLosesResults {
    fn save_running(&self, turn: &Turn, thread: &mut Vec<Message>) {
        push(thread, turn.step.message_so_far(), Vec::new());
    }
}
