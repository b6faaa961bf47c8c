//! Each request begins with everything in the one before it. [`super::stable`] compares the requests.

use super::stable::{accepted, changes};
use super::*;

pub(super) const CHECK: Check = Check {
    summary: "each request begins with the complete request before it, except where a break was repaired",
    invariants: &[18, 26],
    applies: |evidence| accepted(evidence).nth(1).is_some(),
    find,
    ..Check::new("prefix-stable", Level::L4, Severity::PrefixUnstable)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let change = changes(evidence).into_iter().find(|change| !change.is_repaired);
    let message = "a request changes a part of the history that the provider had already accepted";
    change.map(|change| change.finding(evidence, &CHECK, message)).into_iter().collect()
}
