//! BUG: When the context is full, the summary removes the calls of the running batch, but not their results.
//! pi: <https://github.com/earendil-works/pi/issues/8667>

use super::prelude::*;

flaw! {
    Flaw::new("full-context-cuts-pair", "thread-survives").class("compact-inflight");

    struct { is_full: bool }

    fn is_full(&mut self, tokens: u64) -> bool {
        self.is_full = Reference.is_full(tokens);
        self.is_full
    }

    fn summarised(&self, thread: &[Message], summary: Summary<'_>) -> Vec<Message> {
        let thread = Reference.summarised(thread, summary);
        if self.is_full { without_last_calls(thread) } else { thread }
    }
}
