//! Severities are correct: a bricked thread stays bricked, and arguments are compared with those that the
//! model gave.

use std::sync::Arc;

use brickbat_engine::checks::Concurrency;
use brickbat_engine::run::Run;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::{Ending, Event, ExchangeId, RequestKind, TurnOutcome};
use brickbat_scenario::verdict::{Finding, Permanence, Severity, Verdict};
use serde_json::{Value, json};

use super::staging::*;

/// The finding of `thread-survives`, which must be the only one.
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
        assert_eq!((failed.severity, failed.permanence), (Severity::TurnFailed, Some(Permanence::Transient)));
        let bricked = survival(&plan, &raising(&run(&plan), |_| true));
        assert_eq!(
            (bricked.severity, bricked.permanence),
            (Severity::BrickedByClient, Some(Permanence::Permanent))
        );
    }
}

/// The run with the results removed from the requests of some turns, so that these are rejected and the turns
/// fail.
#[expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]
fn refused_in(run: &Run, is_refused: impl Fn(usize) -> bool) -> Run {
    rebuilt(run, |turn, event| match event {
        Event::Requested { exchange, head, body, .. } if is_refused(turn) => {
            let mut body: Value = serde_json::from_slice(body).unwrap();
            let messages = body["messages"].as_array_mut().unwrap();
            let n_messages = messages.len();
            messages.retain(|message| message["role"] != "tool");
            if messages.len() == n_messages {
                return vec![event.clone()];
            }
            let (head, body) = (head.clone(), body.to_string().into_bytes().into());
            let kind = RequestKind::Refused { status: 400 };
            vec![Event::Requested { exchange: *exchange, kind, head, compacted: false, summary: None, body }]
        }
        Event::TurnEnded { .. } if is_refused(turn) => vec![Event::TurnEnded { outcome: raised() }],
        event => vec![event.clone()],
    })
}

#[test]
fn a_conversation_that_is_rejected_without_a_fault_never_reaches_its_fault() {
    let plan = plan("kill/second-batch#k=5", Dialect::OpenaiChat);
    let mut refused = refused_in(&run(&Arc::new(lower::control(&plan))), |turn| turn == 0);
    refused.receipts = run(&plan).receipts;
    refused.receipts.iter_mut().for_each(|receipt| receipt.fired = false);
    // The control plan accuses the system, so it must have been rejected as well.
    for (is_refused, expected) in [(true, Verdict::Unreachable), (false, Verdict::Vacuous)] {
        let judgement = judged_within(&plan, &refused, Concurrency { is_refused, ..CONCURRENCY });
        assert_eq!(judgement.verdict, expected, "{judgement:#?}");
    }
    refused.receipts[0].fired = true;
    let judgement = judged_within(&plan, &refused, Concurrency { is_refused: true, ..CONCURRENCY });
    assert_ne!(judgement.verdict, Verdict::Unreachable, "{judgement:#?}");
}

#[test]
fn a_client_that_leaves_at_the_stop_reason_never_reaches_a_later_fault() {
    for (name, expected) in [
        ("fault/reset-in-stream#p=stop", Verdict::Unreachable),
        ("fault/reset-in-stream#p=end-b", Verdict::Vacuous),
    ] {
        let plan = plan(name, Dialect::OpenaiResponses);
        let mut left = rebuilt(&run(&plan), |turn, event| match event {
            Event::Replied { exchange, ending } if turn == 0 && *ending != Ending::Complete => {
                vec![Event::PeerClosed { exchange: *exchange }]
            }
            event => vec![event.clone()],
        });
        left.receipts[0].fired = false;
        let judgement = judged_within(&plan, &left, CONCURRENCY);
        assert_eq!(judgement.verdict, expected, "{name}: {judgement:#?}");
    }
}

#[test]
fn a_refused_request_bricks_the_thread_only_if_the_last_one_is_refused_too() {
    let plan = plan("abort/mid-batch#k=1", Dialect::OpenaiChat);
    let refused = |is_refused: fn(usize) -> bool| refused_in(&run(&plan), is_refused);
    let worst = |run: &Run| {
        let found = judged(&plan, run).findings.into_iter().find(|it| it.check == "thread-survives");
        let found = found.unwrap();
        assert_eq!(found.rule, Some("openai-chat/tool-message-missing"), "{found:#?}");
        (found.severity, found.permanence)
    };
    let transient = worst(&refused(|turn| turn == 1));
    assert_eq!(transient, (Severity::TurnFailed, Some(Permanence::Transient)));
    let permanent = worst(&refused(|turn| turn > 0));
    assert_eq!(permanent, (Severity::BrickedByProvider, Some(Permanence::Permanent)));
}

/// In some SDKs an exception of a tool ends the turn with an error; others raise one if the model's output is
/// broken.
#[test]
fn an_error_with_a_reason_is_not_a_finding_if_the_thread_continues() {
    let names = [
        "fault/tool-throw",
        "tools/throw-without-words",
        "model/unknown-tool",
        "model/same-id#of=b",
        "model/arguments-not-object#raw=--",
    ];
    for plan in names.into_iter().flat_map(on_each) {
        let wrong_turn = if plan.id.scenario == "model/same-id" { 1 } else { 0 };
        let once = raising(&run(&plan), |turn| turn == wrong_turn);
        expect_unaccused(&plan, &once, Verdict::Pass);
        let for_good = survival(&plan, &raising(&run(&plan), |turn| turn >= wrong_turn));
        assert_eq!(for_good.severity, Severity::BrickedByClient);
        assert_eq!(for_good.place, format!("turn {}", wrong_turn + 2));
        let given_up = rebuilt(&run(&plan), |turn, event| match event {
            Event::TurnEnded { .. } if turn == wrong_turn => {
                vec![Event::TurnEnded { outcome: TurnOutcome::Cancelled }]
            }
            event => vec![event.clone()],
        });
        assert_eq!(survival(&plan, &given_up).severity, Severity::TurnFailed, "nobody has stopped it");
    }
}

/// A system passes on the error with which the provider refuses a history that does not fit into the window.
#[test]
fn an_error_of_the_provider_is_not_called_the_clients() {
    for plan in on_each("transform/overflowing-batch") {
        let last = plan.turns.len() - 1;
        let raised = raising(&run(&plan), |turn| turn == last);
        assert_eq!(survival(&plan, &raised).severity, Severity::BrickedByClient, "{}", plan.id);
        let too_long = rebuilt(&raised, |turn, event| match event.clone() {
            Event::Requested { exchange, kind, head, compacted, summary, body } if turn == last => {
                let RequestKind::Scripted { turn, reply, attempt } = kind else { panic!("{kind:?}") };
                let kind = RequestKind::Faulted { turn, reply, attempt, status: 400 };
                vec![Event::Requested { exchange, kind, head, compacted, summary, body }]
            }
            Event::Replied { exchange, .. } if turn == last => {
                vec![Event::Replied { exchange, ending: Ending::Status }]
            }
            event => vec![event],
        });
        assert_eq!(survival(&plan, &too_long).severity, Severity::BrickedByProvider, "{}", plan.id);
    }
}

#[test]
fn a_call_that_never_runs_is_not_a_brick() {
    for plan in on_each("fault/pause#p=text-1") {
        let idle =
            without(&run(&plan), |turn, event| turn == 0 && matches!(event, Event::ToolSettled { .. }));
        let judgement = judged(&plan, &idle);
        let found = judgement.findings.iter().find(|finding| finding.check == "thread-survives").unwrap();
        assert_eq!((found.severity, found.message.as_str()), (Severity::TurnFailed, "call a never finished"));
    }
}

/// If the call is not even in the history, that is what is reported.
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
    let causes = brickbat_report::causes::fold(judgement.findings);
    let [cause] = causes.as_slice() else { panic!("{causes:#?}") };
    assert_eq!((cause.check, cause.severity), ("calls-answered", Severity::CallDropped));
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
fn a_tool_may_run_only_with_the_models_arguments() {
    let given = [
        ("model/arguments-not-object#raw=-b-", r#""b""#),
        ("model/arguments-not-object#raw=--", "[]"),
        ("model/arguments-not-object#raw=null", "null"),
        ("model/half-character", r#"{"key": "b \ud83d"}"#),
        ("model/cut-arguments", r#"{"key":"b"#),
    ];
    for (name, args) in given {
        for dialect in [Dialect::AnthropicMessages, Dialect::OpenaiChat] {
            let plan = plan(name, dialect);
            expect_unaccused(&plan, &running_with(&plan, args), Verdict::Pass);
            let wrong = "a tool ran without an argument that is required";
            expect_failure(&plan, &running_with(&plan, "{}"), "arguments-complete", &[wrong]);
        }
    }
}

#[test]
fn a_request_may_contain_invalid_arguments_only_if_the_model_gave_them() {
    let given = [
        ("model/arguments-not-object#raw=-b-", r#"\"b\""#),
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
            let cut = "the incomplete arguments of call b are sent back, as if they were complete";
            let broken = "the arguments of call b in the request are not a JSON object";
            let words = if name == "model/half-character" { cut } else { broken };
            expect_failure(&plan, &holding(r#"{\"key\":"#), "arguments-whole", &[words]);
        }
    }
}

#[test]
fn a_text_of_a_healthy_turn_that_moved_before_its_calls_is_reordered() {
    let plan = plan("control/plain-batch", Dialect::OpenaiChat);
    let moved = with_bodies(&run(&plan), |body| {
        let mut body: Value = serde_json::from_str(body).unwrap();
        let messages = body["messages"].as_array_mut().unwrap();
        let words = |message: &Value| message["content"].as_str().map(str::to_owned);
        let at = messages.iter().position(|it| words(it).is_some_and(|it| it.starts_with("All three")));
        if let Some(at) = at {
            let text = words(&messages.remove(at)).unwrap();
            let calls = messages.iter_mut().find(|message| message["tool_calls"].is_array()).unwrap();
            calls["content"] = json!(format!("{}\n{text}", calls["content"].as_str().unwrap()));
        }
        body.to_string()
    });
    let judgement = judged(&plan, &moved);
    let found = judgement.findings.iter().find(|finding| finding.check == "order-kept").unwrap();
    assert_eq!(found.severity, Severity::Reordered);
    let message = "the model's text of turn 1 is no longer in its position before or after the calls";
    assert_eq!(found.message, message);
}

#[test]
fn a_finished_call_that_is_recorded_as_cancelled_is_denied() {
    let plan = plan("abort/mid-batch#k=1", Dialect::OpenaiChat);
    let done = plan.calls[key(&plan, "b").0 as usize].outcome.text().to_owned();
    let run = with_bodies(&run(&plan), |body| body.replace(&done, "Operation cancelled by user"));
    let denied = "call b succeeded, but its result is recorded as a failure";
    expect_failure(&plan, &run, "failure-honest", &[denied]);
}

#[test]
fn a_difference_only_in_the_error_flag_is_shown() {
    for dialect in [Dialect::AnthropicMessages, Dialect::BedrockConverse] {
        let plan = plan("control/plain-batch", dialect);
        let done = plan.calls[key(&plan, "b").0 as usize].id.clone();
        let run = rebuilt(&run(&plan), |turn, event| match event {
            Event::Requested { body, .. } if turn > 0 => {
                let mut body: Value = serde_json::from_slice(body).unwrap();
                for message in body["messages"].as_array_mut().unwrap() {
                    for block in message["content"].as_array_mut().into_iter().flatten() {
                        if block["tool_use_id"] == json!(done) {
                            block["is_error"] = json!(true);
                        } else if block["toolResult"]["toolUseId"] == json!(done) {
                            block["toolResult"]["status"] = json!("error");
                        }
                    }
                }
                vec![with_body(event, body.to_string().into_bytes())]
            }
            event => vec![event.clone()],
        });
        let judgement = judged(&plan, &run);
        let found = judgement.findings.iter().find(|finding| finding.check == "prefix-stable").unwrap();
        assert!(found.expected.starts_with("result b `") && found.got.starts_with("error b `"), "{found:#?}");
    }
}

#[test]
fn a_tool_of_a_reply_requested_after_the_stop_started_too_late() {
    let plan = plan("abort/first-of-two-batches", Dialect::OpenaiChat);
    expect_unaccused(&plan, &run(&plan), Verdict::Pass);
    let d = key(&plan, "d");
    let body = run(&plan).trace.events().iter().find_map(|event| match event {
        Event::Requested { body, .. } => Some(body.clone()),
        _ => None,
    });
    let going_on = rebuilt(&run(&plan), |turn, event| match event {
        Event::TurnEnded { .. } if turn == 0 => {
            let (exchange, kind) = (ExchangeId(99), RequestKind::Scripted { turn: 0, reply: 1, attempt: 0 });
            let asked = Event::requested(exchange, kind, body.clone().unwrap());
            let args = plan.calls[d.0 as usize].args.to_string();
            vec![asked, Event::ToolStarted { call: Some(d), args }, event.clone()]
        }
        event => vec![event.clone()],
    });
    expect_failure(&plan, &going_on, "stops-when-stopped", &["the turn continues after it was stopped"]);
}
