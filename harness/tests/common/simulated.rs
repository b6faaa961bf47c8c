//! A scenario in the simulation, on the reference agent or on a planted bug.

use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::flaws::Canary;
use brickbat_engine::simulate;
use brickbat_engine::triage::Signature;
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::verdict::{Judgement, Verdict};
use brickbat_search::shrink::Setting;

/// The judgement of a plan, or of its control plan if that does not pass.
pub fn judged(plan: &Plan, canary: Option<Canary>) -> Judgement {
    let judged = simulate::judged(plan, |plan| Agent::of_plan(plan, Delivery::Streamed, canary));
    judged.unwrap_or_else(|control| *control)
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
