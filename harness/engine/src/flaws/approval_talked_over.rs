//! BUG: If the user writes a message instead of answering a question, the call in question gets no result. AI
//! SDK: <https://github.com/vercel/ai/issues/12709>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("approval-talked-over", "thread-survives", || Box::new(ApprovalTalkedOver))
    .class("approval-unanswered");

struct ApprovalTalkedOver;

impl Decisions for ApprovalTalkedOver {
    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if why == CutOff::TalkedOver { None } else { Reference.answer(call, why) }
    }
}
