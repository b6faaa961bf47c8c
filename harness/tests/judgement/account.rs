//! The account of a run: the levels that a system reaches, the checks that ran, the faults that fired.

use std::sync::Arc;

use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::checks::{CHECKS, Concurrency, judge};
use brickbat_engine::flaws::Canary;
use brickbat_engine::simulate::simulate;
use brickbat_report::report::{Account, Case, Circumstances, EarlyEnd, Report, Shard};
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::{Confidence, Event};
use brickbat_scenario::verdict::{Level, Severity, Verdict};

use super::staging::{driven_for, plan};
use crate::plans::built_in;

/// The case of a plan on an agent.
fn case(plan: &Plan, canary: Option<Canary>) -> Case {
    let profile = Profile::newest(plan.dialect);
    let agent = |plan: &Plan| Agent::of_plan(plan, Delivery::Streamed, canary);
    let control = Arc::new(lower::control(plan));
    let concurrency = Concurrency::of(&control, &simulate(&control, profile, agent(&control), None).trace);
    let plan = Arc::new(plan.clone());
    let run = simulate(&plan, profile, agent(&plan), Some(concurrency.max_parallel_tools));
    let judgement = judge(&plan, &run, profile, Confidence::Observed, Some(&concurrency));
    Case::new("agent", &plan.id, judgement, run.receipts, String::new())
}

fn of_dialect(dialect: Dialect) -> Vec<Plan> {
    let plans = built_in().into_iter().flat_map(|(_, plans)| plans);
    plans.filter(|plan| plan.dialects() == [dialect]).collect()
}

fn account(plans: &[Plan], canary: Option<Canary>) -> Account {
    let cases = plans.iter().map(|plan| case(plan, canary)).collect();
    let report = Report::new(0, Vec::new(), cases);
    let [account] = report.accounts.as_slice() else { panic!("{:?}", report.accounts) };
    account.clone()
}

#[test]
fn the_reference_agent_reaches_every_level_and_each_checker_is_applicable() {
    let account = account(&of_dialect(Dialect::AnthropicMessages), None);
    let n_plans = account.plans["pass"];
    assert_eq!((account.n_expected, account.n_asked), (n_plans * CHECKS.len(), n_plans * CHECKS.len()));
    assert!(account.level == Some(Level::L5) && account.broken_by.is_empty(), "{account:?}");
    assert_eq!(account.silent().count(), 0, "{account:?}");
    let faults = account.faults;
    assert!(faults.armed > 0 && faults.fired == faults.armed && faults.observed == faults.armed);
}

/// Bugs that only one checker finds. Most belong to no class of failures; they prove that the checker works.
#[test]
fn a_bug_breaks_the_level_of_its_checker_and_no_lower_one() {
    let plans = of_dialect(Dialect::OpenaiChat);
    let bugs = [
        (crate::plans::canary("success-denied"), Level::L3),
        (crate::plans::canary("run-denied"), Level::L3),
        (crate::plans::canary("repair-drifts"), Level::L1),
        (crate::plans::canary("note-wanders"), Level::L4),
        (crate::plans::canary("stop-lingers"), Level::L1),
        (crate::plans::canary("shown-as-failed"), Level::L2),
        (crate::plans::canary("store-forgets"), Level::L2),
        (crate::plans::canary("pause-ignored"), Level::L4),
        (crate::plans::canary("refusal-retried"), Level::L4),
    ];
    for (canary, broken) in bugs {
        let account = account(&plans, Some(canary));
        let below = Level::ALL.into_iter().rfind(|level| *level < broken);
        assert_eq!(account.level, below, "{}: {account:#?}", canary.name());
        assert_eq!(account.broken_by, [canary.caught_by()], "{}", canary.name());
        assert!(plans.len() > account.plans["fail"], "{} is caught by every plan", canary.name());
    }
}

#[test]
fn a_level_of_which_a_check_was_never_applicable_is_not_reached() {
    let plain = plan("control/plain-batch", Dialect::OpenaiChat);
    let account = account(&[(*plain).clone()], None);
    let silent: Vec<&str> = account.silent().map(|check| check.check.as_str()).collect();
    for check in ["repair-stable", "pause-heeded", "consent-given"] {
        assert!(silent.contains(&check), "{silent:?}");
    }
    assert_eq!((account.level, account.broken_by.len()), (Some(Level::L0), 0));
    assert!(account.unasked.contains(&"repair-stable".to_owned()), "{account:?}");
}

#[test]
fn only_complete_requirements_have_a_level() {
    let plain = plan("control/plain-batch", Dialect::OpenaiChat);
    let report = |run| Report::new(0, Vec::new(), vec![case(&plain, None)]).of_run(run);
    let whole = || Circumstances { requirements: Some("2026-11".to_owned()), ..Circumstances::default() };
    assert!(report(whole()).accounts[0].level.is_some());
    let stopped = EarlyEnd { why: "timed out".to_owned(), confirms: true };
    let parts = [
        Circumstances::default(),
        Circumstances { shard: Shard::parse("1/2").ok(), ..whole() },
        Circumstances { stopped: Some(stopped), ..whole() },
    ];
    for part in parts {
        let report = report(part);
        assert!(report.accounts[0].level.is_none() && report.accounts[0].unasked.is_empty());
    }
}

#[test]
fn checks_outside_a_frozen_set_turn_nothing_red() {
    let plans = of_dialect(Dialect::OpenaiChat);
    let canary = crate::plans::canary("note-wanders");
    let cases = || plans.iter().map(|plan| case(plan, Some(canary)));
    assert_eq!(Report::new(0, Vec::new(), cases().collect()).exit_code(Severity::MILDEST), 1);
    let judged_by =
        |checks: &[String]| Report::new(0, Vec::new(), cases().map(|case| case.judged_by(checks)).collect());
    let checks =
        |but: &str| CHECKS.iter().map(|check| check.id.to_owned()).filter(|id| id != but).collect::<Vec<_>>();
    assert_eq!(judged_by(&checks("")).exit_code(Severity::MILDEST), 1);
    let held = judged_by(&checks(canary.caught_by()));
    assert_eq!(held.exit_code(Severity::MILDEST), 0);
    assert!(held.accounts[0].checks.iter().all(|check| check.check != canary.caught_by()));
}

#[test]
fn a_plan_on_which_a_check_did_not_run_is_exit_code_3() {
    let plain = plan("control/plain-batch", Dialect::OpenaiChat);
    let whole = || case(&plain, None);
    assert_eq!(Report::new(0, Vec::new(), vec![whole()]).exit_code(Severity::MILDEST), 0);
    let mut part = whole();
    part.asked.pop();
    assert_eq!(Report::new(0, Vec::new(), vec![whole(), part]).exit_code(Severity::MILDEST), 3);
}

#[test]
fn accounts_of_parts_add_up_to_that_of_the_complete_run() {
    let plans = of_dialect(Dialect::Mistral);
    let (first, second) = plans.split_at(plans.len() / 2);
    for canary in [None, Some(crate::plans::canary("note-wanders"))] {
        let mut sum = account(first, canary);
        sum.add(&account(second, canary));
        assert_eq!(sum, account(&plans, canary));
    }
}

/// An hour passes instantly, and the agent retries exactly when the header says.
#[test]
fn a_pause_of_an_hour_is_waited_for_in_virtual_time() {
    for dialect in Dialect::ALL {
        let mut plan = (*plan("retry/rate-limited", dialect)).clone();
        for action in plan.turns.iter_mut().flat_map(|turn| &mut turn.actions) {
            if let brickbat_scenario::action::Action::Http(fault) = &mut action.what {
                fault.retry_after_ms = 3_600_000;
            }
        }
        let plan = Arc::new(plan);
        let is_early = |event: &Event| matches!(event, Event::Early { .. });
        let patient = driven_for(&plan, None);
        assert_eq!(patient.0.verdict, Verdict::Pass, "{:?}", patient.0);
        assert!(!patient.1.trace.events().iter().any(is_early));
        let (hasty, run) = driven_for(&plan, Some(crate::plans::canary("pause-ignored")));
        assert_eq!(hasty.findings.iter().map(|finding| finding.check).collect::<Vec<_>>(), ["pause-heeded"]);
        assert!(run.trace.events().iter().any(is_early));
    }
}
