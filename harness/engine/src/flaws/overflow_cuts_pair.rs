//! BUG: After the thread is rejected as too long, it is cut between the calls of the running batch and their
//! results. maki: <https://github.com/tontinton/maki/pull/641>

use super::prelude::*;

flaw! {
    Flaw::new("overflow-cuts-pair", "thread-survives").class("compact-orphan-result");

    struct { is_too_long: bool }

    fn shortens(&mut self, dialect: Dialect, failure: &str) -> bool {
        self.is_too_long = Reference.shortens(dialect, failure);
        self.is_too_long
    }

    fn summarised(&self, thread: &[Message], summary: Summary<'_>) -> Vec<Message> {
        let thread = Reference.summarised(thread, summary);
        if self.is_too_long { without_last_calls(thread) } else { thread }
    }
}
