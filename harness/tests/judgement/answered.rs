//! Calls that are neither run nor answered, and what the model and the user said, in each request.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::sync::Arc;

use brickbat_engine::run::Run;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::{Event, RequestKind, TurnOutcome};
use brickbat_scenario::verdict::{Severity, Verdict};
use serde_json::{Value, json};

use super::staging::{
    edited, expect_failure, expect_unaccused, judged, key, plan, rebuilt, run, with_body, with_first_outcome,
    words,
};

const DIALECT: Dialect = Dialect::OpenaiChat;

const DROPPED: &str =
    "calls b and c of a complete reply are never run, and the next request does not contain them";

/// The run of an agent that keeps only the first call of the batch.
fn without_calls(plan: &Plan, run: &Run) -> Run {
    let gone = ["b", "c"].map(|name| key(plan, name));
    let ids = gone.map(|key| plan.calls[key.0 as usize].id.as_str());
    let run = with_messages(run, |_, messages| {
        messages.retain(|message| !ids.contains(&message["tool_call_id"].as_str().unwrap_or_default()));
        for calls in messages.iter_mut().filter_map(|message| message.get_mut("tool_calls")) {
            calls.as_array_mut().unwrap().retain(|call| !ids.contains(&call["id"].as_str().unwrap()));
        }
    });
    rebuilt(&run, |_, event| match event {
        Event::ToolStarted { call: Some(call), .. } | Event::ToolSettled { call, .. }
            if gone.contains(call) =>
        {
            Vec::new()
        }
        Event::CallShown { id, .. } if ids.contains(&id.as_str()) => Vec::new(),
        event => vec![event.clone()],
    })
}

/// In a turn with a fault no other check compares the reply with the next request.
#[test]
fn a_call_that_is_neither_run_nor_answered_is_dropped() {
    for name in ["kill/in-second-step#p=text-1", "abort/in-second-step#p=text-1", "fault/pause#p=text-1"] {
        let plan = plan(name, DIALECT);
        let run = without_calls(&plan, &run(&plan));
        expect_failure(&plan, &run, "calls-answered", &[DROPPED]);
        let judgement = judged(&plan, &run);
        assert_eq!(judgement.findings[0].severity, Severity::CallDropped);
        assert!(name.starts_with("fault/") || judgement.findings.len() == 1, "{judgement:#?}");
    }
}

#[test]
fn a_later_error_does_not_excuse_a_dropped_call() {
    let plan = plan("fault/pause#p=text-1", DIALECT);
    let error = TurnOutcome::Raised { class: "Error".to_owned(), text: "boom".to_owned() };
    let run = with_first_outcome(&without_calls(&plan, &run(&plan)), error);
    expect_failure(&plan, &run, "calls-answered", &[DROPPED]);
}

#[test]
fn a_stop_or_a_kill_in_the_batch_drops_no_call() {
    for name in ["abort/mid-batch#k=1", "kill/mid-batch#k=1"] {
        let plan = plan(name, DIALECT);
        let judgement = judged(&plan, &without_calls(&plan, &run(&plan)));
        let found = judgement.findings.iter().filter(|finding| finding.check == "calls-answered");
        assert_eq!(found.count(), 0, "{name}: {judgement:#?}");
    }
}

/// The run with the messages of each request changed.
fn with_messages(run: &Run, change: impl Fn(usize, &mut Vec<Value>)) -> Run {
    rebuilt(run, |turn, event| match event {
        Event::Requested { body, kind, .. } if *kind != RequestKind::Auxiliary => {
            let mut body: Value = serde_json::from_slice(body).unwrap();
            change(turn, body["messages"].as_array_mut().unwrap());
            vec![with_body(event, body.to_string().into_bytes())]
        }
        event => vec![event.clone()],
    })
}

fn batch(dialect: Dialect) -> Arc<Plan> {
    plan("control/plain-batch", dialect)
}

#[test]
fn a_reminder_that_quotes_the_user_is_not_a_repetition() {
    let plan = batch(DIALECT);
    let said = plan.turns[0].user.trim();
    let with_note = |note: String| {
        with_messages(&run(&plan), |_, messages| messages.insert(1, words(DIALECT, "user", &note)))
    };
    expect_unaccused(
        &plan,
        &with_note(format!("<reminder>The user asked: {said}</reminder>")),
        Verdict::Pass,
    );
    let message = "the user's message of turn 1 is in the request 2 times, although it was said once";
    expect_failure(&plan, &with_note(said.to_owned()), "texts-once", &[message]);
}

#[test]
fn a_text_that_the_model_says_twice_is_not_a_repetition() {
    let last = "All three orders are here.";
    let plan = edited("control/plain-batch", &[("Let me look these up.", last)], DIALECT);
    let run = run(&plan);
    expect_unaccused(&plan, &run, Verdict::Pass);
    let once_more = with_messages(&run, |_, messages| {
        let is_last =
            |message: &&mut Value| message["content"] == last && message.get("tool_calls").is_none();
        messages
            .iter_mut()
            .filter(is_last)
            .for_each(|message| message["content"] = json!([last, last].concat()));
    });
    let message = "the model's text of turn 1 is in the request 3 times, although it was said 2 times";
    expect_failure(&plan, &once_more, "texts-once", &[message]);
}

const LOST: &str =
    "the model's text of turn 1 is missing or changed, although nothing went wrong in that turn";

fn drop_text_beside_calls(messages: &mut [Value]) {
    let with_calls = messages.iter_mut().filter(|message| message.get("tool_calls").is_some());
    with_calls.for_each(|message| message["content"] = json!(""));
}

#[test]
fn text_beside_calls_may_be_dropped_only_where_some_models_reject_it() {
    for dialect in [DIALECT, Dialect::Mistral] {
        let plan = batch(dialect);
        let dropped = with_messages(&run(&plan), |_, messages| drop_text_beside_calls(messages));
        match dialect {
            Dialect::Mistral => expect_unaccused(&plan, &dropped, Verdict::Pass),
            _ => expect_failure(&plan, &dropped, "healthy-untouched", &[LOST]),
        }
    }
}

#[test]
fn the_request_of_a_running_turn_contains_what_the_model_said_in_it() {
    let plan = batch(DIALECT);
    let late = with_messages(&run(&plan), |turn, messages| {
        if turn == 0 {
            drop_text_beside_calls(messages);
        }
    });
    expect_failure(&plan, &late, "healthy-untouched", &[LOST]);
    let judgement = judged(&plan, &late);
    let finding = judgement.findings.iter().find(|finding| finding.check == "healthy-untouched").unwrap();
    assert_eq!(finding.place, "turn 1 request 2");
}

/// The run in which the model's last words of the first turn are a message of the user.
fn said_by_the_user(plan: &Arc<Plan>, text: &str) -> Run {
    let last = "All three orders are here.";
    with_messages(&run(plan), |_, messages| {
        let is_last = |message: &&mut Value| message["content"] == last;
        messages.iter_mut().filter(is_last).for_each(|message| *message = words(DIALECT, "user", text));
    })
}

#[test]
fn words_of_the_model_that_are_sent_as_the_users_are_found() {
    let plan = batch(DIALECT);
    let message = "the model's text of turn 1 is sent as if the user had said it, although nothing went wrong in \
                   that turn";
    let run = said_by_the_user(&plan, "All three orders are here.");
    expect_failure(&plan, &run, "healthy-untouched", &[message]);
    // A system may retell the history in a message of the user.
    let retold = said_by_the_user(&plan, "Assistant: All three orders are here.");
    expect_unaccused(&plan, &retold, Verdict::Pass);
}

#[test]
fn the_users_last_message_comes_last() {
    let plan = batch(DIALECT);
    let moved = with_messages(&run(&plan), |turn, messages| {
        if turn > 0 {
            let prompt = messages.pop().unwrap();
            messages.insert(0, prompt);
        }
    });
    let message = "the user's message of turn 2 comes before what was said in turn 1";
    expect_failure(&plan, &moved, "order-kept", &[message]);
}
