//! Threads that continue with another provider: each system's result for each pair of dialects.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::report::{Case, Report};
use brickbat_scenario::verdict::{Severity, Verdict};

/// The folder of the scenarios that switch the provider, and the name in them for the second provider of a
/// thread.
const FOLDER: &str = "switch/";
const TO: &str = "to=";

/// Systems and pairs, as a file stores them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switches {
    /// Systems with their pairs, sorted.
    pub pairs: Vec<Pair>,
}

/// The result for a system whose thread moves from one dialect to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    pub system: String,
    /// The dialect with which the thread begins.
    pub from: String,
    /// The dialect with which it continues.
    pub to: String,
    pub n_pass: usize,
    pub n_fail: usize,
    /// Plans that the system does not reach, and those that could not be judged.
    pub n_open: usize,
    /// The worst severity, and the number of plans that have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<(Severity, usize)>,
}

impl Switches {
    /// The combined result from several reports. A system that is in more than one of them has the
    /// results from all.
    pub fn of(reports: &[Report]) -> Switches {
        let mut cases: BTreeMap<(&str, &str, &str), Vec<&Case>> = BTreeMap::new();
        for case in reports.iter().flat_map(|report| &report.cases) {
            if let Some((from, to)) = pair_of(&case.plan)
                && case.verdict != Verdict::Unsupported
            {
                cases.entry((&case.system, from, to)).or_default().push(case);
            }
        }
        Switches { pairs: cases.into_iter().map(|(pair, cases)| Pair::of(pair, &cases)).collect() }
    }

    /// The systems, sorted.
    pub fn systems(&self) -> BTreeSet<&str> {
        self.pairs.iter().map(|pair| pair.system.as_str()).collect()
    }

    /// A system's pair.
    pub fn pair(&self, system: &str, from: &str, to: &str) -> Option<&Pair> {
        self.pairs.iter().find(|pair| (&*pair.system, &*pair.from, &*pair.to) == (system, from, to))
    }
}

impl Pair {
    fn of((system, from, to): (&str, &str, &str), cases: &[&Case]) -> Pair {
        let n = |verdict| cases.iter().filter(|case| case.verdict == verdict).count();
        let (n_pass, n_fail) = (n(Verdict::Pass), n(Verdict::Fail));
        let worst_of = |case: &&Case| case.findings.iter().map(|finding| finding.severity).min();
        let worst = cases.iter().filter_map(worst_of).min();
        let has = |severity| cases.iter().filter(|case| worst_of(case) == Some(severity)).count();
        Pair {
            system: system.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            n_pass,
            n_fail,
            n_open: cases.len() - n_pass - n_fail,
            worst: worst.map(|severity| (severity, has(severity))),
        }
    }

    /// A short summary: the worst severity and in how many of the plans, or that all pass.
    pub fn words(&self) -> String {
        let n_judged = self.n_pass + self.n_fail;
        match self.worst {
            Some((severity, n)) => format!("{} {n}/{n_judged}", severity.name()),
            None if n_judged == 0 => "open".to_owned(),
            None => format!("pass {n_judged}"),
        }
    }
}

/// The dialects in a plan that moves from one to another.
fn pair_of(plan: &str) -> Option<(&str, &str)> {
    let (scenario, from) = plan.rsplit_once('@')?;
    let (_, variant) = scenario.strip_prefix(FOLDER)?.split_once('#')?;
    let to = variant.split(',').find_map(|choice| choice.trim().strip_prefix(TO))?;
    Some((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_read_from_the_name_of_a_plan() {
        assert_eq!(pair_of("switch/after-batch#to=gemini@mistral"), Some(("mistral", "gemini")));
        assert_eq!(pair_of("abort/mid-batch#to=gemini@mistral"), None);
        assert_eq!(pair_of("switch/after-batch@mistral"), None);
    }

    #[test]
    fn a_pair_shows_the_worst_severity() {
        let pair = |worst, n_pass, n_fail, n_open| {
            let [system, from, to] = ["x", "mistral", "gemini"].map(str::to_owned);
            Pair { system, from, to, n_pass, n_fail, n_open, worst }.words()
        };
        assert_eq!(pair(Some((Severity::ResultsLost, 1)), 3, 2, 0), "results-lost 1/5");
        assert_eq!((pair(None, 3, 0, 1), pair(None, 0, 0, 1)), ("pass 3".to_owned(), "open".to_owned()));
    }
}
