//! A thread that was already broken when the system loaded it works again. Repairing a thread is more than
//! not breaking it.

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "a thread that was already broken when the system loaded it works again",
    invariants: &[12],
    rests_on: &[Duty::Repair],
    applies: |evidence| given::is_broken(evidence.plan),
    find,
    is_about_failure: true,
    ..Check::new("old-thread-heals", Level::L5, Severity::BrickedByClient)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    if given::is_broken(evidence.plan) { thread_survives::failures(evidence, &CHECK) } else { Vec::new() }
}
