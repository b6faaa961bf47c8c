//! A system that counts tokens itself may compact a history with large results before the provider reports anything.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::sync::Arc;

use brickbat_engine::agent::Delivery;
use brickbat_engine::provider::{Headers, Provider, Request};
use brickbat_engine::run::Run;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::{Event, ExchangeId, RequestKind};
use brickbat_scenario::verdict::Verdict;
use brickbat_scenario::wire::thread::{Block, Message};
use brickbat_scenario::wire::{self, Searching, Thinking};

use super::staging::{asked, expect_failure, expect_unaccused, on_each, rebuilt, run};

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
