//! What the system has asked the user, and what the user answers.

use brickbat_scenario::plan::{CallKey, Plan};
use brickbat_scenario::trace::{Consent, QuestionId};

/// Questions that wait for an answer, in the order in which they were asked.
#[derive(Debug, Default)]
pub(super) struct Questions {
    waiting: Vec<(QuestionId, Option<CallKey>)>,
    /// Calls about which the user says nothing for the time being.
    left: Vec<CallKey>,
}

impl Questions {
    pub(super) fn asked(&mut self, question: QuestionId, call: Option<CallKey>) {
        self.waiting.push((question, call));
    }

    /// The user does not answer what is asked about that call.
    pub(super) fn leave(&mut self, call: CallKey) {
        self.left.push(call);
    }

    /// The user answers everything after all.
    pub(super) fn reopen(&mut self) {
        self.left.clear();
    }

    /// Those that are to be answered now; all of them when the turn is over.
    pub(super) fn take(&mut self, is_over: bool) -> Vec<(QuestionId, Option<CallKey>)> {
        let left = &self.left;
        let is_due = |call: Option<CallKey>| is_over || call.is_none_or(|call| !left.contains(&call));
        self.waiting.extract_if(.., |(_, call)| is_due(*call)).collect()
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
