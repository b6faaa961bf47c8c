//! The account of a run, for each system: what was planned, and what was done.
//!
//! A check that was not applicable is distinguished from one that found nothing wrong, and a level without an applicable
//! check is not reached. Accounts of parts of a run can be added up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Case;
use brickbat_scenario::trace::Confidence;
use brickbat_scenario::verdict::{Finding, Level};

/// What was planned for a system, and what was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Account {
    /// The system, with version and mode.
    pub system: String,
    /// How many plans have each verdict.
    pub plans: BTreeMap<String, usize>,
    /// The highest level that every judged plan keeps; missing if not even the lowest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// The checks that broke the next level; none if no check was applicable at it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken_by: Vec<String>,
    /// Checks that had to run: every check for each judged plan.
    pub n_expected: usize,
    /// Checks that ran.
    pub n_asked: usize,
    /// Each check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckAccount>,
    /// The actions of the plans.
    pub faults: FaultAccount,
}

/// What a check did in the judged plans of a system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CheckAccount {
    /// The check.
    pub check: String,
    /// The level that it stands for.
    pub level: Level,
    /// Plans that it ran on.
    pub asked: usize,
    /// Plans that it was applicable to.
    pub spoke: usize,
    /// Plans in which it found something.
    pub found: usize,
}

/// The actions of the plans of a system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FaultAccount {
    /// Planned in plans that were driven.
    pub armed: usize,
    /// Happened.
    pub fired: usize,
    /// Happened when everything before it had been written; whether it had been read is not known, so this is no proof.
    pub written: usize,
    /// Happened when the system's socket had nothing left to read.
    pub read: usize,
    /// Happened when the system had shown that it had processed everything before it.
    pub observed: usize,
}

impl Account {
    /// The accounts of all systems of a run, in the order of their names. The cases are sorted.
    pub fn all_of(cases: &[Case]) -> Vec<Account> {
        cases.chunk_by(|one, next| one.system == next.system).filter_map(Account::of).collect()
    }

    fn of(cases: &[Case]) -> Option<Account> {
        let mut account = Account {
            system: cases.first()?.system.clone(),
            plans: BTreeMap::new(),
            level: None,
            broken_by: Vec::new(),
            n_expected: 0,
            n_asked: 0,
            checks: Vec::new(),
            faults: FaultAccount::default(),
        };
        let n_checks = cases.iter().map(|case| case.asked.len()).max().unwrap_or(0);
        account.n_expected = n_checks * cases.iter().filter(|case| case.is_judged()).count();
        for case in cases {
            *account.plans.entry(case.verdict.clone()).or_insert(0) += 1;
            account.faults.add(FaultAccount::of(case));
        }
        for case in cases.iter().filter(|case| case.is_judged()) {
            account.n_asked += case.asked.len();
            for asked in &case.asked {
                let found = case.all_findings().any(|finding| finding.check == asked.check);
                // What the application would have to do is nothing that the system keeps.
                let is_apart = case
                    .application
                    .iter()
                    .flat_map(Finding::with_also)
                    .any(|finding| finding.check == asked.check);
                account.enter(&CheckAccount {
                    check: asked.check.to_owned(),
                    level: asked.level,
                    asked: 1,
                    spoke: usize::from((asked.spoke && !is_apart) || found),
                    found: usize::from(found),
                });
            }
        }
        account.find_level();
        Some(account)
    }

    /// Adds the account of another part of the same system's run.
    pub fn add(&mut self, other: &Account) {
        for (verdict, n) in &other.plans {
            *self.plans.entry(verdict.clone()).or_insert(0) += n;
        }
        self.n_expected += other.n_expected;
        self.n_asked += other.n_asked;
        self.faults.add(other.faults);
        other.checks.iter().for_each(|check| self.enter(check));
        self.find_level();
    }

    /// Whether every check ran on every judged plan.
    pub fn is_whole(&self) -> bool {
        self.n_expected == self.n_asked
    }

    /// The checks that were applicable to no plan.
    pub fn silent(&self) -> impl Iterator<Item = &CheckAccount> {
        self.checks.iter().filter(|check| check.spoke == 0)
    }

    fn enter(&mut self, new: &CheckAccount) {
        match self.checks.iter_mut().find(|known| known.check == new.check) {
            Some(known) => {
                known.asked += new.asked;
                known.spoke += new.spoke;
                known.found += new.found;
            }
            None => self.checks.push(new.clone()),
        }
    }

    /// Works out the level: all below it are kept, and had an applicable check.
    fn find_level(&mut self) {
        (self.level, self.broken_by) = (None, Vec::new());
        for level in Level::ALL {
            let of_level = || self.checks.iter().filter(|check| check.level == level);
            let broken: Vec<String> =
                of_level().filter(|check| check.found > 0).map(|check| check.check.clone()).collect();
            if !broken.is_empty() || !of_level().any(|check| check.spoke > 0) {
                self.broken_by = broken;
                return;
            }
            self.level = Some(level);
        }
    }
}

impl FaultAccount {
    fn of(case: &Case) -> FaultAccount {
        let mut faults = FaultAccount { armed: case.receipts.len(), ..FaultAccount::default() };
        for receipt in case.receipts.iter().filter(|receipt| receipt.fired) {
            faults.fired += 1;
            match receipt.grade {
                Some(Confidence::Observed) => faults.observed += 1,
                Some(Confidence::Read) => faults.read += 1,
                Some(Confidence::Written) => faults.written += 1,
                None => {}
            }
        }
        faults
    }

    fn add(&mut self, other: FaultAccount) {
        self.armed += other.armed;
        self.fired += other.fired;
        self.written += other.written;
        self.read += other.read;
        self.observed += other.observed;
    }
}
