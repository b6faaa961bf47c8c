//! BUG: A call that was cut off is recorded as done. A report of this class:
//! <https://github.com/Hmbown/Codewhale/issues/6378>

use super::prelude::*;

flaw! {
    Flaw::new("success-invented", "success-honest").class("synthetic-wrong");

    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if why == CutOff::Stopped { Some(done(&call.call)) } else { Reference.answer(call, why) }
    }
}
