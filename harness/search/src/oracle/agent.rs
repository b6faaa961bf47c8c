//! Runs a scenario with an agent in the simulation, and judges it.

use std::sync::Arc;

use brickbat_engine::agent::{Agent, Delivery, SansIo};
use brickbat_engine::checks::Concurrency;
use brickbat_engine::flaws::Canary;
use brickbat_engine::simulate::{assess, play, play_among};
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::verdict::{Judgement, Verdict};

/// The plan for a scenario in its profile's dialect, or in one that can run it; `None` if none can.
///
/// The dialect that is tried first depends on the form of the scenario, so that each dialect gets its share.
pub fn plan(scenario: &Scenario) -> Option<Arc<Plan>> {
    let own = scenario.profile.as_deref().and_then(Profile::named).map(|profile| profile.dialect);
    if let Some(dialect) = own {
        return plan_on(scenario, dialect);
    }
    let turns = &scenario.turns;
    let n_actions: usize = turns.iter().map(|turn| turn.at.len()).sum();
    let n_replies: usize = turns.iter().map(|turn| turn.replies.len()).sum();
    let first = scenario.tools.len() + n_actions + n_replies;
    for next in 0..Dialect::ALL.len() {
        let dialect = Dialect::ALL[(first + next) % Dialect::ALL.len()];
        // A scenario that is invalid in one dialect is invalid in all of them.
        let plan = lower::lower(ID, "", scenario, dialect, 0).ok()?;
        if plan.impossible.is_none() {
            return Some(Arc::new(plan));
        }
    }
    None
}

/// The plan for a scenario in this dialect; `None` if it cannot be run there.
pub fn plan_on(scenario: &Scenario, dialect: Dialect) -> Option<Arc<Plan>> {
    let plan = lower::lower(ID, "", scenario, dialect, 0).ok()?;
    plan.impossible.is_none().then(|| Arc::new(plan))
}

/// The name of scenarios that have no file.
const ID: &str = "generated";

/// The judgement on our agent in a plan, with or without a planted bug.
pub fn judgement(plan: &Arc<Plan>, canary: Option<Canary>) -> Judgement {
    judgement_of(plan, &|plan| Agent::of_plan(plan, Delivery::Streamed, canary))
}

/// The judgement on an agent in a plan.
///
/// A plan that does not pass is run again with the knowledge from its control plan, as in a real run.
fn judgement_of<A: SansIo>(plan: &Arc<Plan>, agent: &impl Fn(&Plan) -> A) -> Judgement {
    let judgement = assess(plan, &play(plan, agent(plan), None), None);
    if judgement.verdict == Verdict::Pass {
        return judgement;
    }
    let control = Arc::new(lower::control(plan));
    let concurrency = Concurrency::of(&control, &play(&control, agent(&control), None).trace);
    assess(plan, &play(plan, agent(plan), Some(&concurrency)), Some(&concurrency))
}

/// The failure of an agent in a scenario, with the dialect; also `None` if the agent supports no dialect that
/// can run the scenario, or lacks a capability that it needs.
pub fn failure<A: SansIo>(scenario: &Scenario) -> Option<String> {
    let can_play =
        |plan: &Arc<Plan>| plan.needs.iter().all(|need| A::can(*need)) && A::of_plan(plan).is_some();
    let plan = Dialect::ALL.into_iter().filter_map(|dialect| plan_on(scenario, dialect)).find(can_play)?;
    // `can_play` has checked the dialect, and a control plan has the same one.
    let judgement = judgement_of(&plan, &|plan| A::of_plan(plan).expect("it speaks this dialect"));
    (judgement.verdict == Verdict::Fail).then(|| format!("fails in {}: {}", plan.dialect, what(&judgement)))
}

/// The finding against the reference agent in a plan. That agent is correct, so either the plan can never
/// happen and should have been lowered as impossible, or a check is wrong, or the agent is not correct.
pub fn accusation(plan: &Arc<Plan>) -> Option<String> {
    let judgement = judgement(plan, None);
    match judgement.verdict {
        Verdict::Pass | Verdict::Vacuous | Verdict::Unreachable => None,
        verdict => Some(format!("{} in {}: {}", verdict.name(), plan.dialect, what(&judgement))),
    }
}

/// The planted bugs that a plan triggers, so that their checks fail. A bug that has no effect here is not
/// judged.
pub fn caught(plan: &Arc<Plan>, canaries: &[Canary]) -> Vec<Canary> {
    let sensible = canaries.iter().filter(|canary| canary.senseless_in(plan.dialect).is_none());
    let (right, apart) = play_among(plan, &sensible.copied().collect::<Vec<_>>());
    let is_caught = |canary: &Canary| {
        if play(plan, Agent::of_plan(plan, Delivery::Streamed, Some(*canary)), None) == right {
            return false;
        }
        let judgement = judgement(plan, Some(*canary));
        let is_meant = judgement.findings.iter().any(|finding| finding.check == canary.caught_by());
        judgement.verdict == Verdict::Fail && is_meant
    };
    apart.into_iter().filter(is_caught).collect()
}

fn what(judgement: &Judgement) -> String {
    let findings = judgement.findings.iter().map(|finding| format!("{}: {}", finding.check, finding.message));
    findings.chain(judgement.reason.clone()).collect::<Vec<String>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    const N_SEEDS: u64 = 24;

    #[test]
    fn a_canary_that_answers_like_the_reference_agent_has_the_same_run() {
        let canaries: Vec<Canary> = Canary::all().collect();
        let mut n_apart = 0;
        for plan in (0..N_SEEDS).filter_map(|seed| plan(&generate::scenario(seed))) {
            let played = |canary| play(&plan, Agent::of_plan(&plan, Delivery::Streamed, canary), None);
            let (right, apart) = play_among(&plan, &canaries);
            assert_eq!(right, played(None));
            let alike = canaries.iter().filter(|canary| !apart.contains(canary));
            alike.for_each(|canary| assert_eq!(played(Some(*canary)), right, "{canary:?}"));
            n_apart += apart.len();
        }
        assert!(n_apart > canaries.len(), "most of them do something else in one of the plans");
    }
}
