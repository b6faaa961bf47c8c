//! BUG: A second stop undoes the turn that the first one ended. A report of this class:
//! <https://github.com/TanStack/ai/issues/1214>

use super::prelude::*;

flaw! {
    Flaw::new("second-stop-undoes", "user-message-kept").class("late-abort");

    struct {
        /// The length of the thread before the last turn.
        start: usize,
    }

    fn turn_begins(&mut self, thread: &[Message], _: &mut Vec<LateRun>) -> Vec<Call> {
        self.start = thread.len();
        Vec::new()
    }

    fn stops_again(&mut self, thread: &mut Vec<Message>) {
        thread.truncate(self.start);
    }
}
