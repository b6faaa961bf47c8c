//! BUG: After the thread is rejected as too long, it is cut between the calls of the running batch and their
//! results. maki: <https://github.com/tontinton/maki/pull/641>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("overflow-cuts-pair", "thread-survives", || Box::new(OverflowCutsPair { is_too_long: false }))
        .class("compact-orphan-result");

struct OverflowCutsPair {
    is_too_long: bool,
}

impl Decisions for OverflowCutsPair {
    fn shortens(&mut self, dialect: Dialect, failure: &str) -> bool {
        self.is_too_long = Reference.shortens(dialect, failure);
        self.is_too_long
    }

    fn summarised(
        &self,
        thread: &[Message],
        keep: usize,
        summary: &str,
        is_turn_running: bool,
    ) -> Vec<Message> {
        let thread = Reference.summarised(thread, keep, summary, is_turn_running);
        if self.is_too_long { without_last_calls(thread) } else { thread }
    }
}
