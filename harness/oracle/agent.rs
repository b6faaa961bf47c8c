//! An agent plays a scenario in the simulation, and is judged.

use std::sync::Arc;

use crate::agent::canary::Canary;
use crate::agent::{Agent, Delivery};
use crate::check::{Reach, judge};
use crate::dialect::Dialect;
use crate::lower;
use crate::plan::Plan;
use crate::rules::Profile;
use crate::scenario::Scenario;
use crate::simulate::simulate;
use crate::trace::Grade;
use crate::verdict::{Judgement, Verdict};

/// The plan of a scenario on the dialect of its profile, or on one that can play it; nothing if none can.
///
/// Which one is tried first follows from the form of the scenario, so that each gets its share.
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
        // What is no scenario in one dialect is none in any.
        let plan = lower::lower(ID, "", scenario, dialect, 0).ok()?;
        if plan.impossible.is_none() {
            return Some(Arc::new(plan));
        }
    }
    None
}

/// The plan of a scenario on that dialect; nothing if it cannot be played there.
pub fn plan_on(scenario: &Scenario, dialect: Dialect) -> Option<Arc<Plan>> {
    let plan = lower::lower(ID, "", scenario, dialect, 0).ok()?;
    plan.impossible.is_none().then(|| Arc::new(plan))
}

/// What scenarios are called that have no file.
const ID: &str = "generated";

/// What the checkers say of our agent in a plan, with a planted bug or without one.
///
/// A plan that does not pass is played again with what its control plan has shown, as a run would do it.
pub fn judgement(plan: &Arc<Plan>, canary: Option<Canary>) -> Judgement {
    let judgement = judged(plan, canary, None);
    if judgement.verdict == Verdict::Pass {
        return judgement;
    }
    let control = Arc::new(lower::control(plan));
    let agent = Agent::of_plan(&control, Delivery::Streamed, canary);
    let shown = simulate(&control, Profile::of_plan(&control, &[]), agent, None);
    judged(plan, canary, Some(Reach::of(&control, &shown.trace)))
}

fn judged(plan: &Arc<Plan>, canary: Option<Canary>, reach: Option<Reach>) -> Judgement {
    let profile = Profile::of_plan(plan, &[]);
    let width = reach.map(|reach| reach.width).filter(|width| *width > 0);
    let run = simulate(plan, profile, Agent::of_plan(plan, Delivery::Streamed, canary), width);
    judge(plan, &run, profile, Grade::Observed, reach.as_ref())
}

/// What the reference agent is accused of in a plan. It is right, so either the plan can never happen and should have been
/// told as such, or a checker is wrong, or the agent is not the reference that it is to be.
pub fn accusation(plan: &Arc<Plan>) -> Option<String> {
    let judgement = judgement(plan, None);
    match judgement.verdict {
        Verdict::Pass | Verdict::Vacuous | Verdict::Unreachable => None,
        verdict => Some(format!("{} in {}: {}", verdict.name(), plan.dialect, what(&judgement))),
    }
}

/// Whether a planted bug shows in a plan: its checker fails it.
pub fn is_caught(plan: &Arc<Plan>, canary: Canary) -> bool {
    let judgement = judgement(plan, Some(canary));
    let is_meant = judgement.findings.iter().any(|finding| finding.check == canary.caught_by());
    judgement.verdict == Verdict::Fail && is_meant
}

fn what(judgement: &Judgement) -> String {
    let findings = judgement.findings.iter().map(|finding| format!("{}: {}", finding.check, finding.message));
    findings.chain(judgement.reason.clone()).collect::<Vec<String>>().join("; ")
}
