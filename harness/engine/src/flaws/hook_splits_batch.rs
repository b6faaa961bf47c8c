//! BUG: A hook's context is inserted between the results of a batch. Claude Code:
//! <https://github.com/anthropics/claude-code/issues/9309>

use super::prelude::*;

flaw! {
    Flaw::new("hook-splits-batch", "thread-survives").class("hook-inject")
        .not_on(&[Dialect::OpenaiResponses], "a message may come between the results of a batch");

    fn record(&mut self, step: &Step, said: &mut Said, put_off: Option<&Change>) -> Vec<Message> {
        let is_early = |message: &MidTurnMessage| message.way == Aside::Injected;
        split_batch(step, said, is_early).unwrap_or_else(|| Reference.record(step, said, put_off))
    }
}
