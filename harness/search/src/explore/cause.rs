//! Causes: groups the failures of many plans, one cause for each way to fail.

use std::collections::{BTreeMap, BTreeSet};

use super::{Candidate, Effect, Ground};
use brickbat_engine::triage::Signature;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::verdict::Finding;

#[derive(Debug, Clone)]
pub struct Failure {
    /// The plan's candidate; for a control plan, it has no actions.
    pub candidate: Candidate,
    pub findings: Vec<Finding>,
}

/// Findings with one signature that the same kinds of action cause.
#[derive(Debug, Clone)]
pub struct Cause {
    pub signature: Signature,
    /// The kinds of action that are needed.
    pub kinds: BTreeSet<Effect>,
    /// The plan that triggers it with the fewest and earliest actions.
    pub fewest: Candidate,
    pub finding: Finding,
    pub n_plans: usize,
    /// The dialects on which it occurs.
    pub dialects: BTreeSet<Dialect>,
}

/// The causes of failures, worst first.
///
/// A pair of actions is not a separate cause if one of its kinds has the same effect without the other.
pub fn causes(mut failures: Vec<Failure>, grounds: &[Ground]) -> Vec<Cause> {
    failures.sort_by(|a, b| a.candidate.rank().cmp(&b.candidate.rank()));
    let mut causes: BTreeMap<(Signature, BTreeSet<Effect>), Cause> = BTreeMap::new();
    for Failure { candidate, findings } in failures {
        let kinds: BTreeSet<Effect> =
            candidate.injections(grounds).iter().map(|injection| injection.effect).collect();
        let mut counted = BTreeSet::new();
        for finding in findings {
            let signature = Signature::of(&finding);
            if !counted.insert(signature.clone()) {
                continue;
            }
            let lesser = smaller(&kinds)
                .into_iter()
                .find(|less| causes.contains_key(&(signature.clone(), less.clone())));
            let key = (signature.clone(), lesser.unwrap_or_else(|| kinds.clone()));
            let of_key = key.1.clone();
            let cause = causes.entry(key).or_insert_with(|| Cause {
                signature,
                kinds: of_key,
                fewest: candidate.clone(),
                finding,
                n_plans: 0,
                dialects: BTreeSet::new(),
            });
            cause.n_plans += 1;
            cause.dialects.extend(grounds.get(candidate.ground).map(|ground| ground.dialect));
        }
    }
    causes.into_values().collect()
}

/// The proper subsets of a set of kinds, smallest first.
fn smaller(kinds: &BTreeSet<Effect>) -> Vec<BTreeSet<Effect>> {
    let mut all = vec![BTreeSet::new()];
    if kinds.len() > 1 {
        all.extend(kinds.iter().map(|kind| BTreeSet::from([*kind])));
    }
    all.retain(|less| less.len() < kinds.len());
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::Injection;
    use brickbat_scenario::scenario::{Action, At, Point};
    use brickbat_scenario::verdict::Severity;

    fn finding(severity: Severity, message: &str) -> Finding {
        Finding::new("results-kept", severity, message)
    }

    fn injection(effect: Effect) -> Injection {
        let at = At { reply: 1, attempt: 1, before: None, after: Some(Point::Stop), action: Action::Abort };
        Injection { turn: 0, at, effect }
    }

    fn grounds() -> Vec<Ground> {
        let injections = [Effect::Stop, Effect::Stop, Effect::Cut, Effect::Pause].map(injection).to_vec();
        vec![Ground { dialect: Dialect::OpenaiChat, injections }]
    }

    fn failure(injections: &[usize], message: &str) -> Failure {
        let candidate = Candidate { ground: 0, injections: injections.to_vec() };
        Failure { candidate, findings: vec![finding(Severity::BrickedByClient, message)] }
    }

    #[test]
    fn the_fewest_and_earliest_actions_represent_a_cause() {
        let failures = vec![
            failure(&[1, 3], "call b is gone"),
            failure(&[1], "call c is gone"),
            failure(&[0], "call a is gone"),
        ];
        let causes = causes(failures, &grounds());
        assert_eq!(causes.len(), 1);
        assert_eq!((causes[0].fewest.injections.as_slice(), causes[0].n_plans), ([0].as_slice(), 3));
    }

    #[test]
    fn a_failure_that_needs_two_actions_is_a_cause_of_its_own() {
        let failures =
            vec![failure(&[0], "it is gone"), failure(&[2, 3], "it is gone"), failure(&[2], "it is late")];
        let causes = causes(failures, &grounds());
        let kinds: Vec<Vec<Effect>> =
            causes.iter().map(|cause| cause.kinds.iter().copied().collect()).collect();
        assert_eq!(kinds, [vec![Effect::Stop], vec![Effect::Cut, Effect::Pause], vec![Effect::Cut]]);
    }

    #[test]
    fn a_failure_without_faults_needs_no_action() {
        let failures = vec![failure(&[0], "it is gone"), failure(&[], "it is gone")];
        let causes = causes(failures, &grounds());
        assert_eq!((causes.len(), causes[0].kinds.len(), causes[0].n_plans), (1, 0, 2));
    }
}
