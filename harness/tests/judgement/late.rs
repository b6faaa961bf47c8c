//! A provider that does everything one frame late: no plan may take that for the fault that was planned.

use std::sync::Arc;

use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::checks::{Concurrency, judge};
use brickbat_engine::provider::Provider;
use brickbat_engine::simulate::{simulate, simulate_on};
use brickbat_scenario::action::Action;
use brickbat_scenario::lower;
use brickbat_scenario::plan::{BoundAction, Plan, PlannedPoint};
use brickbat_scenario::trace::Confidence;
use brickbat_scenario::verdict::Verdict;

use crate::plans::built_in;

/// True if everything in a plan happens in streams, where a place can be missed by a frame.
fn is_of_streams(plan: &Plan) -> bool {
    let actions = || plan.turns.iter().flat_map(|turn| &turn.actions);
    let in_stream = |at: &PlannedPoint| matches!(at, PlannedPoint::Stream { .. });
    let adds = |what: &BoundAction| {
        matches!(what, Action::Duplicate | Action::Malformed | Action::Http(_) | Action::Tokens(_))
    };
    actions().next().is_some() && actions().all(|action| in_stream(&action.at) && !adds(&action.what))
}

#[test]
fn a_fault_that_fires_one_frame_late_proves_nothing() {
    let mut n_plans = 0;
    let plans = built_in().into_iter().flat_map(|(_, plans)| plans).filter(is_of_streams);
    for plan in plans {
        let profile = plan.profile_from(&[]);
        let agent = |plan: &Plan| Agent::of_plan(plan, Delivery::Streamed, None);
        let control = Arc::new(lower::control(&plan));
        let concurrency =
            Concurrency::of(&control, &simulate(&control, profile, agent(&control), None).trace);
        let plan = Arc::new(plan);
        let late = Provider::new(Arc::clone(&plan), profile).firing_late();
        let run = simulate_on(late, &plan, agent(&plan), Some(concurrency.max_parallel_tools));
        let judgement = judge(&plan, &run, profile, Confidence::Observed, Some(&concurrency));
        assert_eq!(judgement.verdict, Verdict::Vacuous, "{}: {:#?}", plan.id, run.receipts);
        n_plans += 1;
    }
    assert!(n_plans > 300, "{n_plans}");
}
