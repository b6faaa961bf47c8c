//! What a run knows of its plans by now, so that a run that is stopped reports it.

use std::collections::BTreeMap;

use brickbat_report::report::Case;
use brickbat_scenario::verdict::Verdict;

/// The cases that are done, and those that were seen and do not count yet.
#[derive(Default)]
pub(super) struct Gathered {
    done: Vec<Case>,
    /// By system and plan. They are of the system that runs: one after the other does.
    seen: BTreeMap<(String, String), Case>,
}

impl Gathered {
    /// A case that is done.
    pub(super) fn add(&mut self, case: &Case) {
        self.seen.remove(&key(case));
        self.done.push(case.clone());
    }

    /// What a plan has shown so far. That it has shown nothing is not known before it is done.
    pub(super) fn see(&mut self, case: &Case) {
        match case.judged {
            Verdict::Fail => self.seen.insert(key(case), case.clone()),
            _ => self.seen.remove(&key(case)),
        };
    }

    /// Everything that is known.
    pub(super) fn into_cases(self) -> Vec<Case> {
        self.done.into_iter().chain(self.seen.into_values()).collect()
    }
}

fn key(case: &Case) -> (String, String) {
    (case.system.clone(), case.plan.clone())
}
