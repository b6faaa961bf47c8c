//! BUG: Calls are saved when the reply ends, and results when all have arrived; a resume adds no results. A
//! report of this class: <https://github.com/langchain-ai/open-swe/issues/1604>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("kill-dangles", "thread-survives", || Box::new(KillDangles)).class("kill-resume");

struct KillDangles;

impl Decisions for KillDangles {
    fn save_running(&self, turn: &Turn, thread: &mut Vec<Message>) {
        if matches!(turn.step.phase, Phase::Over) {
            push(thread, turn.step.message_so_far(), Vec::new());
        }
    }

    fn loaded(&self, thread: Vec<Message>) -> Vec<Message> {
        thread
    }
}
