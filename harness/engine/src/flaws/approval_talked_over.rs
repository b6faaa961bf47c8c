//! BUG: If the user writes a message instead of answering a question, the call in question gets no result. AI
//! SDK: <https://github.com/vercel/ai/issues/12709>

use super::prelude::*;

flaw! {
    Flaw::new("approval-talked-over", "thread-survives").class("approval-unanswered");

    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if why == CutOff::TalkedOver { None } else { Reference.answer(call, why) }
    }
}
