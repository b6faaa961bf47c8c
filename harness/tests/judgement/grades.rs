//! Grades that mean what they say: what is bricked stays so, and arguments are held against those that the model gave.

use std::sync::Arc;

use brickbat::dialect::Dialect;
use brickbat::plan::Plan;
use brickbat::run::Run;
use brickbat::trace::{Event, RequestKind, TurnOutcome};
use brickbat::verdict::{Finding, Permanence, Severity, Verdict};
use serde_json::{Value, json};

use super::staging::*;

/// What `thread-survives` finds, and nothing else is found.
fn survival(plan: &Plan, run: &Run) -> Finding {
    let judgement = judged(plan, run);
    let [finding] = judgement.findings.as_slice() else { panic!("{}: {judgement:#?}", plan.id) };
    assert_eq!(finding.check, "thread-survives", "{finding:#?}");
    finding.clone()
}

/// The run with an error at the end of some turns.
fn raising(run: &Run, is_bad: impl Fn(usize) -> bool) -> Run {
    rebuilt(run, |turn, event| match event {
        Event::TurnEnded { .. } if is_bad(turn) => vec![Event::TurnEnded { outcome: raised() }],
        event => vec![event.clone()],
    })
}

#[test]
fn a_turn_that_fails_bricks_the_thread_only_if_the_last_one_fails_too() {
    for plan in on_each("control/plain-batch") {
        let failed = survival(&plan, &raising(&run(&plan), |turn| turn == 0));
        assert_eq!((failed.harm, failed.permanence), (Severity::TurnFailed, Some(Permanence::Transient)));
        let bricked = survival(&plan, &raising(&run(&plan), |_| true));
        assert_eq!(
            (bricked.harm, bricked.permanence),
            (Severity::BrickedByClient, Some(Permanence::Permanent))
        );
    }
}

#[test]
fn a_refused_request_bricks_the_thread_only_if_the_last_one_is_refused_too() {
    let plan = plan("abort/mid-batch#k=1", Dialect::OpenaiChat);
    let refused = |is_refused: fn(usize) -> bool| {
        rebuilt(&run(&plan), move |turn, event| match event {
            Event::Requested { exchange, model, body, .. } if is_refused(turn) => {
                let mut body: Value = serde_json::from_slice(body).unwrap();
                let messages = body["messages"].as_array_mut().unwrap();
                messages.retain(|message| message["role"] != "tool");
                let (model, body) = (model.clone(), body.to_string().into_bytes().into());
                let kind = RequestKind::Refused { status: 400 };
                vec![Event::Requested { exchange: *exchange, kind, model, body }]
            }
            Event::TurnEnded { .. } if is_refused(turn) => vec![Event::TurnEnded { outcome: raised() }],
            event => vec![event.clone()],
        })
    };
    let worst = |run: &Run| {
        let found = judged(&plan, run).findings.into_iter().find(|it| it.check == "thread-survives");
        let found = found.unwrap();
        assert_eq!(found.rule, Some("openai-chat/tool-message-missing"), "{found:#?}");
        (found.harm, found.permanence)
    };
    let transient = worst(&refused(|turn| turn == 1));
    assert_eq!(transient, (Severity::TurnFailed, Some(Permanence::Transient)));
    let permanent = worst(&refused(|turn| turn > 0));
    assert_eq!(permanent, (Severity::BrickedByProvider, Some(Permanence::Permanent)));
}

/// Some SDKs let what a tool throws end the turn, and say so; others raise where the model's output is broken.
#[test]
fn an_error_in_the_turn_that_has_a_reason_for_it_is_no_finding_if_the_thread_goes_on() {
    let names = [
        "fault/tool-throw",
        "tools/throw-without-words",
        "model/unknown-tool",
        "model/same-id#of=b",
        "model/arguments-not-object#raw=[]",
    ];
    for plan in names.into_iter().flat_map(on_each) {
        let wrong_turn = if plan.id.scenario == "model/same-id" { 1 } else { 0 };
        let once = raising(&run(&plan), |turn| turn == wrong_turn);
        expect_unaccused(&plan, &once, Verdict::Pass);
        let for_good = survival(&plan, &raising(&run(&plan), |turn| turn >= wrong_turn));
        assert_eq!(for_good.harm, Severity::BrickedByClient);
        assert_eq!(for_good.place, format!("turn {}", wrong_turn + 2));
        let given_up = rebuilt(&run(&plan), |turn, event| match event {
            Event::TurnEnded { .. } if turn == wrong_turn => {
                vec![Event::TurnEnded { outcome: TurnOutcome::Cancelled }]
            }
            event => vec![event.clone()],
        });
        assert_eq!(survival(&plan, &given_up).harm, Severity::TurnFailed, "nobody has stopped it");
    }
}

#[test]
fn a_call_that_never_runs_is_no_brick() {
    for plan in on_each("fault/pause#p=text-1") {
        let idle =
            without(&run(&plan), |turn, event| turn == 0 && matches!(event, Event::ToolSettled { .. }));
        let judgement = judged(&plan, &idle);
        let found = judgement.findings.iter().find(|finding| finding.check == "thread-survives").unwrap();
        assert_eq!((found.harm, found.message.as_str()), (Severity::TurnFailed, "call a never ran to its end"));
    }
}

/// Where the call is not even in the history, that is what is said.
#[test]
fn a_call_that_never_runs_because_it_was_dropped_is_reported_once() {
    let plan = plan("control/plain-batch", Dialect::OpenaiChat);
    let last = plan.turns[0].replies[0].attempts[0].calls().last().unwrap();
    let id = plan.calls[last.0 as usize].id.clone();
    let dropped = with_bodies(&run(&plan), |body| {
        let mut body: Value = serde_json::from_str(body).unwrap();
        let messages = body["messages"].as_array_mut().unwrap();
        messages.retain(|message| message["tool_call_id"] != json!(id));
        for message in messages.iter_mut().filter_map(|message| message["tool_calls"].as_array_mut()) {
            message.retain(|call| call["id"] != json!(id));
        }
        body.to_string()
    });
    let idle = without(&dropped, |_, event| match event {
        Event::ToolStarted { call, .. } => *call == Some(last),
        Event::ToolSettled { call, .. } => *call == last,
        Event::CallShown { id: shown, .. } => *shown == id,
        _ => false,
    });
    let judgement = judged(&plan, &idle);
    let [finding] = judgement.findings.as_slice() else { panic!("{judgement:#?}") };
    assert_eq!((finding.check, finding.harm), ("healthy-untouched", Severity::HistoryAltered));
}

/// The run of a system that runs a tool with these arguments.
fn running_with(plan: &Arc<Plan>, args: &str) -> Run {
    rebuilt(&run(plan), |turn, event| match event {
        Event::TurnEnded { .. } if turn == 0 => {
            vec![Event::ToolStarted { call: None, args: args.to_owned() }, event.clone()]
        }
        event => vec![event.clone()],
    })
}

#[test]
fn a_tool_may_run_with_what_the_model_gave_and_with_nothing_else() {
    let given = [
        ("model/arguments-not-object#raw=\"b\"", r#""b""#),
        ("model/arguments-not-object#raw=[]", "[]"),
        ("model/arguments-not-object#raw=null", "null"),
        ("model/half-character", r#"{"key": "b \ud83d"}"#),
        ("model/cut-arguments", r#"{"key":"b"#),
    ];
    for (name, args) in given {
        for dialect in [Dialect::AnthropicMessages, Dialect::OpenaiChat] {
            let plan = plan(name, dialect);
            expect_unaccused(&plan, &running_with(&plan, args), Verdict::Pass);
            let wrong = "a tool ran with arguments that the model never gave";
            expect_failure(&plan, &running_with(&plan, "{}"), "arguments-complete", &[wrong]);
        }
    }
}

#[test]
fn a_request_may_hold_what_the_model_gave_and_no_other_arguments_that_are_no_object() {
    let given = [
        ("model/arguments-not-object#raw=\"b\"", r#"\"b\""#),
        ("model/arguments-not-object#raw=null", "null"),
        ("model/half-character", r#"{\"key\":\"b \\ud83d\"}"#),
    ];
    for (name, args) in given {
        for dialect in [Dialect::OpenaiChat, Dialect::OpenaiResponses] {
            let plan = plan(name, dialect);
            let holding = |args: &str| {
                let args = format!(r#""arguments":"{args}""#);
                with_bodies(&run(&plan), |body| body.replace(r#""arguments":"{}""#, &args))
            };
            expect_unaccused(&plan, &holding(args), Verdict::Pass);
            let broken = "the arguments of call b in the request are not a JSON object";
            expect_failure(&plan, &holding(r#"{\"key\":"#), "arguments-whole", &[broken]);
        }
    }
}
