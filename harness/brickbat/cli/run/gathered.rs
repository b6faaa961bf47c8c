//! The results of a run so far, so that a stopped run can report them.

use std::collections::BTreeMap;

use super::super::error::CliError;
use brickbat_report::report::Case;
use brickbat_scenario::verdict::Verdict;

/// The finished cases, the failures that are not confirmed yet, and the systems that could not be started.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) done: Vec<Case>,
    /// By system and plan. Systems run one after the other, so all of these are from the current system.
    seen: BTreeMap<(String, String), Case>,
    pub(super) unstarted: Vec<CliError>,
}

impl Gathered {
    /// Adds a finished case.
    pub(super) fn add(&mut self, case: &Case) {
        self.seen.remove(&key(case));
        self.done.push(case.clone());
    }

    /// Records an unconfirmed failure. A plan counts as passed only when it is finished.
    pub(super) fn see(&mut self, case: &Case) {
        match case.verdict {
            Verdict::Fail => self.seen.insert(key(case), case.clone()),
            _ => self.seen.remove(&key(case)),
        };
    }

    /// The cases in a run that ended early: those that are finished, and the unconfirmed failures.
    pub(super) fn known(self) -> Vec<Case> {
        self.done.into_iter().chain(self.seen.into_values()).collect()
    }
}

fn key(case: &Case) -> (String, String) {
    (case.system.clone(), case.plan.clone())
}
