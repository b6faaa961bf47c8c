//! BUG: After a stop, results that had come are recorded as failures.
//! No system is known to do this: the suite guards against more than was ever reported.

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("success-denied", "failure-honest", || Box::new(SuccessDenied));

struct SuccessDenied;

impl Decisions for SuccessDenied {
    fn keeps_early_result(&self, result: &mut CallResult, why: CutOff) -> Option<ShownState> {
        if why == CutOff::Stopped && !result.is_error {
            result.text = format!("Aborted: {}", result.text);
            result.is_error = true;
        }
        None
    }
}
