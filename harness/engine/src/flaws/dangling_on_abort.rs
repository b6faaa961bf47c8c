//! BUG: The user's stop saves calls without results. Twenty:
//! <https://github.com/twentyhq/twenty/issues/21276>

use super::prelude::*;

flaw! {
    Flaw::new("dangling-on-abort", "thread-survives").class("abort-batch");

    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if why == CutOff::Stopped { None } else { Reference.answer(call, why) }
    }
}
