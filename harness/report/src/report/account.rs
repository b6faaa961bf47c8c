//! A run's account for each system: the planned and the completed work.
//!
//! A check that was not applicable is distinguished from one that found nothing wrong, and a level without an
//! applicable check is not reached. Accounts for parts of a run can be added up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Case;
use brickbat_scenario::trace::Confidence;
use brickbat_scenario::verdict::{Finding, Level};

/// The account for a system: the planned and the completed work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Account {
    /// The system, with version and mode.
    pub system: String,
    /// The number of plans with each verdict.
    pub plans: BTreeMap<String, usize>,
    /// The highest level that is reached: every check up to it that rests on the system was applicable at
    /// least once and found nothing. Missing if not even the lowest is reached, or if only a part of the
    /// requirements ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// The checks that broke the next level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken_by: Vec<String>,
    /// The checks of the next level that were applicable to no plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unasked: Vec<String>,
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

/// A check's results in a system's judged plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CheckAccount {
    /// The check.
    pub check: String,
    /// The level that it belongs to.
    pub level: Level,
    /// Plans that it ran on.
    pub asked: usize,
    /// Plans that it was applicable to.
    pub spoke: usize,
    /// Plans in which it found something.
    pub found: usize,
    /// Plans in which its evidence rested on the application.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub of_application: usize,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// The actions in a system's plans.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FaultAccount {
    /// Planned in plans that were driven.
    pub armed: usize,
    /// Happened.
    pub fired: usize,
    /// Happened after everything before it had been written. It is not known whether it had been read, so
    /// this is not a proof.
    pub written: usize,
    /// Happened when the system's socket had nothing left to read.
    pub read: usize,
    /// Happened after the system had shown that it had processed everything before it.
    pub observed: usize,
}

impl Account {
    /// The accounts for all systems in a run, in name order. The cases are sorted.
    pub fn all_of(cases: &[Case]) -> Vec<Account> {
        cases.chunk_by(|one, next| one.system == next.system).filter_map(Account::of).collect()
    }

    fn of(cases: &[Case]) -> Option<Account> {
        let mut account = Account {
            system: cases.first()?.system.clone(),
            plans: BTreeMap::new(),
            level: None,
            broken_by: Vec::new(),
            unasked: Vec::new(),
            n_expected: 0,
            n_asked: 0,
            checks: Vec::new(),
            faults: FaultAccount::default(),
        };
        let n_checks = cases.iter().map(|case| case.asked.len()).max().unwrap_or(0);
        account.n_expected = n_checks * cases.iter().filter(|case| case.is_judged()).count();
        for case in cases {
            *account.plans.entry(case.verdict.name().to_owned()).or_insert(0) += 1;
            account.faults.add(FaultAccount::of(case));
        }
        for case in cases.iter().filter(|case| case.is_judged()) {
            account.n_asked += case.asked.len();
            for asked in &case.asked {
                let found = case.all_findings().any(|finding| finding.check == asked.check);
                // A duty of the application is not a property of the system.
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
                    of_application: usize::from(asked.is_of_application),
                });
            }
        }
        account.find_level();
        Some(account)
    }

    /// Adds the account for another part of the same system's run.
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

    /// True if every check ran on every judged plan.
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
                known.of_application += new.of_application;
            }
            None => self.checks.push(new.clone()),
        }
    }

    /// The checks with evidence that rests on the application, which prove nothing about the
    /// system.
    pub fn of_application(&self) -> impl Iterator<Item = &CheckAccount> {
        self.checks.iter().filter(|check| check.is_of_application())
    }

    /// Removes the level, because only a part of its checks has run.
    #[must_use]
    pub fn without_level(self) -> Account {
        Account { level: None, broken_by: Vec::new(), unasked: Vec::new(), ..self }
    }

    /// Computes the level: every check up to it was applicable, and found nothing.
    fn find_level(&mut self) {
        (self.level, self.broken_by, self.unasked) = (None, Vec::new(), Vec::new());
        for level in Level::ALL {
            let of_level = || self.checks.iter().filter(|check| check.level == level);
            let named = |is: &dyn Fn(&CheckAccount) -> bool| -> Vec<String> {
                of_level().filter(|check| is(check)).map(|check| check.check.clone()).collect()
            };
            let broken_by = named(&|check| check.found > 0);
            let unasked = named(&|check| check.spoke == 0 && !check.is_of_application());
            if !broken_by.is_empty() || !unasked.is_empty() {
                (self.broken_by, self.unasked) = (broken_by, unasked);
                return;
            }
            // A level with no check of the system is skipped, and does not count as reached.
            if of_level().any(|check| !check.is_of_application()) {
                self.level = Some(level);
            }
        }
    }
}

impl CheckAccount {
    fn is_of_application(&self) -> bool {
        self.of_application > 0 && self.found == 0
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
