//! Questions that the system has asked the user, and the user's answers.

use brickbat_scenario::plan::{CallKey, Plan};
use brickbat_scenario::trace::{Consent, QuestionId};

/// Questions that wait for an answer, in the order in which they were asked.
#[derive(Debug, Default)]
pub(super) struct Questions {
    waiting: Vec<(QuestionId, Option<CallKey>)>,
    /// Calls that the user does not answer questions about for now.
    left: Vec<CallKey>,
}

impl Questions {
    pub(super) fn asked(&mut self, question: QuestionId, call: Option<CallKey>) {
        self.waiting.push((question, call));
    }

    /// Makes the user leave questions about this call unanswered.
    pub(super) fn leave(&mut self, call: CallKey) {
        self.left.push(call);
    }

    /// Makes the user answer all questions again.
    pub(super) fn reopen(&mut self) {
        self.left.clear();
    }

    /// Takes the questions that must be answered now: all of them once the turn has ended.
    pub(super) fn take(&mut self, is_over: bool) -> Vec<(QuestionId, Option<CallKey>)> {
        let left = &self.left;
        let is_due = |call: Option<CallKey>| is_over || call.is_none_or(|call| !left.contains(&call));
        self.waiting.extract_if(.., |(_, call)| is_due(*call)).collect()
    }
}

/// The user's answer about a call: yes, unless the plan rejects it. A system may also ask about calls that
/// need no approval in the scenario, or about its own work; those are approved.
pub(super) fn consent(plan: &Plan, call: Option<CallKey>) -> Consent {
    match call.map(|call| &plan.calls[call.0 as usize]) {
        Some(call) if call.is_refused() => Consent::Refused,
        _ => Consent::Given,
    }
}
