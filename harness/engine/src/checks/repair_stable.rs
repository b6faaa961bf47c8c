//! A history that was repaired after a break stays as it was repaired. [`super::stable`] compares the requests.

use super::stable::{Story, accepted, changes};
use super::*;

pub(super) const CHECK: Check = Check {
    summary: "a repaired history is not changed again by later requests",
    invariants: &[9, 18],
    applies: has_repair,
    find,
    ..Check::new("repair-stable", Level::L1, Severity::PrefixUnstable)
};

/// True if two requests follow the first break.
fn has_repair(evidence: &Evidence<'_>) -> bool {
    let story = Story::of(evidence);
    let first = story.breaks.first().map(|(_, at)| *at);
    first.is_some_and(|first| {
        accepted(evidence).filter(|request| story.sent(request) > first).nth(1).is_some()
    })
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let change = changes(evidence).into_iter().find(|change| change.is_repaired);
    let message = "a later request modifies the repaired history again";
    change.map(|change| change.finding(evidence, &CHECK, message)).into_iter().collect()
}
