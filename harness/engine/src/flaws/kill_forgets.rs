//! BUG: The thread is saved only when a turn ends. A report of this class:
//! <https://github.com/langchain-ai/open-swe/issues/1604>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("kill-forgets", "user-message-kept", || Box::new(KillForgets)).class("kill-resume");

struct KillForgets;

impl Decisions for KillForgets {
    fn save_running(&self, turn: &Turn, thread: &mut Vec<Message>) {
        thread.truncate(turn.start);
    }
}
