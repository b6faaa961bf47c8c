//! Checks that the output fits into the budget.

use super::{Check, Evidence, Finding};
use crate::inputs::counted;
use crate::{Budget, Loss, Said};

pub(super) const CHECK: Check = Check {
    id: "budget-kept",
    summary: "the output fits into the given budget",
    applies: |evidence| size(evidence).is_some() && !evidence.declares(Loss::ExceedsBudget),
    find,
};

/// Returns the budget, and the size of the output by the same measure.
fn size(evidence: &Evidence<'_>) -> Option<(u64, u64)> {
    let Said::Request { body, size, .. } = evidence.said else { return None };
    match evidence.input.budget(evidence.route)? {
        (Budget::Messages, budget) => Some((budget, counted(body, evidence.route.to))),
        (Budget::Tokens, budget) => Some((budget, (*size)?)),
        (Budget::None, _) => None,
    }
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let over = size(evidence).filter(|(budget, size)| size > budget);
    let words = |(budget, size)| format!("{size} are left where the budget is {budget}");
    over.map(|over| CHECK.finding("over", words(over))).into_iter().collect()
}
