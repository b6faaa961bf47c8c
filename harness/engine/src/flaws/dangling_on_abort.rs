//! BUG: The user's stop saves calls without results. Twenty:
//! <https://github.com/twentyhq/twenty/issues/21276>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("dangling-on-abort", "thread-survives", || Box::new(DanglingOnAbort)).class("abort-batch");

struct DanglingOnAbort;

impl Decisions for DanglingOnAbort {
    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if why == CutOff::Stopped { None } else { Reference.answer(call, why) }
    }
}
