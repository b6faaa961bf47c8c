//! The built-in suite, in process: the reference agent passes, and each canary is caught.

use std::sync::Arc;

use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::checks::CHECKS;
use brickbat_engine::flaws::Canary;
use brickbat_engine::simulate;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::verdict::{Judgement, Verdict};

use crate::plans;

fn built_in() -> Vec<Plan> {
    plans::built_in().into_iter().flat_map(|(_, plans)| plans).collect()
}

/// Never silently green: this lists the plans of the suite that a dialect cannot play, with the reason.
#[test]
fn some_plans_are_impossible_in_some_dialects() {
    let all: Vec<Plan> = plans::lowered().into_iter().flat_map(|(_, plans)| plans).collect();
    let told = all.iter().filter_map(|plan| Some(format!("{}: {}", plan.id, plan.impossible.as_ref()?)));
    insta::assert_snapshot!(told.collect::<Vec<String>>().join("\n"));
}

fn run(plan: &Plan, canary: Option<Canary>) -> Judgement {
    let judged = simulate::judged(plan, |plan| Agent::of_plan(plan, Delivery::Streamed, canary));
    judged.unwrap_or_else(|control| panic!("{canary:?} on the control plan of {}: {control:#?}", plan.id))
}

#[test]
fn the_reference_agent_is_accused_of_nothing() {
    for plan in built_in() {
        let judgement = run(&plan, None);
        assert_eq!(judgement.verdict, Verdict::Pass, "{}: {:#?}", plan.id, judgement);
    }
}

#[test]
fn a_plan_with_thinking_is_not_judged_if_no_request_asks_for_it() {
    let plans = built_in().into_iter().filter(|plan| plan.id.scenario == "thinking/plain-batch");
    let verdict = |plan: Plan| {
        let plan = Arc::new(plan);
        let agent = Agent::reference(plan.dialect, Delivery::Streamed, &plan.tools);
        simulate::assess(&plan, &simulate::play(&plan, agent, None), None).verdict
    };
    let verdicts: Vec<Verdict> = plans.map(verdict).collect();
    assert_eq!(verdicts, [Verdict::HarnessError; 4]);
}

#[test]
fn each_canary_is_caught_on_every_dialect_by_the_checker_meant_for_it() {
    let plans = built_in();
    let mut survivors = Vec::new();
    for canary in Canary::all() {
        for dialect in Dialect::ALL.into_iter().filter(|dialect| canary.senseless_in(*dialect).is_none()) {
            let is_caught = |plan: &&Plan| {
                let judgement = run(plan, Some(canary));
                let meant = judgement.findings.iter().any(|finding| finding.check == canary.caught_by());
                judgement.verdict == Verdict::Fail && meant
            };
            let of_dialect = || plans.iter().filter(|plan| plan.dialect == dialect);
            // Its own scenarios first, so that few plans have to be run.
            let (own, others): (Vec<&Plan>, Vec<&Plan>) = of_dialect().partition(|plan| is_of(plan, canary));
            if !own.into_iter().chain(others).any(|plan| is_caught(&plan)) {
                survivors.push(format!("{} in {dialect}", canary.name()));
            }
        }
    }
    assert!(survivors.is_empty(), "{survivors:#?}");
}

/// Otherwise a check could be removed without any planted bug surviving.
#[test]
fn each_checker_alone_catches_some_canary() {
    let plans = built_in();
    let mut idle = Vec::new();
    for check in CHECKS {
        let catches_alone = |canary: Canary, plan: &Plan| {
            let judgement = run(plan, Some(canary));
            let mut findings = judgement.findings.iter().peekable();
            judgement.verdict == Verdict::Fail
                && findings.peek().is_some()
                && findings.all(|finding| finding.check == check.id)
        };
        let meant = || Canary::all().filter(|canary| canary.caught_by() == check.id);
        let of = |canary: Canary, is_own: bool| {
            let possible = plans.iter().filter(move |plan| canary.senseless_in(plan.dialect).is_none());
            possible.filter(move |plan| is_of(plan, canary) == is_own).map(move |plan| (canary, plan))
        };
        let own = meant().flat_map(|canary| of(canary, true));
        let mut tried = own.chain(meant().flat_map(|canary| of(canary, false)));
        if !tried.any(|(canary, plan)| catches_alone(canary, plan)) {
            idle.push(check.id);
        }
    }
    assert_eq!(idle, [""; 0]);
}

/// True if the scenario of a plan belongs to the class of a canary.
fn is_of(plan: &Plan, canary: Canary) -> bool {
    canary.class().is_some_and(|class| plan.classes.iter().any(|own| own == class))
}

/// In a dialect in which a planted bug cannot show, its checker finds nothing, whatever else the agent does
/// differently.
#[test]
fn a_canary_that_cannot_show_in_a_dialect_is_not_caught_there() {
    let plans = built_in();
    let mut n_judged = 0;
    for canary in Canary::all() {
        let silent = |plan: &&Plan| canary.senseless_in(plan.dialect).is_some() && is_of(plan, canary);
        for plan in plans.iter().filter(silent) {
            let judgement = run(plan, Some(canary));
            let meant = judgement.findings.iter().find(|finding| finding.check == canary.caught_by());
            assert_eq!(meant, None, "{} on {}", canary.name(), plan.id);
            n_judged += 1;
        }
    }
    assert!(n_judged > 0);
}
