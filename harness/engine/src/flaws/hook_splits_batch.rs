//! BUG: A hook's context is inserted between the results of a batch. Claude Code:
//! <https://github.com/anthropics/claude-code/issues/9309>

use super::prelude::*;

flaw! {
    Flaw::new("hook-splits-batch", "thread-survives").class("hook-inject")
        .not_on(&[Dialect::OpenaiResponses], "a message may come between the results of a batch");

    fn record(&mut self, turn: &mut Turn, put_off: Option<&Change>, session: &mut Session) {
        let is_early = |message: &MidTurnMessage| message.way == Aside::Injected;
        if !split_batch(turn, is_early, session) {
            Reference.record(turn, put_off, session);
        }
    }
}
