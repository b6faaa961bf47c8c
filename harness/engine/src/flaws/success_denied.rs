//! BUG: After a stop, results that had arrived are recorded as failures. No system is known to do this; the
//! suite also covers bugs that were never reported.

use super::prelude::*;

flaw! {
    Flaw::new("success-denied", "failure-honest");

    fn keeps_early_result(&self, result: &mut CallResult, why: CutOff) -> Option<ShownState> {
        if why == CutOff::Stopped && !result.is_error {
            result.text = format!("Aborted: {}", result.text);
            result.is_error = true;
        }
        None
    }
}
