//! BUG: When the user's credits run out, open calls get no results. Twenty:
//! <https://github.com/twentyhq/twenty/issues/21276>

use super::prelude::*;

flaw! {
    Flaw::new("credits-dangle", "thread-survives").class("abort-batch");

    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if why == CutOff::Interrupted(InterruptCause::Credits) { None } else { Reference.answer(call, why) }
    }
}
