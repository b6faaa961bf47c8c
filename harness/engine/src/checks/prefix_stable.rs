//! Does a request begin with all that the one before it held? [`super::stable`] compares the requests.

use super::stable::{accepted, changes};
use super::*;

pub(super) const CHECK: Check = Check {
    id: "prefix-stable",
    summary: "each request begins with the whole of the one before it, except where a break was repaired",
    level: Level::L4,
    invariants: &[18, 26],
    severity: Severity::PrefixUnstable,
    rests_on: &[],
    applies: |evidence| accepted(evidence).nth(1).is_some(),
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let change = changes(evidence).into_iter().find(|change| !change.is_repaired);
    let message = "a part of the history is changed that the provider had accepted as it was";
    change.map(|change| change.finding(evidence, &CHECK, message)).into_iter().collect()
}
