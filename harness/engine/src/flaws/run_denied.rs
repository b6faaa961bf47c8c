//! BUG: A tool that was cut off by the user's stop is recorded as never having run. No system is known to do
//! this; the suite also covers bugs that were never reported.

use super::prelude::*;

flaw! {
    Flaw::new("run-denied", "failure-honest");

    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        let mut result = Reference.answer(call, why)?;
        if why == CutOff::Stopped {
            result.text = "Not run: the user stopped the turn.".to_owned();
        }
        Some(result)
    }
}
