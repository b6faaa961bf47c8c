//! BUG: After a write has failed, nothing is written any more. A report of this class:
//! <https://github.com/MoonshotAI/kimi-code/issues/2902>

use super::prelude::*;

flaw! {
    Flaw::new("failed-write-ends-writing", "results-kept").class("write-fails");
    struct { n_written: Option<usize>, }

    fn write_fails(&mut self, _: Option<&mut Step>, session: &mut Session) {
        self.n_written.get_or_insert(session.thread.len().saturating_sub(1));
    }

    fn stores(&self, thread: &mut Vec<Message>) {
        thread.truncate(self.n_written.unwrap_or(usize::MAX));
    }
}
