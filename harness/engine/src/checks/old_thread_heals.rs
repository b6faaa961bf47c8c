//! A thread that was already broken when the system loaded it works again. Repairing a thread is more than
//! not breaking it.

use super::*;

pub(super) const CHECK: Check = Check {
    id: "old-thread-heals",
    summary: "a thread that was already broken when the system loaded it works again",
    level: Level::L5,
    invariants: &[12],
    severity: Severity::BrickedByClient,
    rests_on: &[Duty::Repair],
    applies: |evidence| given::is_broken(evidence.plan),
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    if given::is_broken(evidence.plan) { thread_survives::failures(evidence, &CHECK) } else { Vec::new() }
}
