//! Compares two systems by running the same plans against both, and reports each distinct difference only
//! once.

use brickbat_scenario::plan::CONTROL;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::report::Case;
use brickbat_engine::triage::Signature;
use brickbat_scenario::verdict::{Finding, Severity, Verdict};

/// Two systems, compared by runs of the same plans.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    pub first: String,
    pub second: String,
    pub n_compared: usize,
    /// Of those, plans with the same findings on both, or with none.
    pub n_alike: usize,
    /// Plans that neither system supports or reaches.
    pub n_beyond_both: usize,
    /// The differences between the systems, worst first.
    #[serde(rename = "partings")]
    pub divergences: Vec<Divergence>,
    /// Plans that were judged on at most one side.
    pub gaps: Vec<Gap>,
}

/// A distinct failure that occurs in only one of the systems.
#[derive(Debug, Clone, Serialize)]
pub struct Divergence {
    pub only_on: String,
    /// The severity for the user of that system.
    #[serde(rename = "harm")]
    pub severity: Severity,
    pub finding: Finding,
    /// The plan with the fewest actions in which it occurs.
    pub plan: String,
    /// The command that runs it on the system that has the finding.
    pub reproduce: String,
    /// The number of plans in which it occurs only on this system.
    pub n_plans: usize,
    pub dialects: BTreeSet<String>,
    /// True if the same failure occurs on the other system in other plans.
    pub elsewhere_on_both: bool,
}

/// Plans that cannot be compared, because they were not judged on both systems.
#[derive(Debug, Clone, Serialize)]
pub struct Gap {
    /// The verdict on the first system. `None` if the plan was not run.
    pub first: Option<String>,
    pub second: Option<String>,
    pub reason: Option<String>,
    /// One of the plans.
    pub plan: String,
    /// The number of plans.
    pub n_plans: usize,
    /// True if the plan should have been judged: it was vacuous, inconclusive, not run, or the harness
    /// failed.
    pub is_unjudged: bool,
}

impl Comparison {
    /// Compares the cases of two systems.
    pub fn of(first: &[Case], second: &[Case]) -> Comparison {
        let name = |cases: &[Case]| cases.first().map(|case| case.system.clone()).unwrap_or_default();
        let mut comparison = Comparison {
            first: name(first),
            second: name(second),
            n_compared: 0,
            n_alike: 0,
            n_beyond_both: 0,
            divergences: Vec::new(),
            gaps: Vec::new(),
        };
        let mut pairs: BTreeMap<&str, (Option<&Case>, Option<&Case>)> = BTreeMap::new();
        first.iter().for_each(|case| pairs.entry(&case.plan).or_default().0 = Some(case));
        second.iter().for_each(|case| pairs.entry(&case.plan).or_default().1 = Some(case));
        let mut divergences = Divergences::default();
        // By both verdicts, and the reason without a judgement.
        let mut gaps: BTreeMap<[Option<&str>; 3], Gap> = BTreeMap::new();
        for (plan, pair) in pairs {
            match pair {
                (Some(one), Some(other)) if one.is_judged() && other.is_judged() => {
                    comparison.n_compared += 1;
                    let differs = [divergences.add(one, other), divergences.add(other, one)];
                    comparison.n_alike += usize::from(differs == [false, false]);
                }
                (Some(one), Some(other)) if is_beyond(one) && is_beyond(other) => {
                    comparison.n_beyond_both += 1
                }
                (one, other) => {
                    let verdict = |case: Option<&Case>| case.map(|case| case.verdict.name());
                    let open = |case: Option<&Case>| case.is_some_and(|case| case.verdict.is_unjudged());
                    let unjudged = [one, other].into_iter().flatten().find(|case| !case.is_judged());
                    let reason = unjudged.and_then(|case| case.reason.as_deref());
                    let gap = gaps.entry([verdict(one), verdict(other), reason]).or_insert_with(|| Gap {
                        first: verdict(one).map(str::to_owned),
                        second: verdict(other).map(str::to_owned),
                        reason: reason.map(str::to_owned),
                        plan: plan.to_owned(),
                        n_plans: 0,
                        is_unjudged: open(one) || open(other),
                    });
                    gap.n_plans += 1;
                }
            }
        }
        comparison.gaps = gaps.into_values().collect();
        comparison.divergences = divergences.sorted();
        comparison
    }

    /// True if a plan that should have been judged was not.
    pub fn is_open(&self) -> bool {
        self.gaps.iter().any(|gap| gap.is_unjudged)
    }
}

/// Divergences by system and failure, while they are counted.
#[derive(Default)]
struct Divergences<'a> {
    known: BTreeMap<(&'a str, Signature), Plans<'a>>,
    /// Failures that occur on both systems in the same plan.
    shared: BTreeSet<Signature>,
}

/// The plans of one divergence.
struct Plans<'a> {
    fewest: &'a Case,
    finding: &'a Finding,
    n_plans: usize,
    dialects: BTreeSet<String>,
}

impl<'a> Divergences<'a> {
    /// Counts the failures that occur only in the first of two cases, and returns whether there are
    /// any.
    fn add(&mut self, one: &'a Case, other: &Case) -> bool {
        let mut counted = BTreeSet::new();
        let mut differs = false;
        for finding in &one.findings {
            let signature = Signature::of(finding);
            if other.all_findings().any(|other| signature.is_same_damage(other)) {
                self.shared.insert(signature);
                continue;
            }
            differs = true;
            if !counted.insert(signature.clone()) {
                continue;
            }
            let plans = self.known.entry((one.system.as_str(), signature)).or_insert_with(|| Plans {
                fewest: one,
                finding,
                n_plans: 0,
                dialects: BTreeSet::new(),
            });
            plans.n_plans += 1;
            plans.dialects.extend(dialect(&one.plan));
            if rank(one) < rank(plans.fewest) {
                (plans.fewest, plans.finding) = (one, finding);
            }
        }
        differs
    }

    fn sorted(self) -> Vec<Divergence> {
        let on_several = |signature: &Signature| {
            self.shared.contains(signature)
                || self.known.keys().filter(|(_, known)| known == signature).count() > 1
        };
        let all = self.known.iter().map(|((system, signature), plans)| Divergence {
            only_on: (*system).to_owned(),
            severity: signature.severity,
            finding: plans.finding.clone(),
            plan: plans.fewest.plan.clone(),
            reproduce: plans.fewest.reproduce.clone(),
            n_plans: plans.n_plans,
            dialects: plans.dialects.clone(),
            elsewhere_on_both: on_several(signature),
        });
        let mut all: Vec<Divergence> = all.collect();
        all.sort_by(|a, b| (a.severity, &a.only_on, &a.plan).cmp(&(b.severity, &b.only_on, &b.plan)));
        all
    }
}

/// True if a system does not support a plan, or does not reach its points.
fn is_beyond(case: &Case) -> bool {
    matches!(case.verdict, Verdict::Unsupported | Verdict::Unreachable)
}

/// The rank of a plan: the one with the fewest actions and the shortest name represents the others.
fn rank(case: &Case) -> (usize, usize, &str) {
    (case.receipts.len(), case.plan.len(), &case.plan)
}

/// The dialect in the id of a plan.
fn dialect(plan: &str) -> Option<String> {
    let (_, dialect) = plan.rsplit_once('@')?;
    Some(dialect.strip_suffix(CONTROL).unwrap_or(dialect).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_rules::dialect::Dialect;
    use brickbat_scenario::plan::PlanId;
    use brickbat_scenario::verdict::Judgement;

    fn case(system: &str, scenario: &str, verdict: Verdict, findings: &[(Severity, &str)]) -> Case {
        let id = PlanId::new(scenario, Dialect::Mistral);
        let findings =
            findings.iter().map(|(severity, message)| Finding::new("results-kept", *severity, message));
        let reason = verdict.is_unjudged().then(|| "no receipt".to_owned());
        let judgement = Judgement { reason, ..Judgement::with_findings(verdict, findings.collect()) };
        Case::new(system, &id, judgement, Vec::new(), "brickbat run".to_owned())
    }

    const LOST: (Severity, &str) = (Severity::BrickedByClient, "the result of call a is gone");
    const LOST_TOO: (Severity, &str) = (Severity::BrickedByClient, "the results of calls b and c are gone");
    const LATE: (Severity, &str) = (Severity::BrickedByClient, "it comes late");

    #[test]
    fn the_same_cause_in_other_words_is_not_a_divergence() {
        let first = [case("x", "s", Verdict::Fail, &[LOST])];
        let second = [case("y", "s", Verdict::Fail, &[LOST_TOO])];
        let comparison = Comparison::of(&first, &second);
        assert_eq!((comparison.n_compared, comparison.n_alike, comparison.divergences.len()), (1, 1, 0));
    }

    #[test]
    fn a_failure_of_one_system_is_reported_once_with_the_shortest_plan() {
        let first = ["longer", "b", "c"].map(|name| case("x", name, Verdict::Fail, &[LOST, LOST_TOO]));
        let second = ["longer", "b", "c"].map(|name| case("y", name, Verdict::Pass, &[]));
        let comparison = Comparison::of(&first, &second);
        let [divergence] = comparison.divergences.as_slice() else { panic!("{comparison:#?}") };
        assert_eq!((divergence.only_on.as_str(), divergence.n_plans), ("x", 3));
        assert_eq!(divergence.plan, "b@mistral");
        assert_eq!(divergence.dialects, BTreeSet::from(["mistral".to_owned()]));
        assert!(!divergence.elsewhere_on_both && comparison.n_alike == 0);
    }

    #[test]
    fn a_cause_that_both_show_somewhere_is_reported_as_such() {
        let first = [case("x", "a", Verdict::Fail, &[LOST]), case("x", "b", Verdict::Fail, &[LOST, LATE])];
        let second = [case("y", "a", Verdict::Fail, &[LOST]), case("y", "b", Verdict::Pass, &[])];
        let comparison = Comparison::of(&first, &second);
        let found: Vec<(&str, bool)> = comparison
            .divergences
            .iter()
            .map(|divergence| (divergence.finding.message.as_str(), divergence.elsewhere_on_both))
            .collect();
        assert_eq!(found, [(LATE.1, false), (LOST.1, true)]);
    }

    #[test]
    fn an_unjudged_plan_is_a_gap_and_not_a_divergence() {
        let first = [case("x", "a", Verdict::Fail, &[LOST]), case("x", "b", Verdict::Vacuous, &[])];
        let second = [case("y", "a", Verdict::Unsupported, &[]), case("y", "b", Verdict::Pass, &[])];
        let comparison = Comparison::of(&first, &second);
        assert!(comparison.divergences.is_empty() && comparison.n_compared == 0 && comparison.is_open());
        let gaps: Vec<(Option<&str>, Option<&str>, bool)> = comparison
            .gaps
            .iter()
            .map(|gap| (gap.first.as_deref(), gap.second.as_deref(), gap.is_unjudged))
            .collect();
        assert_eq!(
            gaps,
            [(Some("fail"), Some("unsupported"), false), (Some("vacuous"), Some("pass"), true),]
        );
        assert!(!Comparison::of(&first[..1], &second[..1]).is_open());
    }

    #[test]
    fn plans_beyond_both_systems_are_only_counted() {
        let beyond = |system| [case(system, "a", Verdict::Unsupported, &[])];
        let comparison = Comparison::of(&beyond("x"), &beyond("y"));
        assert_eq!((comparison.n_beyond_both, comparison.gaps.len(), comparison.n_compared), (1, 0, 0));
    }

    #[test]
    fn a_plan_of_only_one_system_is_a_gap() {
        let comparison = Comparison::of(&[case("x", "a", Verdict::Pass, &[])], &[]);
        assert_eq!((comparison.gaps.len(), comparison.n_compared), (1, 0));
        assert_eq!(comparison.gaps[0].second, None);
    }
}
