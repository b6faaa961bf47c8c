//! BUG: When the context is full, the summary removes the calls of the running batch, but not their results.
//! pi: <https://github.com/earendil-works/pi/issues/8667>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("full-context-cuts-pair", "thread-survives", || {
    Box::new(FullContextCutsPair { is_full: false })
})
.class("compact-inflight");

struct FullContextCutsPair {
    is_full: bool,
}

impl Decisions for FullContextCutsPair {
    fn is_full(&mut self, tokens: u64) -> bool {
        self.is_full = Reference.is_full(tokens);
        self.is_full
    }

    fn summarised(
        &self,
        thread: &[Message],
        keep: usize,
        summary: &str,
        is_turn_running: bool,
    ) -> Vec<Message> {
        let thread = Reference.summarised(thread, keep, summary, is_turn_running);
        if self.is_full { without_last_calls(thread) } else { thread }
    }
}
