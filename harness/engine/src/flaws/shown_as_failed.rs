//! BUG: The user's stop shows all calls as failed, also those whose results are kept.
//! No system is known to do this: the suite guards against more than was ever reported.

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("shown-as-failed", "views-agree", || Box::new(ShownAsFailed));

struct ShownAsFailed;

impl Decisions for ShownAsFailed {
    fn keeps_early_result(&self, _: &mut CallResult, why: CutOff) -> Option<ShownState> {
        (why == CutOff::Stopped).then_some(ShownState::Failed)
    }
}
