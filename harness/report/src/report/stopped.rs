//! A run that ended early: the findings up to then, and how many of them were confirmed.

use serde::{Deserialize, Serialize};

use super::text::counted;
use super::{Case, Report};
use brickbat_scenario::verdict::Verdict;

/// The end of a run that did not reach all its plans, or did not confirm all its findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlyEnd {
    /// The event that ended it.
    pub why: String,
    /// True if failing plans were to run a second time.
    pub confirms: bool,
}

/// The event that ended a run early, and the causes that the run had seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stopped {
    /// The event that ended it.
    pub why: String,
    /// Causes that were seen, without those that a baseline lists.
    pub seen: usize,
    /// The findings that rest on more than a first run.
    pub confirmed: usize,
    /// True if failing plans were to run a second time.
    pub confirms: bool,
}

impl Stopped {
    /// The causes are those in the report, so it must have been compared with its baselines.
    pub(super) fn of(report: &Report, EarlyEnd { why, confirms }: EarlyEnd) -> Stopped {
        let causes = report.causes();
        let is_confirmed = |cause: &&super::Cause<'_>| confirms && cause.is_confirmed();
        let confirmed = causes.iter().filter(is_confirmed).count();
        Stopped { why, seen: causes.len(), confirmed, confirms }
    }

    /// A count, such as `8 causes seen, 2 confirmed`.
    fn seen_words(&self, is_compared: bool) -> String {
        let kind = if is_compared { "new cause" } else { "cause" };
        match (self.seen, self.confirmed) {
            (0, _) => format!("no {kind} seen"),
            (n, 0) => format!("{} seen, none confirmed", counted(n, kind)),
            (n, n_confirmed) => format!("{} seen, {n_confirmed} confirmed", counted(n, kind)),
        }
    }
}

impl Report {
    /// The count of a stopped run, such as `8 causes seen, 2 confirmed`. `None` if nothing stopped it.
    pub fn seen_words(&self) -> Option<String> {
        Some(self.stopped.as_ref()?.seen_words(!self.baselines.is_empty()))
    }

    /// A line on a run that was stopped, such as
    /// `stopped: 8 causes seen, 2 confirmed; the time was up; 38 plans were not run`. `None` if nothing stopped it.
    pub fn stopped_line(&self) -> Option<String> {
        let stopped = self.stopped.as_ref()?;
        let n_left = self.cases.iter().filter(|case| self.is_left(case)).count();
        let left = match n_left {
            0 => String::new(),
            1 => "; 1 plan was not run".to_owned(),
            n => format!("; {n} plans were not run"),
        };
        Some(format!("stopped: {}; {}{left}", self.seen_words()?, stopped.why))
    }

    /// True if a plan was not run because the run was stopped.
    pub fn is_left(&self, case: &Case) -> bool {
        let is_why = |stopped: &Stopped| case.reason.as_deref().is_some_and(|why| stopped.why.contains(why));
        case.verdict == Verdict::NotRun && self.stopped.as_ref().is_some_and(is_why)
    }
}

/// The label for a case or a cause that has occurred only in a first run.
pub(super) const UNCONFIRMED: &str = "seen, not confirmed";
