//! BUG: The end of the user's credits leaves open calls without results.
//! Twenty: <https://github.com/twentyhq/twenty/issues/21276>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("credits-dangle", "thread-survives", || Box::new(CreditsDangle)).class("abort-batch");

struct CreditsDangle;

impl Decisions for CreditsDangle {
    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if why == CutOff::Interrupted(InterruptCause::Credits) { None } else { Reference.answer(call, why) }
    }
}
