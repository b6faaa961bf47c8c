//! BUG: Calls are saved when the reply ends, and results when all have arrived; a resume adds no results. A
//! report of this class: <https://github.com/langchain-ai/open-swe/issues/1604>

use super::prelude::*;

flaw! {
    Flaw::new("kill-dangles", "thread-survives").class("kill-resume");

    fn save_running(&self, step: &Step, _: Progress, thread: &mut Vec<Message>) {
        if matches!(step.phase, Phase::Over) {
            thread.extend(saved(step.message_so_far(), Vec::new()));
        }
    }

    fn loaded(&self, thread: Vec<Message>) -> Vec<Message> {
        thread
    }
}
