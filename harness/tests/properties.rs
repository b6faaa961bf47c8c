//! The judgement, on any plan of the suite and any seed: the reference agent is accused of nothing, and no
//! run with evidence that was tampered with passes.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::checks::{CHECKS, Concurrency, judge};
use brickbat_engine::flaws::Canary;
use brickbat_engine::run::Run;
use brickbat_engine::simulate::simulate;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::action::Action;
use brickbat_scenario::lower;
use brickbat_scenario::plan::{Mark, Plan, PlannedAction, PlannedPoint};
use brickbat_scenario::scenario::Need;
use brickbat_scenario::trace::{Confidence, Event, RequestKind, Trace};
use brickbat_scenario::verdict::{Judgement, Verdict};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use crate::plans;

static BUILT_IN: LazyLock<Vec<Plan>> =
    LazyLock::new(|| plans::built_in().into_iter().flat_map(|(_, plans)| plans).collect());

/// The reference agent's run of a plan.
fn run(plan: &Plan, delivery: Delivery) -> Run {
    let agent = Agent::of_plan(plan, delivery, None);
    simulate(&Arc::new(plan.clone()), plan.profile_from(&[]), agent, None)
}

/// The result of the reference agent's control plan.
fn concurrency(plan: &Plan, delivery: Delivery) -> Concurrency {
    let control = lower::control(plan);
    Concurrency::of(&control, &run(&control, delivery).trace)
}

fn judged(plan: &Plan, run: &Run) -> Judgement {
    judge(plan, run, plan.profile_from(&[]), Confidence::Observed, None)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_reference_agent_is_accused_of_nothing_on_any_seed(at in any::<Index>(), seed in any::<u64>()) {
        let plan = with_seed(at.get(&BUILT_IN), seed);
        for delivery in [Delivery::Streamed, Delivery::Whole] {
            let first = run(&plan, delivery);
            prop_assert_eq!(&first, &run(&plan, delivery), "two runs differ");
            let profile = plan.profile_from(&[]);
            let judgement = judge(&plan, &first, profile, Confidence::Observed, Some(&concurrency(&plan, delivery)));
            prop_assert_eq!(&judgement.findings, &[], "{} {:?}", plan.id, delivery);
            // Without a stream there are no points inside a reply, so a fault at such a point must not count
            // as proven.
            let verdict = judgement.verdict;
            match delivery {
                Delivery::Streamed => prop_assert_eq!(verdict, Verdict::Pass, "{:?}", judgement.reason),
                Delivery::Whole if plan.needs.contains(&Need::Streaming) => {
                    let inside = |at: &PlannedPoint| {
                        matches!(at, PlannedPoint::Stream { mark, .. } if *mark != Mark::Headers)
                    };
                    let proven = first.receipts.iter().any(|receipt| receipt.fired && inside(&receipt.at));
                    prop_assert!(!proven && verdict != Verdict::Fail, "{}: {:?}", plan.id, judgement);
                }
                Delivery::Whole => prop_assert_eq!(verdict, Verdict::Pass, "{}: {:?}", plan.id, judgement),
            }
        }
    }
}

/// The same plan with other ids and markers.
fn with_seed(plan: &Plan, seed: u64) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("scenarios/{}.yaml", plan.id.scenario));
    let text = std::fs::read_to_string(&path).unwrap();
    let folder = path.parent().unwrap();
    let file_of = |file: &str| std::fs::read_to_string(folder.join(file));
    let (id, dialects) = (&plan.id.scenario, [plan.dialect]);
    let plans = lower::plans_with(id, "any", &text, &dialects, seed, &file_of).unwrap();
    plans.into_iter().find(|other| other.id == plan.id).unwrap()
}

#[test]
fn each_action_is_observed_at_its_planned_point() {
    for plan in BUILT_IN.iter() {
        for receipt in run(plan, Delivery::Streamed).receipts {
            assert!(receipt.fired, "{}: {}", plan.id, receipt.words);
            assert_eq!(receipt.grade, Some(Confidence::Observed), "{}: {}", plan.id, receipt.words);
        }
    }
}

#[test]
fn the_reference_agent_survives_a_kill_at_every_point() {
    let mut n_points = 0;
    for plan in BUILT_IN.iter().filter(|plan| plan.id.scenario.starts_with("control/")) {
        for at in crate::plans::points(plan, 0) {
            let mut killed = plan.clone();
            let words = format!("kill at {at:?}");
            killed.turns[0].actions = vec![PlannedAction { words, at, what: Action::Kill }];
            let run = run(&killed, Delivery::Streamed);
            let judgement = judged(&killed, &run);
            assert_eq!(
                judgement.verdict,
                Verdict::Pass,
                "{}: {judgement:#?}",
                killed.turns[0].actions[0].words
            );
            let n_lives = run.trace.events().iter().filter(|event| **event == Event::Resumed).count();
            assert_eq!(n_lives, 1, "{}", killed.turns[0].actions[0].words);
            n_points += 1;
        }
    }
    assert!(n_points > 200, "{n_points}");
}

#[test]
fn a_run_without_receipts_is_vacuous() {
    for plan in BUILT_IN.iter().filter(|plan| has_actions(plan)) {
        let mut unproven = run(plan, Delivery::Streamed);
        unproven.receipts.iter_mut().for_each(|receipt| receipt.fired = false);
        assert_eq!(judged(plan, &unproven).verdict, Verdict::Vacuous, "{}", plan.id);
    }
}

#[test]
fn a_receipt_of_a_write_is_not_enough_if_more_can_be_proven() {
    for plan in BUILT_IN.iter().filter(|plan| has_actions(plan)) {
        let mut weak = run(plan, Delivery::Streamed);
        weak.receipts.iter_mut().for_each(|receipt| receipt.grade = Some(Confidence::Written));
        let profile = plan.profile_from(&[]);
        assert_eq!(judged(plan, &weak).verdict, Verdict::Vacuous, "{}", plan.id);
        let judgement = judge(plan, &weak, profile, Confidence::Read, None);
        assert_eq!(judgement.verdict, Verdict::Vacuous, "{}", plan.id);
        let judgement = judge(plan, &weak, profile, Confidence::Written, None);
        assert_eq!(judgement.verdict, Verdict::Pass, "{}", plan.id);
    }
}

#[test]
fn one_missing_receipt_is_never_a_pass() {
    for plan in BUILT_IN.iter().filter(|plan| has_actions(plan)) {
        let whole = run(plan, Delivery::Streamed);
        for at in 0..whole.receipts.len() {
            let mut tampered = whole.clone();
            tampered.receipts[at].fired = false;
            assert_ne!(judged(plan, &tampered).verdict, Verdict::Pass, "{} without {at}", plan.id);
        }
    }
}

#[test]
fn a_result_that_is_gone_bricks_the_thread() {
    tamper("thread-survives", |dialect, body| take_a_result(dialect, body).then_some(REFUSED));
}

#[test]
fn a_result_with_another_text_is_lost() {
    tamper("results-kept", |dialect, body| reword_the_results(dialect, body).then_some(None));
}

#[test]
fn a_message_of_the_user_that_is_gone_is_lost() {
    tamper("user-message-kept", |dialect, body| reword_the_user(dialect, body).then_some(None));
}

#[test]
fn a_provider_that_misses_a_broken_rule_is_a_harness_error() {
    let mut n_plans = 0;
    for plan in BUILT_IN.iter().filter(|plan| plan.dialects().len() == 1) {
        let overlook = |body: &mut Value| take_a_result(plan.dialect, body).then_some(None);
        let Some(tampered) = with_last_request(&run(plan, Delivery::Streamed), overlook) else { continue };
        assert_eq!(judged(plan, &tampered).verdict, Verdict::HarnessError, "{}", plan.id);
        n_plans += 1;
    }
    assert!(n_plans >= ENOUGH, "{n_plans}");
}

#[test]
fn each_checker_has_a_canary_and_each_canary_a_checker() {
    let checkers: BTreeSet<&str> = CHECKS.iter().map(|check| check.id).collect();
    let caught: BTreeSet<&str> = Canary::all().map(|canary| canary.caught_by()).collect();
    assert_eq!(checkers, caught);
    assert_eq!(checkers.len(), CHECKS.len(), "two checkers of one name");
}

/// Plans that a tampering must have been possible on; the suite has far more.
const ENOUGH: usize = 30;

const REFUSED: Option<RequestKind> = Some(RequestKind::Refused { status: 400 });

fn has_actions(plan: &Plan) -> bool {
    plan.turns.iter().any(|turn| !turn.actions.is_empty())
}

/// Tampers with the last request of each plan's run, where `change` finds something to change, and expects a
/// failure with a finding of one checker. `change` returns another classification of the request by the
/// provider, if it has one.
fn tamper(expected: &str, change: impl Fn(Dialect, &mut Value) -> Option<Option<RequestKind>>) {
    let mut n_plans = 0;
    // Parts that were cut on purpose may be gone. So may unseen writes of a process that was killed.
    let is_asked = |plan: &&Plan| !changes_history(plan) && !plan.holds_saves();
    for plan in BUILT_IN.iter().filter(is_asked) {
        let run = run(plan, Delivery::Streamed);
        let Some(tampered) = with_last_request(&run, |body| change(plan.dialect, body)) else { continue };
        let judgement = judged(plan, &tampered);
        // In a thread that was broken from the start, another checker covers the same.
        let is_old = judgement.asked.iter().any(|asked| asked.check == "old-thread-heals" && asked.spoke);
        let expected = if is_old && expected == "thread-survives" { "old-thread-heals" } else { expected };
        let found = judgement.findings.iter().any(|finding| finding.check == expected);
        assert!(judgement.verdict == Verdict::Fail && found, "{}: {judgement:#?}", plan.id);
        n_plans += 1;
    }
    assert!(n_plans >= ENOUGH, "{n_plans}");
}

/// True if something is cut off or taken back on purpose, so that not everything has to be kept.
fn changes_history(plan: &Plan) -> bool {
    let mut actions = plan.turns.iter().flat_map(|turn| &turn.actions);
    plan.window.is_some()
        || actions.any(|action| action.what.changes_history() || action.what.fills_context())
}

fn with_last_request(
    run: &Run,
    change: impl FnOnce(&mut Value) -> Option<Option<RequestKind>>,
) -> Option<Run> {
    let mut events = run.trace.events().to_vec();
    let last = events.iter_mut().rev().find_map(|event| match event {
        Event::Requested { kind, body, .. } => Some((kind, body)),
        _ => None,
    });
    let (kind, body) = last?;
    let mut changed: Value = serde_json::from_slice(body).unwrap();
    if let Some(instead) = change(&mut changed)? {
        *kind = instead;
    }
    *body = changed.to_string().into_bytes().into();
    let mut trace = Trace::default();
    events.into_iter().for_each(|event| trace.push(event));
    Some(Run { trace, receipts: run.receipts.clone() })
}

/// The messages, items or contents of a body.
fn conversation(dialect: Dialect, body: &mut Value) -> &mut Vec<Value> {
    body[brickbat_rules::list_of(dialect)].as_array_mut().unwrap()
}

/// The place of the results: in messages of their own, or in blocks of messages.
enum Results {
    /// Messages with this value in this field.
    Messages(&'static str, &'static str),
    /// Blocks in this field of messages that have this second field, with this value if one is given.
    Blocks(&'static str, &'static str, Option<&'static str>),
}

impl Results {
    fn of(dialect: Dialect) -> Results {
        match dialect {
            Dialect::AnthropicMessages => Results::Blocks("content", "type", Some("tool_result")),
            Dialect::OpenaiChat | Dialect::Mistral => Results::Messages("role", "tool"),
            Dialect::OpenaiResponses => Results::Messages("type", "function_call_output"),
            Dialect::Gemini => Results::Blocks("parts", "functionResponse", None),
            Dialect::BedrockConverse => Results::Blocks("content", "toolResult", None),
        }
    }
}

fn is_result(block: &Value, field: &str, value: Option<&str>) -> bool {
    value.map_or(!block[field].is_null(), |value| block[field] == value)
}

/// Removes the first result; its siblings stay.
fn take_a_result(dialect: Dialect, body: &mut Value) -> bool {
    let messages = conversation(dialect, body);
    match Results::of(dialect) {
        Results::Messages(field, value) => {
            let at = messages.iter().position(|message| message[field] == value);
            at.map(|at| messages.remove(at)).is_some()
        }
        Results::Blocks(content, field, value) => {
            let is_result = |block: &Value| is_result(block, field, value);
            let mut blocks = messages.iter_mut().filter_map(|message| message[content].as_array_mut());
            let batch = blocks.find(|blocks| blocks.iter().filter(|block| is_result(block)).count() > 1);
            batch.is_some_and(|blocks| {
                let at = blocks.iter().position(is_result);
                at.map(|at| blocks.remove(at)).is_some()
            })
        }
    }
}

/// Replaces the text of every result that succeeded.
fn reword_the_results(dialect: Dialect, body: &mut Value) -> bool {
    let messages = conversation(dialect, body);
    let results: Vec<&mut Value> = match Results::of(dialect) {
        Results::Messages(field, value) => {
            messages.iter_mut().filter(|message| message[field] == value).collect()
        }
        Results::Blocks(content, field, value) => messages
            .iter_mut()
            .filter_map(|message| message[content].as_array_mut())
            .flatten()
            .filter(|block| is_result(block, field, value))
            .collect(),
    };
    let mut reworded = false;
    for result in results {
        if result.to_string().contains("found ") {
            let words = json!("nothing, sorry");
            match dialect {
                Dialect::Gemini => result["functionResponse"]["response"] = json!({ "output": words }),
                Dialect::BedrockConverse => result["toolResult"]["content"] = json!([{ "text": words }]),
                Dialect::OpenaiResponses => result["output"] = words,
                _ => result["content"] = words,
            }
            reworded = true;
        }
    }
    reworded
}

/// Replaces the text of the user's first message.
fn reword_the_user(dialect: Dialect, body: &mut Value) -> bool {
    let mut messages = conversation(dialect, body).iter_mut();
    let first = messages.find(|message| message["role"] == "user");
    let said = |message: &mut Value| match dialect {
        Dialect::Gemini => message["parts"] = json!([{ "text": "Hello." }]),
        Dialect::BedrockConverse => message["content"] = json!([{ "text": "Hello." }]),
        _ => message["content"] = "Hello.".into(),
    };
    first.map(said).is_some()
}
