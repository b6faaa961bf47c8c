//! BUG: The user's stop shows all calls as failed, even those with results that are kept. No system is known
//! to do this; the suite also covers bugs that were never reported.

use super::prelude::*;

flaw! {
    Flaw::new("shown-as-failed", "views-agree");

    fn keeps_early_result(&self, _: &mut CallResult, why: CutOff) -> Option<ShownState> {
        (why == CutOff::Stopped).then_some(ShownState::Failed)
    }
}
