//! BUG: When the user's credits run out, open calls get no results. Twenty:
//! <https://github.com/twentyhq/twenty/issues/21276>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("credits-dangle", "thread-survives", || Box::new(CreditsDangle)).class("abort-batch");

struct CreditsDangle;

impl Decisions for CreditsDangle {
    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if why == CutOff::Interrupted(InterruptCause::Credits) { None } else { Reference.answer(call, why) }
    }
}
