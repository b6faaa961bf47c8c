//! A plan and its control plan, run in the simulation and judged.

use std::sync::Arc;

use super::simulate;
use crate::agent::SansIo;
use crate::checks::{Concurrency, judge};
use crate::run::Run;
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::Confidence;
use brickbat_scenario::verdict::{Judgement, Verdict};

/// Runs a plan under its own profile. `concurrency` is the result of its control plan, if that was run.
pub fn play<A: SansIo>(plan: &Arc<Plan>, agent: A, concurrency: Option<&Concurrency>) -> Run {
    simulate(plan, plan.profile_from(&[]), agent, concurrency.and_then(Concurrency::n_at_once))
}

/// Judges the run of [`play`].
pub fn assess(plan: &Plan, run: &Run, concurrency: Option<&Concurrency>) -> Judgement {
    judge(plan, run, plan.profile_from(&[]), Confidence::Observed, concurrency)
}

/// Runs a plan after its control plan, and judges both.
///
/// # Errors
///
/// Returns the judgement of the control plan if that does not pass. The plan then proves nothing.
pub fn judged<A: SansIo>(plan: &Plan, agent: impl Fn(&Plan) -> A) -> Result<Judgement, Box<Judgement>> {
    let control = Arc::new(lower::control(plan));
    let run = play(&control, agent(&control), None);
    let judgement = assess(&control, &run, None);
    if judgement.verdict != Verdict::Pass {
        return Err(Box::new(judgement));
    }
    let concurrency = Concurrency::of(&control, &run.trace);
    let plan = Arc::new(plan.clone());
    let run = play(&plan, agent(&plan), Some(&concurrency));
    Ok(assess(&plan, &run, Some(&concurrency)))
}
