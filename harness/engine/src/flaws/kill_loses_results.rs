//! BUG: Results are saved only when all have arrived; a resume treats the earlier ones as unknown. A report
//! of this class: <https://github.com/langchain-ai/open-swe/issues/1604>

use super::prelude::*;

flaw! {
    Flaw::new("kill-loses-results", "results-kept").class("kill-resume");

    fn save_running(&self, step: &Step, _: Progress, thread: &mut Vec<Message>) {
        thread.extend(saved(step.message_so_far(), Vec::new()));
    }
}
