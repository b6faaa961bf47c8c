//! Where two systems part: the same plans on both, held against each other, and told once for each cause.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::report::Case;
use brickbat_engine::triage::Signature;
use brickbat_scenario::verdict::{Finding, Severity, Verdict};

/// Everything that two runs of the same plans say of two systems.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The first system.
    pub first: String,
    /// The second one.
    pub second: String,
    /// Plans that both were judged on.
    pub n_compared: usize,
    /// Of those, plans with the same findings on both, or with none.
    pub n_alike: usize,
    /// Plans that neither can do, or that neither gets to.
    pub n_beyond_both: usize,
    /// Where they part, the worst first.
    pub partings: Vec<Parting>,
    /// Plans that only one of them was judged on, and those on which one should have been judged and was not.
    pub gaps: Vec<Gap>,
}

/// Findings of one cause that one of the systems has and the other does not.
#[derive(Debug, Clone, Serialize)]
pub struct Parting {
    /// The system that has them.
    pub only_on: String,
    /// What the user of that system loses.
    pub harm: Severity,
    /// The finding of the plan below.
    pub finding: Finding,
    /// The plan that shows it with the fewest actions.
    pub plan: String,
    /// The command that runs it on the system that has the finding.
    pub reproduce: String,
    /// The plans that show it on this system alone.
    pub n_plans: usize,
    /// The dialects of those plans.
    pub dialects: BTreeSet<String>,
    /// Whether the other system has findings of the same cause, in other plans.
    pub elsewhere_on_both: bool,
}

/// Plans that cannot be compared, because one system passed no judgement on them.
#[derive(Debug, Clone, Serialize)]
pub struct Gap {
    /// What the first system came to; none if the plan was not run.
    pub first: Option<String>,
    /// What the second one came to.
    pub second: Option<String>,
    /// Why, as the one without a judgement says.
    pub reason: Option<String>,
    /// One of the plans.
    pub plan: String,
    /// How many there are.
    pub n_plans: usize,
    /// Whether a judgement was due: the plan was vacuous, inconclusive, not run or the harness failed.
    pub is_unjudged: bool,
}

impl Comparison {
    /// Holds the cases of two systems against each other.
    pub fn of(first: &[Case], second: &[Case]) -> Comparison {
        let name = |cases: &[Case]| cases.first().map(|case| case.system.clone()).unwrap_or_default();
        let mut comparison = Comparison {
            first: name(first),
            second: name(second),
            n_compared: 0,
            n_alike: 0,
            n_beyond_both: 0,
            partings: Vec::new(),
            gaps: Vec::new(),
        };
        let mut pairs: BTreeMap<&str, (Option<&Case>, Option<&Case>)> = BTreeMap::new();
        first.iter().for_each(|case| pairs.entry(&case.plan).or_default().0 = Some(case));
        second.iter().for_each(|case| pairs.entry(&case.plan).or_default().1 = Some(case));
        let mut partings = Partings::default();
        // By what each of them came to, and why.
        let mut gaps: BTreeMap<[Option<&str>; 3], Gap> = BTreeMap::new();
        for (plan, pair) in pairs {
            match pair {
                (Some(one), Some(other)) if is_judged(one) && is_judged(other) => {
                    comparison.n_compared += 1;
                    let parted = [partings.add(one, other), partings.add(other, one)];
                    comparison.n_alike += usize::from(parted == [false, false]);
                }
                (Some(one), Some(other)) if is_beyond(one) && is_beyond(other) => {
                    comparison.n_beyond_both += 1
                }
                (one, other) => {
                    let verdict = |case: Option<&Case>| case.map(|case| case.judged.name());
                    let open = |case: Option<&Case>| case.is_some_and(|case| case.judged.is_unjudged());
                    let unjudged = [one, other].into_iter().flatten().find(|case| !is_judged(case));
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
        comparison.partings = partings.told();
        comparison
    }

    /// Whether a plan that should have been judged was not.
    pub fn is_open(&self) -> bool {
        self.gaps.iter().any(|gap| gap.is_unjudged)
    }
}

/// Partings by system and cause, while they are counted.
#[derive(Default)]
struct Partings<'a> {
    known: BTreeMap<(&'a str, Signature), Shown<'a>>,
    /// Causes that both systems show in one plan.
    shared: BTreeSet<Signature>,
}

/// The plans of one parting.
struct Shown<'a> {
    fewest: &'a Case,
    finding: &'a Finding,
    n_plans: usize,
    dialects: BTreeSet<String>,
}

impl<'a> Partings<'a> {
    /// Counts the causes of one case that the other does not have; whether there is one.
    fn add(&mut self, one: &'a Case, other: &Case) -> bool {
        let others: BTreeSet<Signature> = other.findings.iter().map(Signature::of).collect();
        let mut told = BTreeSet::new();
        let mut has_parted = false;
        for finding in &one.findings {
            let signature = Signature::of(finding);
            if others.contains(&signature) {
                self.shared.insert(signature);
                continue;
            }
            has_parted = true;
            if !told.insert(signature.clone()) {
                continue;
            }
            let shown = self.known.entry((one.system.as_str(), signature)).or_insert_with(|| Shown {
                fewest: one,
                finding,
                n_plans: 0,
                dialects: BTreeSet::new(),
            });
            shown.n_plans += 1;
            shown.dialects.extend(dialect(&one.plan));
            if rank(one) < rank(shown.fewest) {
                (shown.fewest, shown.finding) = (one, finding);
            }
        }
        has_parted
    }

    fn told(self) -> Vec<Parting> {
        let on_several = |signature: &Signature| {
            self.shared.contains(signature)
                || self.known.keys().filter(|(_, known)| known == signature).count() > 1
        };
        let told = self.known.iter().map(|((system, signature), shown)| Parting {
            only_on: (*system).to_owned(),
            harm: signature.harm,
            finding: shown.finding.clone(),
            plan: shown.fewest.plan.clone(),
            reproduce: shown.fewest.reproduce.clone(),
            n_plans: shown.n_plans,
            dialects: shown.dialects.clone(),
            elsewhere_on_both: on_several(signature),
        });
        let mut told: Vec<Parting> = told.collect();
        told.sort_by(|a, b| (a.harm, &a.only_on, &a.plan).cmp(&(b.harm, &b.only_on, &b.plan)));
        told
    }
}

/// Whether a case says what the system does.
fn is_judged(case: &Case) -> bool {
    matches!(case.judged, Verdict::Pass | Verdict::Fail)
}

/// Whether a system cannot do, or does not get to, what a plan asks of it.
fn is_beyond(case: &Case) -> bool {
    matches!(case.judged, Verdict::Unsupported | Verdict::Unreachable)
}

/// The plan with the fewest actions and the shortest name stands for the others.
fn rank(case: &Case) -> (usize, usize, &str) {
    (case.receipts.len(), case.plan.len(), &case.plan)
}

/// The dialect in the id of a plan.
fn dialect(plan: &str) -> Option<String> {
    let (_, dialect) = plan.rsplit_once('@')?;
    Some(dialect.strip_suffix("+control").unwrap_or(dialect).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_rules::dialect::Dialect;
    use brickbat_scenario::plan::PlanId;
    use brickbat_scenario::verdict::Judgement;

    fn case(system: &str, scenario: &str, verdict: Verdict, findings: &[(Severity, &str)]) -> Case {
        let id = PlanId {
            scenario: scenario.to_owned(),
            variant: String::new(),
            dialect: Dialect::Mistral,
            control: false,
        };
        let findings = findings.iter().map(|(harm, message)| Finding {
            check: "results-kept",
            harm: *harm,
            permanence: None,
            message: (*message).to_owned(),
            place: String::new(),
            rule: None,
            expected: String::new(),
            got: String::new(),
        });
        let reason = verdict.is_unjudged().then(|| "no receipt".to_owned());
        let judgement = Judgement { verdict, findings: findings.collect(), reason, asked: Vec::new() };
        Case::new(system, &id, judgement, Vec::new(), "brickbat run".to_owned())
    }

    const LOST: (Severity, &str) = (Severity::BrickedByClient, "the result of call a is gone");
    const LOST_TOO: (Severity, &str) = (Severity::BrickedByClient, "the results of calls b and c are gone");
    const LATE: (Severity, &str) = (Severity::BrickedByClient, "it comes late");

    #[test]
    fn the_same_cause_in_other_words_is_no_parting() {
        let first = [case("x", "s", Verdict::Fail, &[LOST])];
        let second = [case("y", "s", Verdict::Fail, &[LOST_TOO])];
        let comparison = Comparison::of(&first, &second);
        assert_eq!((comparison.n_compared, comparison.n_alike, comparison.partings.len()), (1, 1, 0));
    }

    #[test]
    fn what_one_system_alone_shows_is_told_once_with_the_shortest_plan() {
        let first = ["longer", "b", "c"].map(|name| case("x", name, Verdict::Fail, &[LOST, LOST_TOO]));
        let second = ["longer", "b", "c"].map(|name| case("y", name, Verdict::Pass, &[]));
        let comparison = Comparison::of(&first, &second);
        let [parting] = comparison.partings.as_slice() else { panic!("{comparison:#?}") };
        assert_eq!((parting.only_on.as_str(), parting.n_plans), ("x", 3));
        assert_eq!(parting.plan, "b@mistral");
        assert_eq!(parting.dialects, BTreeSet::from(["mistral".to_owned()]));
        assert!(!parting.elsewhere_on_both && comparison.n_alike == 0);
    }

    #[test]
    fn a_cause_that_both_show_somewhere_is_told_as_such() {
        let first = [case("x", "a", Verdict::Fail, &[LOST]), case("x", "b", Verdict::Fail, &[LOST, LATE])];
        let second = [case("y", "a", Verdict::Fail, &[LOST]), case("y", "b", Verdict::Pass, &[])];
        let comparison = Comparison::of(&first, &second);
        let told: Vec<(&str, bool)> = comparison
            .partings
            .iter()
            .map(|parting| (parting.finding.message.as_str(), parting.elsewhere_on_both))
            .collect();
        assert_eq!(told, [(LATE.1, false), (LOST.1, true)]);
    }

    #[test]
    fn what_was_not_judged_is_no_parting_and_is_not_forgotten() {
        let first = [case("x", "a", Verdict::Fail, &[LOST]), case("x", "b", Verdict::Vacuous, &[])];
        let second = [case("y", "a", Verdict::Unsupported, &[]), case("y", "b", Verdict::Pass, &[])];
        let comparison = Comparison::of(&first, &second);
        assert!(comparison.partings.is_empty() && comparison.n_compared == 0 && comparison.is_open());
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
    fn what_neither_can_do_is_only_counted() {
        let beyond = |system| [case(system, "a", Verdict::Unsupported, &[])];
        let comparison = Comparison::of(&beyond("x"), &beyond("y"));
        assert_eq!((comparison.n_beyond_both, comparison.gaps.len(), comparison.n_compared), (1, 0, 0));
    }

    #[test]
    fn a_plan_of_one_system_alone_is_a_gap() {
        let comparison = Comparison::of(&[case("x", "a", Verdict::Pass, &[])], &[]);
        assert_eq!((comparison.gaps.len(), comparison.n_compared), (1, 0));
        assert_eq!(comparison.gaps[0].second, None);
    }
}
