//! Runs one route from its inputs to its causes, and shrinks each cause's history.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::checks::{CHECKS, Finding};
use crate::shrink::{size, smallest};
use crate::{Broken, Explorer, Filter, Input, Judged, Outcome, Route, Said, judge};

/// The number of inputs judged at a time.
const BATCH: usize = 256;

/// The results for a route.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RouteReport {
    /// The name of the route.
    pub route: String,
    /// The total number of inputs.
    pub inputs: u64,
    /// The number of judged inputs.
    pub judged: u64,
    /// The reasons why inputs were not put to the filter, with their number.
    pub not_put: BTreeMap<String, u64>,
    /// The reasons why the output could not represent inputs, with their number.
    pub unsupported: BTreeMap<String, u64>,
    /// The number of broken histories that the filter rejected, as declared.
    pub refused: u64,
    /// The counts of each check.
    pub checks: BTreeMap<&'static str, Counted>,
    /// The causes, the most serious check first.
    pub causes: Vec<Cause>,
}

/// How many inputs a check applied to, and how many failed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counted {
    /// The number of inputs that it applied to.
    pub put: u64,
    /// The number of inputs that failed it.
    pub failed: u64,
}

/// A problem, counted only once.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cause {
    /// The check.
    pub check: &'static str,
    /// The key that groups findings.
    pub cause: String,
    /// The number of inputs that trigger it.
    pub inputs: u64,
    /// The expected and the actual result for the smallest history.
    pub words: String,
    /// The origin of the first such input.
    pub first: String,
    /// The smallest history that triggers it.
    pub minimal: Value,
    /// The filter's output for that history.
    pub output: Value,
}

/// Puts inputs to a filter on a route and reports its problems. Calls `each` with the number of inputs of
/// each batch.
///
/// # Errors
///
/// Fails if the filter no longer answers.
pub fn run(
    filter: &mut dyn Filter,
    route: &Route<'_>,
    back: Option<&Route<'_>>,
    inputs: impl IntoIterator<Item = Input>,
    mut each: impl FnMut(u64),
) -> Result<RouteReport, Broken> {
    let mut gathered = Gathered::new(route);
    let mut inputs = inputs.into_iter();
    loop {
        let batch: Vec<Input> = inputs.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            break;
        }
        let judged = judge(filter, route, back, &batch)?;
        gathered.take(&batch, &judged);
        each(batch.len() as u64);
    }
    gathered.finish(filter, route, back)
}

/// The number of histories in one search batch. After each batch, histories with new behaviour are varied.
const SEARCHED_AT_ONCE: usize = 64;

/// Searches for histories that reveal a problem until `goes_on` returns false, and reports the problems.
///
/// # Errors
///
/// Fails if the filter no longer answers.
pub fn search(
    filter: &mut dyn Filter,
    route: &Route<'_>,
    back: Option<&Route<'_>>,
    mut explorer: Explorer,
    mut goes_on: impl FnMut() -> bool,
) -> Result<RouteReport, Broken> {
    let mut gathered = Gathered::new(route);
    while goes_on() {
        let batch = explorer.next(route, SEARCHED_AT_ONCE);
        let judged = judge(filter, route, back, &batch)?;
        for (input, judged) in batch.iter().zip(&judged) {
            explorer.learn(route, input, judged);
        }
        gathered.take(&batch, &judged);
    }
    gathered.finish(filter, route, back)
}

/// The results of a route so far.
struct Gathered {
    report: RouteReport,
    /// For each cause: the number of inputs, the origin of the first, and the smallest.
    found: BTreeMap<(&'static str, String), (u64, String, Input)>,
}

impl Gathered {
    fn new(route: &Route<'_>) -> Gathered {
        let report = RouteReport {
            route: route.name(),
            inputs: 0,
            judged: 0,
            not_put: BTreeMap::new(),
            unsupported: BTreeMap::new(),
            refused: 0,
            checks: BTreeMap::new(),
            causes: Vec::new(),
        };
        Gathered { report, found: BTreeMap::new() }
    }

    fn take(&mut self, batch: &[Input], judged: &[Judged]) {
        self.report.inputs += batch.len() as u64;
        for (input, judged) in batch.iter().zip(judged) {
            self.report.count(&judged.outcome);
            for finding in first_of_each(judged.outcome.findings()) {
                let key = (finding.check, finding.cause.clone());
                let entry = self.found.entry(key).or_insert_with(|| (0, input.id.clone(), input.clone()));
                entry.0 += 1;
                if size(input) < size(&entry.2) {
                    entry.2 = input.clone();
                }
            }
        }
    }

    /// Shrinks each cause's history.
    fn finish(
        mut self,
        filter: &mut dyn Filter,
        route: &Route<'_>,
        back: Option<&Route<'_>>,
    ) -> Result<RouteReport, Broken> {
        for ((check, cause), (inputs, first, input)) in self.found {
            let minimal = smallest(filter, route, back, &input, (check, &cause))?;
            self.report.causes.push(shown(
                filter,
                route,
                back,
                Shown { check, cause, inputs, first, minimal },
            )?);
        }
        let rank = |check: &str| CHECKS.iter().position(|known| known.id == check);
        self.report
            .causes
            .sort_by(|one, other| (rank(one.check), &one.cause).cmp(&(rank(other.check), &other.cause)));
        Ok(self.report)
    }
}

struct Shown {
    check: &'static str,
    cause: String,
    inputs: u64,
    first: String,
    minimal: Input,
}

/// Returns a cause with the filter's answer to its smallest history.
fn shown(
    filter: &mut dyn Filter,
    route: &Route<'_>,
    back: Option<&Route<'_>>,
    Shown { check, cause, inputs, first, minimal }: Shown,
) -> Result<Cause, Broken> {
    // For these checks, earlier questions matter, so the filter starts again.
    if matches!(check, "twice-is-once" | "threads-apart") {
        filter.fresh()?;
    }
    let judged = judge(filter, route, back, std::slice::from_ref(&minimal))?;
    let judged = judged.into_iter().next();
    let words = judged.as_ref().and_then(|judged| {
        let mut findings = judged.outcome.findings().iter();
        Some(findings.find(|finding| finding.check == check && finding.cause == cause)?.words.clone())
    });
    let output = judged.and_then(|judged| judged.said).map(|said| match said {
        Said::Request { body, .. } => body,
        Said::Raised { kind, message } => {
            serde_json::json!({ "error": { "kind": kind, "message": message } })
        }
        Said::Unsupported(why) => serde_json::json!({ "unsupported": why }),
    });
    // If the finding does not show again, it depends on earlier questions.
    let words = words.unwrap_or_else(|| "it is not shown alone".to_owned());
    Ok(Cause {
        check,
        cause,
        inputs,
        words,
        first,
        minimal: minimal.body,
        output: output.unwrap_or_default(),
    })
}

/// Returns the first finding of each cause for an input.
fn first_of_each(findings: &[Finding]) -> Vec<&Finding> {
    let mut found: Vec<&Finding> = Vec::new();
    for finding in findings {
        if !found.iter().any(|known| known.check == finding.check && known.cause == finding.cause) {
            found.push(finding);
        }
    }
    found
}

impl RouteReport {
    fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::NotPut(why) => *self.not_put.entry(why.clone()).or_default() += 1,
            Outcome::Unsupported(why) => *self.unsupported.entry(why.clone()).or_default() += 1,
            Outcome::Refused => self.refused += 1,
            Outcome::Judged { put, findings } => {
                self.judged += 1;
                for check in put {
                    let counted = self.checks.entry(check).or_default();
                    counted.put += 1;
                    counted.failed += u64::from(findings.iter().any(|finding| finding.check == *check));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planted::named;

    #[test]
    fn a_filter_that_answers_differently_the_second_time_is_reported() {
        let own = named("planted/prompts-on-retries").unwrap();
        let modes = (own.modes)();
        let routes = modes[0].routes();
        let inputs = (0..2 * BATCH as u64).map(|n| Input::valid(routes[0].from, 0, n));
        let report = run((own.filter)().as_mut(), &routes[0], None, inputs, |_| {}).unwrap();
        let [cause] = report.causes.as_slice() else { panic!("{:#?}", report.causes) };
        assert_eq!((cause.check, cause.words.as_str()), ("twice-is-once", "a second pass changes /messages"));
        assert_eq!(cause.minimal["messages"].as_array().unwrap().len(), 1);
        // More than a single batch can have.
        assert!((9..=16).contains(&cause.inputs), "{}", cause.inputs);
    }
}
