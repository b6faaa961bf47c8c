//! What the system has asked the user, and what the user answers.

use crate::plan::{CallKey, Plan};
use crate::trace::{Consent, QuestionId};

/// Questions that wait for an answer, in the order in which they were asked.
#[derive(Debug, Default)]
pub(super) struct Questions(Vec<(QuestionId, Option<CallKey>)>);

impl Questions {
    pub(super) fn asked(&mut self, question: QuestionId, call: Option<CallKey>) {
        self.0.push((question, call));
    }

    /// All of them; none is left.
    pub(super) fn take(&mut self) -> Vec<(QuestionId, Option<CallKey>)> {
        std::mem::take(&mut self.0)
    }
}

/// What the user says to a call: yes, unless the plan has it refused. A system may ask about calls for which the
/// scenario does not want it to, or about work of its own; that is let through.
pub(super) fn consent(plan: &Plan, call: Option<CallKey>) -> Consent {
    match call.map(|call| &plan.calls[call.0 as usize]) {
        Some(call) if call.is_refused() => Consent::Refused,
        _ => Consent::Given,
    }
}
