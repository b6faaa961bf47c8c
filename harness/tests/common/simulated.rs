//! A scenario in the simulation, on the reference agent or on a planted bug.

use std::sync::Arc;

use brickbat::agent::canary::Canary;
use brickbat::agent::{Agent, Delivery};
use brickbat::checks::{Reach, judge};
use brickbat::lower;
use brickbat::plan::Plan;
use brickbat::scenario::Scenario;
use brickbat::shrink::Setting;
use brickbat::simulate::simulate;
use brickbat::trace::Grade;
use brickbat::triage::Signature;
use brickbat::verdict::{Judgement, Verdict};

/// The judgement over a plan, or over its control plan if that does not pass.
pub fn judged(plan: &Plan, canary: Option<Canary>) -> Judgement {
    let profile = plan.profile_from(&[]);
    let agent = |plan: &Plan| Agent::of_plan(plan, Delivery::Streamed, canary);
    let control = Arc::new(lower::control(plan));
    let control_run = simulate(&control, profile, agent(&control), None);
    let judgement = judge(&control, &control_run, profile, Grade::Observed, None);
    if judgement.verdict != Verdict::Pass {
        return judgement;
    }
    let reach = Reach::of(&control, &control_run.trace);
    let width = Some(reach.width).filter(|width| *width > 0);
    let plan = Arc::new(plan.clone());
    let run = simulate(&plan, profile, agent(&plan), width);
    judge(&plan, &run, profile, Grade::Observed, Some(&reach))
}

/// The causes for which a scenario fails; none if it passes or cannot be played.
pub fn causes(scenario: &Scenario, setting: &Setting<'_>, canary: Option<Canary>) -> Vec<Signature> {
    let Ok(plan) = lower::lower(setting.id, "", scenario, setting.dialect, setting.seed) else {
        return Vec::new();
    };
    if plan.impossible.is_some() {
        return Vec::new();
    }
    let judgement = judged(&plan, canary);
    match judgement.verdict {
        Verdict::Fail => judgement.findings.iter().map(Signature::of).collect(),
        _ => Vec::new(),
    }
}
