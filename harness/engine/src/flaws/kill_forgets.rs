//! BUG: The thread is saved only when a turn ends. A report of this class:
//! <https://github.com/langchain-ai/open-swe/issues/1604>

use super::prelude::*;

flaw! {
    Flaw::new("kill-forgets", "user-message-kept").class("kill-resume");

    fn save_running(&self, _: &Step, progress: Progress, thread: &mut Vec<Message>) {
        thread.truncate(progress.start);
    }
}
