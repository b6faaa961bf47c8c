//! BUG: After a stop, results that had arrived are recorded as cancelled, without the tools' output. tunacode
//! 0.1.32 in `interface` mode: <https://github.com/alchemiststudiosDOTai/tunacode>

use super::prelude::*;

flaw! {
    Flaw::new("success-cancelled", "failure-honest");

    fn keeps_early_result(&self, result: &mut CallResult, why: CutOff) -> Option<ShownState> {
        if why == CutOff::Stopped && !result.is_error {
            result.text = "Operation cancelled by user".to_owned();
            result.is_error = true;
        }
        None
    }
}
