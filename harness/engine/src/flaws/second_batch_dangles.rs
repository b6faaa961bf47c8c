//! BUG: The user's stop saves calls without results, but only in a later step of the turn: the repair checks
//! only the first step. A report of this class: <https://github.com/twentyhq/twenty/issues/21276>

use super::prelude::*;

flaw! {
    Flaw::new("second-batch-dangles", "thread-survives").class("abort-batch");

    struct { is_later_step: bool }

    fn stops(&mut self, _: &mut Step, progress: Progress, _: &[Tool], _: &mut Session) -> OnStop {
        self.is_later_step = progress.n_requests > 1;
        OnStop::KeepReply
    }

    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if why == CutOff::Stopped && self.is_later_step { None } else { Reference.answer(call, why) }
    }
}
