//! The identity of causes: one bug of a system is one cause, in every dialect and wherever it strikes.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::simulate::judged;
use brickbat_engine::triage::Signature;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::premise::Premise;
use brickbat_scenario::trigger::{CallState, Trigger};

use crate::plans::{built_in, canary};

/// The causes of rejections on a planted bug, in the plans of these scenarios, each with its dialects.
fn causes(bug: &str, scenarios: &[&str]) -> BTreeMap<Signature, BTreeSet<Dialect>> {
    let plans = built_in().into_iter().flat_map(|(_, plans)| plans);
    let is_named = |plan: &Plan| scenarios.iter().any(|name| plan.id.scenario == *name);
    let mut causes: BTreeMap<Signature, BTreeSet<Dialect>> = BTreeMap::new();
    for plan in plans.filter(|plan| plan.impossible.is_none() && is_named(plan)) {
        let judgement = judged(&plan, |plan| Agent::of_plan(plan, Delivery::Streamed, Some(canary(bug))));
        let findings = judgement.map(|judgement| judgement.findings).unwrap_or_default();
        for finding in findings.iter().filter(|finding| finding.rule.is_some()) {
            causes.entry(Signature::of(finding)).or_default().insert(plan.dialect);
        }
    }
    causes
}

fn circumstances(
    causes: &BTreeMap<Signature, BTreeSet<Dialect>>,
) -> BTreeSet<(Option<Trigger>, Option<CallState>)> {
    causes.keys().map(|cause| (cause.trigger, cause.calls)).collect()
}

#[test]
fn a_stop_that_leaves_calls_open_is_one_cause_in_every_dialect_and_at_every_point() {
    let causes =
        causes("dangling-on-abort", &["abort/mid-batch", "abort/second-batch", "abort/in-arguments"]);
    assert_eq!(causes.len(), 1, "{causes:#?}");
    let (cause, dialects) = causes.first_key_value().unwrap();
    assert_eq!((cause.trigger, cause.calls), (Some(Trigger::Stop), Some(CallState::Unanswered)));
    assert_eq!((cause.says.as_str(), cause.check.as_str()), ("unanswered-call", "thread-survives"));
    assert!(dialects.len() > 4, "{dialects:?}");
}

#[test]
fn a_broken_stream_is_one_trigger_in_whichever_way_it_breaks() {
    let faults = ["fault/reset-in-stream", "fault/eof-in-stream", "fault/error-event", "fault/end-early"];
    let found = causes("in-flight-dropped", &faults);
    assert!(!found.is_empty());
    let triggers: BTreeSet<Option<Trigger>> = found.keys().map(|cause| cause.trigger).collect();
    assert_eq!(triggers, BTreeSet::from([Some(Trigger::Stream)]), "{found:#?}");
}

#[test]
fn an_unusual_reply_of_the_model_is_the_trigger_where_nothing_interrupts() {
    let found = causes("length-dangles", &["model/greatest-length", "model/cut-arguments"]);
    assert!(!found.is_empty());
    assert!(circumstances(&found).iter().all(|(trigger, _)| *trigger == Some(Trigger::Model)), "{found:#?}");
}

/// The premises that the scenarios of a folder may have.
const PREMISES: [(&str, &[Premise]); 23] = [
    ("abort", &[Premise::User]),
    ("approval", &[Premise::User, Premise::Process]),
    ("client", &[Premise::User, Premise::Provider, Premise::Process]),
    (
        "compaction",
        &[
            Premise::User,
            Premise::Network,
            Premise::Provider,
            Premise::Process,
            Premise::Model,
            Premise::Gateway,
        ],
    ),
    ("control", &[Premise::User]),
    ("fault", &[Premise::Network, Premise::Provider, Premise::Tool, Premise::Gateway]),
    ("given", &[Premise::Tool, Premise::Process]),
    ("handoff", &[Premise::User, Premise::Provider, Premise::Process]),
    ("interrupt", &[Premise::Process]),
    ("kill", &[Premise::Process]),
    ("model", &[Premise::User, Premise::Process, Premise::Model, Premise::Gateway]),
    ("persist", &[Premise::User, Premise::Process]),
    ("reorder", &[Premise::User, Premise::Tool, Premise::Model, Premise::Gateway]),
    ("retry", &[Premise::Provider, Premise::Network]),
    ("server", &[Premise::User, Premise::Network, Premise::Provider, Premise::Process, Premise::Gateway]),
    ("steer", &[Premise::User, Premise::Process]),
    ("store", &[Premise::Process]),
    ("subagents", &[Premise::User, Premise::Process, Premise::Provider, Premise::Tool]),
    ("switch", &[Premise::User, Premise::Network, Premise::Provider, Premise::Gateway]),
    ("thinking", &[Premise::User, Premise::Network, Premise::Provider, Premise::Process, Premise::Gateway]),
    ("tools", &[Premise::User, Premise::Tool]),
    ("tools-changed", &[Premise::User, Premise::Process]),
    ("transform", &[Premise::User, Premise::Provider, Premise::Tool, Premise::Process]),
];

#[test]
fn every_scenario_has_a_premise_that_fits_its_folder() {
    for (name, plans) in built_in() {
        let folder = name.split('/').next().unwrap_or_default();
        let allowed = PREMISES.iter().find(|(known, _)| *known == folder);
        let (_, allowed) = allowed.unwrap_or_else(|| panic!("{name}: list the premises of its folder"));
        for plan in plans {
            assert!(allowed.contains(&plan.premise), "{}: {}", plan.id, plan.premise.name());
        }
    }
}
