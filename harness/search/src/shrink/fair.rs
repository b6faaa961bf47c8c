//! Whether a scenario is fair: the reference agent passes it. One that it does not pass proves nothing about a system.

use std::sync::Arc;

use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::checks::{Reach, judge};
use brickbat_engine::run::Run;
use brickbat_engine::simulate::simulate;
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::Grade;
use brickbat_scenario::verdict::Verdict;

/// Plays the plan and its control plan in the simulation.
pub(super) fn is_fair(plan: Plan) -> bool {
    let control = Arc::new(lower::control(&plan));
    let shown = run(&control, None);
    if !passes(&control, &shown, None) {
        return false;
    }
    let reach = Reach::of(&control, &shown.trace);
    let plan = Arc::new(plan);
    passes(&plan, &run(&plan, Some(reach)), Some(&reach))
}

fn run(plan: &Arc<Plan>, reach: Option<Reach>) -> Run {
    let width = reach.map(|reach| reach.width).filter(|width| *width > 0);
    simulate(plan, plan.profile_from(&[]), Agent::of_plan(plan, Delivery::Streamed, None), width)
}

fn passes(plan: &Plan, run: &Run, reach: Option<&Reach>) -> bool {
    let profile = plan.profile_from(&[]);
    judge(plan, run, profile, Grade::Observed, reach).verdict == Verdict::Pass
}
