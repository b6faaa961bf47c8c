//! Staged runs: the reference agent's, with one change.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::path::Path;
use std::sync::{Arc, OnceLock};

use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::checks::{Concurrency, judge};
use brickbat_engine::flaws::Canary;
use brickbat_engine::provider::{Answer, Headers, Provider, Request};
use brickbat_engine::run::Run;
use brickbat_engine::simulate::simulate;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower;
use brickbat_scenario::plan::{CallKey, Plan};
use brickbat_scenario::trace::{Confidence, Event, RequestKind, Trace, TurnOutcome};
use brickbat_scenario::verdict::{Judgement, Verdict};
use brickbat_scenario::wire::thread::Message;
use brickbat_scenario::wire::{self, OfferedTool, Searching, Thinking};
use serde_json::{Value, json};

use crate::plans::built_in;

/// The result of the reference agent's control plan.
pub const CONCURRENCY: Concurrency = Concurrency { max_parallel_tools: 3, eager: true, is_refused: false };

/// A plan of the built-in suite: its scenario, with the variant if there is one.
pub fn plan(name: &str, dialect: Dialect) -> Arc<Plan> {
    found(name, dialect).unwrap_or_else(|| panic!("there is no plan {name}@{dialect}"))
}

fn found(name: &str, dialect: Dialect) -> Option<Arc<Plan>> {
    static PLANS: OnceLock<Vec<Arc<Plan>>> = OnceLock::new();
    let all = || built_in().into_iter().flat_map(|(_, plans)| plans).map(Arc::new).collect();
    let id = format!("{name}@{dialect}");
    PLANS.get_or_init(all).iter().find(|plan| plan.id.to_string() == id).cloned()
}

/// The same plan on every dialect that can express it.
pub fn on_each(name: &str) -> impl Iterator<Item = Arc<Plan>> {
    let all: Vec<Arc<Plan>> = Dialect::ALL.into_iter().filter_map(|dialect| found(name, dialect)).collect();
    assert!(!all.is_empty(), "there is no plan {name}");
    all.into_iter()
}

/// The plan of a built-in scenario with a changed text.
pub fn edited(scenario: &str, edits: &[(&str, &str)], dialect: Dialect) -> Arc<Plan> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("scenarios/{scenario}.yaml"));
    let text = std::fs::read_to_string(file).unwrap();
    let text = edits.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{scenario} does not say {from}");
        text.replace(from, to)
    });
    let mut plans = lower::plans(scenario, scenario, &text, &[dialect], 0).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(plans.len(), 1, "{scenario} still varies");
    Arc::new(plans.remove(0))
}

/// The reference agent's run of a plan.
pub fn run(plan: &Arc<Plan>) -> Run {
    driven(plan, None, Delivery::Streamed)
}

/// A canary's run of a plan.
pub fn run_canary(plan: &Arc<Plan>, canary: Canary) -> Run {
    driven(plan, Some(canary), Delivery::Streamed)
}

/// The reference agent's run of a plan, with replies in one piece.
pub fn run_whole(plan: &Arc<Plan>) -> Run {
    driven(plan, None, Delivery::Whole)
}

/// A run of the plan on an agent, with or without a planted bug, and its judgement.
pub fn driven_for(plan: &Arc<Plan>, canary: Option<Canary>) -> (Judgement, Run) {
    let run = driven(plan, canary, Delivery::Streamed);
    (judged(plan, &run), run)
}

fn driven(plan: &Arc<Plan>, canary: Option<Canary>, delivery: Delivery) -> Run {
    let agent = Agent::of_plan(plan, delivery, canary);
    simulate(plan, plan.profile_from(&[]), agent, Some(CONCURRENCY.max_parallel_tools))
}

/// The provider's answer to a client that sends this thread and offers the plan's tools.
pub fn asked(provider: &mut Provider, plan: &Plan, thread: &[Message]) -> (RequestKind, Answer) {
    let wire = wire::of(plan.dialect);
    let schema = json!({ "type": "object" });
    let offered = plan.tools.iter().map(|tool| OfferedTool {
        name: &tool.name,
        description: "a tool",
        input_schema: &schema,
    });
    let declared = wire.declared_tools(&offered.collect::<Vec<_>>(), Searching::Unoffered);
    let model = wire.current_model();
    let body = wire.request_body(model, Delivery::Streamed, Thinking::Unasked, &declared, thread);
    let path = wire.post_path(model, Delivery::Streamed);
    provider.answer(Request { method: "POST", path: &path, headers: Headers::NONE, body: &body })
}

/// The run with each event replaced by those that `change` returns for it and its turn.
pub fn rebuilt(run: &Run, change: impl Fn(usize, &Event) -> Vec<Event>) -> Run {
    let mut trace = Trace::default();
    for (turn, event) in run.trace.by_turn() {
        change(turn, event).into_iter().for_each(|event| trace.push(event));
    }
    assert!(trace != run.trace, "the change changes nothing");
    Run { trace, receipts: run.receipts.clone() }
}

/// The run without some of its events.
pub fn without(run: &Run, is_gone: impl Fn(usize, &Event) -> bool) -> Run {
    rebuilt(run, |turn, event| if is_gone(turn, event) { Vec::new() } else { vec![event.clone()] })
}

/// The request with another body, in which nothing is compacted.
pub fn with_body(event: &Event, new: Vec<u8>) -> Event {
    let mut event = event.clone();
    if let Event::Requested { body, compacted, .. } = &mut event {
        (*body, *compacted) = (new.into(), false);
    }
    event
}

/// The run with each request's body changed.
pub fn with_bodies(run: &Run, change: impl Fn(&str) -> String) -> Run {
    rebuilt(run, |_, event| match event {
        Event::Requested { body, .. } => {
            vec![with_body(event, change(std::str::from_utf8(body).unwrap()).into_bytes())]
        }
        event => vec![event.clone()],
    })
}

/// The run with other messages in the requests of later turns, which may count as another kind of request.
pub fn with_later_messages(
    run: &Run,
    retaken: Option<RequestKind>,
    messages: impl Fn(usize) -> Vec<Value>,
) -> Run {
    rebuilt(run, |turn, event| match event {
        Event::Requested { exchange, kind, head, body, .. } if turn > 0 => {
            let mut body: Value = serde_json::from_slice(body).unwrap();
            let list = ["input", "contents"].into_iter().find(|list| body.get(list).is_some());
            let list = list.unwrap_or("messages");
            body[list] = json!(messages(turn));
            if retaken.is_some() {
                body.as_object_mut().unwrap().remove("tools");
            }
            let (exchange, kind) = (*exchange, retaken.unwrap_or(*kind));
            let (head, body) = (head.clone(), body.to_string().into_bytes().into());
            vec![Event::Requested { exchange, kind, head, compacted: false, summary: None, body }]
        }
        event => vec![event.clone()],
    })
}

/// The field of a body that contains the conversation.
pub fn list_of(dialect: Dialect) -> &'static str {
    brickbat_rules::list_of(dialect)
}

/// A message with only text. `role` is `user` or `assistant`.
pub fn words(dialect: Dialect, role: &str, text: &str) -> Value {
    match (dialect, role) {
        (Dialect::Gemini, "assistant") => json!({ "role": "model", "parts": [{ "text": text }] }),
        (Dialect::Gemini, role) => json!({ "role": role, "parts": [{ "text": text }] }),
        (Dialect::BedrockConverse, role) => json!({ "role": role, "content": [{ "text": text }] }),
        (_, role) => json!({ "role": role, "content": text }),
    }
}

/// The run with another end of its first turn.
pub fn with_first_outcome(run: &Run, outcome: TurnOutcome) -> Run {
    rebuilt(run, |turn, event| match event {
        Event::TurnEnded { .. } if turn == 0 => vec![Event::TurnEnded { outcome: outcome.clone() }],
        event => vec![event.clone()],
    })
}

/// The run in which a system sends an id of its own for each call.
pub fn with_own_ids(plan: &Plan, run: &Run) -> Run {
    let own =
        |text: String, (n, id): (usize, &str)| text.replace(id, &format!("{}own{n}", &id[..id.len() - 4]));
    let ids = || plan.calls.iter().map(|call| call.id.as_str()).enumerate();
    with_bodies(run, |body| ids().fold(body.to_owned(), own))
}

/// The run of a system that returns at once, whatever the user sends.
pub fn dead(plan: &Plan) -> Run {
    let mut trace = Trace::default();
    for turn in 0..plan.turns.len() {
        trace.push(Event::Prompted { turn });
        trace.push(Event::TurnEnded { outcome: TurnOutcome::Returned });
    }
    Run { trace, receipts: Vec::new() }
}

/// An error as an SDK raises it.
pub fn raised() -> TurnOutcome {
    TurnOutcome::Raised { class: "TypeError".to_owned(), text: "boom".to_owned() }
}

/// The index in the plan of the call with that name.
pub fn key(plan: &Plan, name: &str) -> CallKey {
    let at = plan.calls.iter().position(|call| call.name == name);
    CallKey(at.unwrap_or_else(|| panic!("there is no call {name}")) as u32)
}

/// The judgement of a run of a system with the abilities of the reference agent.
pub fn judged(plan: &Plan, run: &Run) -> Judgement {
    judged_within(plan, run, CONCURRENCY)
}

/// The judgement of a run of a system with these abilities.
pub fn judged_within(plan: &Plan, run: &Run, concurrency: Concurrency) -> Judgement {
    judge(plan, run, plan.profile_from(&[]), Confidence::Observed, Some(&concurrency))
}

/// Expects this verdict on the run, and no findings.
pub fn expect_unaccused(plan: &Plan, run: &Run, verdict: Verdict) {
    let judgement = judged(plan, run);
    assert_eq!(judgement.verdict, verdict, "{}: {judgement:#?}", plan.id);
    assert!(judgement.findings.is_empty(), "{}: {judgement:#?}", plan.id);
}

/// Expects that the run fails, with a finding of that checker for each of the messages.
pub fn expect_failure(plan: &Plan, run: &Run, check: &str, messages: &[&str]) {
    let judgement = judged(plan, run);
    assert_eq!(judgement.verdict, Verdict::Fail, "{}: {judgement:#?}", plan.id);
    let found = judgement.findings.iter().filter(|finding| finding.check == check);
    let found: Vec<&str> = found.map(|finding| finding.message.as_str()).collect();
    assert_eq!(found, messages, "{}: {judgement:#?}", plan.id);
}

/// Expects a harness error: no verdict on the system, and a reason that contains each of the texts.
pub fn expect_harness_error(plan: &Plan, run: &Run, texts: &[&str]) {
    let judgement = judged(plan, run);
    assert_eq!(judgement.verdict, Verdict::HarnessError, "{}: {judgement:#?}", plan.id);
    assert!(judgement.findings.is_empty(), "{}: {judgement:#?}", plan.id);
    let reason = judgement.reason.unwrap_or_default();
    texts.iter().for_each(|text| assert!(reason.contains(text), "{}: {reason}", plan.id));
}
