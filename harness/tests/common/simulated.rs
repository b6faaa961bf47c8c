//! A scenario in the simulation, on the reference agent or on a planted bug.

use brickbat::agent::{Agent, Delivery};
use brickbat::flaws::Canary;
use brickbat::lower;
use brickbat::plan::Plan;
use brickbat::scenario::Scenario;
use brickbat::shrink::Setting;
use brickbat::simulate;
use brickbat::triage::Signature;
use brickbat::verdict::{Judgement, Verdict};

/// The judgement of a plan, or of its control plan if that does not pass.
pub fn judged(plan: &Plan, canary: Option<Canary>) -> Judgement {
    let judged = simulate::judged(plan, |plan| Agent::of_plan(plan, Delivery::Streamed, canary));
    judged.unwrap_or_else(|control| control)
}

/// The causes for which a scenario fails; empty if it passes or cannot be played.
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
