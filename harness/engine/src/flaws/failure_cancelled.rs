//! BUG: After a stop, errors that tools had reported are recorded as cancelled calls. Google ADK for Python
//! (`events/_abort_events.py`).

use super::prelude::*;

flaw! {
    Flaw::new("failure-cancelled", "results-kept").class("abort-batch");

    fn keeps_early_result(&self, result: &mut CallResult, why: CutOff) -> Option<ShownState> {
        if why == CutOff::Stopped && result.is_error {
            result.text = "Invocation was aborted by client.".to_owned();
        }
        None
    }
}
