//! A system that counts tokens itself may compact a history with large results before the provider reports anything.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::sync::Arc;

use brickbat_engine::agent::Delivery;
use brickbat_engine::provider::{Headers, Provider, Request};
use brickbat_engine::run::Run;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::{Ending, Event, ExchangeId, RequestKind, Trace};
use brickbat_scenario::verdict::{Finding, Judgement, Verdict};
use brickbat_scenario::wire::thread::{Block, Message};
use brickbat_scenario::wire::{self, Searching, Thinking};

use super::staging::{asked, expect_failure, expect_unaccused, judged, on_each, rebuilt, run, run_canary};
use crate::plans::built_in;

fn control(scenario: &str) -> impl Iterator<Item = Arc<Plan>> {
    on_each(scenario).map(|plan| Arc::new(lower::control(&plan)))
}

/// The body of a request with these messages and without tools.
fn body(dialect: Dialect, thread: &[Message]) -> Vec<u8> {
    let wire = wire::of(dialect);
    let declared = wire.declared_tools(&[], Searching::Unoffered);
    wire.request_body(wire.current_model(), Delivery::Streamed, Thinking::Unasked, &declared, thread)
}

/// The prompt for a summary of the first two turns.
fn summary_prompt(plan: &Plan) -> Message {
    Message::User(format!("Summarise this: {} {}", plan.turns[0].user, plan.turns[1].user))
}

/// The thread at the beginning of the third turn or a later one. A summary replaces the first two turns.
fn compacted(plan: &Plan, turn: usize) -> Vec<Message> {
    let mut thread = vec![Message::User("They talked about two lists.".to_owned())];
    let mut said = "I see.".to_owned();
    for planned in &plan.turns[2..=turn] {
        thread.push(Message::Assistant(vec![Block::Text(said)]));
        thread.push(Message::User(planned.user.clone()));
        said = planned.replies[0].attempts[0].text();
    }
    thread
}

/// True if the provider recognises the compaction before the last turn, with or without a request for a summary.
fn is_recognised(plan: &Plan, asks: bool) -> bool {
    let mut provider = Provider::new(Arc::new(plan.clone()), plan.profile_from(&[]));
    provider.begin_turn(0);
    asked(&mut provider, plan, &[Message::User(plan.turns[0].user.clone())]);
    provider.begin_turn(2);
    if asks {
        let body = body(plan.dialect, &[summary_prompt(plan)]);
        let wire = wire::of(plan.dialect);
        let path = wire.post_path(wire.current_model(), Delivery::Streamed);
        let asked = Request { method: "POST", path: &path, headers: Headers::NONE, body: &body };
        assert_eq!(provider.answer(asked).0, RequestKind::Auxiliary, "{}", plan.id);
    }
    asked(&mut provider, plan, &compacted(plan, 2)).1.compacted
}

#[test]
fn the_provider_recognises_a_compaction_of_large_results_by_the_request_for_a_summary() {
    for plan in control("transform/overflowing-batch") {
        assert!(is_recognised(&plan, true), "{}", plan.id);
        assert!(!is_recognised(&plan, false), "{}", plan.id);
    }
    for plan in control("transform/overflow#r=1") {
        assert!(!is_recognised(&plan, true), "{}: its results are small", plan.id);
    }
}

/// The reference agent's run with a history that was compacted before the third turn, with or without a request for a summary.
fn compacting(plan: &Arc<Plan>, asks: bool) -> Run {
    rebuilt(&run(plan), |turn, event| {
        let Event::Requested { body: old, .. } = event else { return vec![event.clone()] };
        if turn < 2 {
            return vec![event.clone()];
        }
        let whole: serde_json::Value =
            serde_json::from_slice(&body(plan.dialect, &compacted(plan, turn))).unwrap();
        let mut new: serde_json::Value = serde_json::from_slice(old).unwrap();
        let list = ["input", "contents", "messages"].into_iter().find(|list| whole.get(list).is_some());
        new[list.unwrap()] = whole[list.unwrap()].clone();
        let mut told = event.clone();
        if let Event::Requested { body, compacted, .. } = &mut told {
            (*body, *compacted) = (new.to_string().into_bytes().into(), asks && turn == 2);
        }
        let prompt = body(plan.dialect, &[summary_prompt(plan)]);
        let summary =
            (asks && turn == 2).then(|| Event::requested(ExchangeId(99), RequestKind::Auxiliary, prompt));
        summary.into_iter().chain([told]).collect()
    })
}

#[test]
fn what_is_in_the_summary_is_not_lost() {
    for plan in control("transform/overflowing-batch") {
        expect_unaccused(&plan, &compacting(&plan, true), Verdict::Pass);
        let lost = |turn| format!("the user's message of turn {turn} is missing from the last request");
        expect_failure(&plan, &compacting(&plan, false), "user-message-kept", &[&lost(1), &lost(2)]);
    }
}

/// A run in which the harness records the end of each summary only after the next request.
fn recorded_late(run: &Run) -> Run {
    let is_summary = |event: &Event, of: ExchangeId| matches!(event, Event::Requested { exchange, summary: Some(_), .. } if *exchange == of);
    let is_late = |event: &Event| match event {
        Event::Replied { exchange, .. } => {
            run.trace.events().iter().any(|event| is_summary(event, *exchange))
        }
        _ => false,
    };
    let (mut trace, mut late) = (Trace::default(), Vec::new());
    for event in run.trace.events() {
        if is_late(event) {
            late.push(event.clone());
            continue;
        }
        trace.push(event.clone());
        if matches!(event, Event::Requested { .. }) {
            late.drain(..).for_each(|event| trace.push(event));
        }
    }
    late.drain(..).for_each(|event| trace.push(event));
    Run { trace, receipts: run.receipts.clone() }
}

fn with_actions_at_summaries() -> impl Iterator<Item = Arc<Plan>> {
    let plans = built_in().into_iter().flat_map(|(_, plans)| plans);
    plans.filter(Plan::has_compactions).map(Arc::new)
}

#[test]
fn a_client_may_be_faster_than_the_record_of_its_summary() {
    let mut n_late = 0;
    for plan in with_actions_at_summaries() {
        let run = run(&plan);
        let late = recorded_late(&run);
        n_late += usize::from(late.trace != run.trace);
        expect_unaccused(&plan, &late, judged(&plan, &run).verdict);
    }
    assert!(n_late > 100, "{n_late}");
}

#[test]
fn a_summary_that_must_not_be_taken_is_noticed_even_if_its_end_is_recorded_late() {
    for (canary, scenario) in [
        ("half-summary-taken", "compaction/cut-off"),
        ("empty-summary-taken", "compaction/poor-summary"),
        ("stopped-summary-taken", "compaction/stop-in-summary"),
    ] {
        let canary = crate::plans::canary(canary);
        let of_scenario = |plan: &Arc<Plan>| plan.id.to_string().starts_with(scenario);
        let mut plans = with_actions_at_summaries().filter(of_scenario).peekable();
        assert!(plans.peek().is_some(), "{scenario}");
        let is_caught = |plan: Arc<Plan>| {
            let judged = judged(&plan, &recorded_late(&run_canary(&plan, canary)));
            let mut all = judged.findings.iter().chain(&judged.application);
            all.any(|finding| finding.check == canary.caught_by())
        };
        assert!(plans.any(is_caught), "{scenario}");
    }
}

/// A run in which the user stops the turn during a summary, and the history is shorter in the next turn although the
/// system asks for no other summary.
fn shortened_after_a_stop(plan: &Arc<Plan>, arrives: bool) -> Run {
    let run = run(plan);
    let stopped = run.trace.events().iter().position(|event| *event == Event::Stopped).unwrap();
    let summaries = |events: &[Event]| -> Vec<ExchangeId> {
        let of = |event: &Event| match event {
            Event::Requested { exchange, summary: Some(_), .. } => Some(*exchange),
            _ => None,
        };
        events.iter().filter_map(of).collect()
    };
    let (before, after) = run.trace.events().split_at(stopped);
    let (stopped, later) = (summaries(before), summaries(after));
    rebuilt(&run, |_, event| match event {
        Event::Stopped if arrives => {
            let exchange = stopped[0];
            vec![Event::Stopped, Event::Replied { exchange, ending: Ending::Complete }]
        }
        Event::Requested { exchange, .. } if later.contains(exchange) => Vec::new(),
        Event::Replied { exchange, .. } | Event::PeerClosed { exchange }
            if stopped.contains(exchange) || later.contains(exchange) =>
        {
            Vec::new()
        }
        event => vec![event.clone()],
    })
}

#[test]
fn a_summary_that_arrives_in_spite_of_a_stop_may_replace_the_history_and_one_that_breaks_off_may_not() {
    for plan in on_each("compaction/stop#stop=abort") {
        let arrived = judged(&plan, &shortened_after_a_stop(&plan, true));
        let is_lost = |finding: &Finding| finding.check == "user-message-kept";
        let lost = |judged: &Judgement| judged.findings.iter().chain(&judged.application).any(is_lost);
        assert!(!lost(&arrived), "{arrived:#?}");
        let broken = judged(&plan, &shortened_after_a_stop(&plan, false));
        assert!(lost(&broken), "{}: {broken:#?}", plan.id);
    }
}
