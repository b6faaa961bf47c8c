//! BUG: The user's stop drops calls that wait for the user's approval. A report of this class:
//! <https://github.com/vercel/ai/issues/12709>

use super::prelude::*;

flaw! {
    Flaw::new("approval-forgotten", "thread-survives").class("approval-unanswered");

    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if why == CutOff::Stopped && matches!(call.state, CallState::Asked(_)) {
            None
        } else {
            Reference.answer(call, why)
        }
    }
}
