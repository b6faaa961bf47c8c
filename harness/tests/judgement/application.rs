//! Findings that are the application's duty are listed separately: the same run is judged for a system that
//! does everything, and for one that leaves a part to the application.

use std::sync::Arc;

use brickbat_engine::checks::{Apart, judge_apart_from};
use brickbat_engine::run::Run;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::duty::{Application, Duty, Repairs};
use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::{Confidence, Event, ExchangeId, LetGo, RequestKind, ShownState, TurnOutcome};
use brickbat_scenario::verdict::{Finding, Judgement, Permanence, Severity, Verdict};
use serde_json::Value;

use super::staging::*;

/// The judgement of a planted bug in a system whose application has these duties.
fn judged_for(plan: &Arc<Plan>, canary: &str, duties: &[Duty], repairs: Repairs) -> Judgement {
    let run = run_canary(plan, crate::plans::canary(canary));
    let application = Application::with(duties, repairs);
    judged_around(&application, plan, &run)
}

fn judged_around(application: &Application, plan: &Plan, run: &Run) -> Judgement {
    let apart = Apart { known: &[], application };
    judge_apart_from(apart, plan, run, plan.profile_from(&[]), Confidence::Observed, Some(&CONCURRENCY))
}

/// Checks that a bug is found in a system without an application, and that it is the only finding, listed
/// separately, if the application has one of the duties.
#[track_caller]
fn is_of_the_application(name: &str, canary: &str, duties: &[Duty], checks: &[&str]) {
    for plan in on_each(name) {
        let run = run_canary(&plan, crate::plans::canary(canary));
        is_apart_for(&plan, &run, duties, checks);
    }
}

/// The same for a run.
#[track_caller]
fn is_apart_for(plan: &Plan, run: &Run, duties: &[Duty], checks: &[&str]) {
    let judged = |duties: &[Duty], repairs| judged_around(&Application::with(duties, repairs), plan, run);
    let own = judged(&[], Repairs::Never);
    assert_eq!(own.verdict, Verdict::Fail, "{}: {own:#?}", plan.id);
    assert!(own.application.is_empty(), "{}: {own:#?}", plan.id);
    for duty in duties {
        let apart = judged(&[*duty], Repairs::Never);
        assert_eq!(apart.verdict, Verdict::Pass, "{} {}: {apart:#?}", plan.id, duty.name());
        for check in checks {
            let is_listed = apart.application.iter().any(|finding| finding.check == *check);
            assert!(is_listed && apart.findings.is_empty(), "{} {check}: {apart:#?}", plan.id);
        }
        assert_eq!(apart.asked.len(), own.asked.len(), "every check is asked");
    }
    for other in Duty::ALL.into_iter().filter(|other| !duties.contains(other)) {
        let found = judged(&[other], Repairs::Claimed);
        assert_eq!(found.verdict, Verdict::Fail, "{} {}: {found:#?}", plan.id, other.name());
    }
}

#[test]
fn results_that_a_kill_takes_rest_on_the_store_and_on_who_keeps_unfinished_turns() {
    let duties = &[Duty::Store, Duty::Unfinished];
    is_of_the_application("kill/mid-batch#k=1", "kill-loses-results", duties, &["results-kept"]);
}

#[test]
fn results_of_a_batch_with_an_open_question_rest_on_who_keeps_the_questions() {
    let is_lost = |plan: &Arc<Plan>, canary: &str, duty: Duty| {
        let judgement = judged_for(plan, canary, &[duty], Repairs::Never);
        judgement.findings.iter().any(|finding| finding.check == "results-kept")
    };
    for plan in on_each("approval/kill-while-asked") {
        let is_lost = |duty| is_lost(&plan, "asked-kill-loses-siblings", duty);
        assert!(!is_lost(Duty::Store) && !is_lost(Duty::Questions), "{}", plan.id);
        assert!(is_lost(Duty::Loop) && is_lost(Duty::Steps), "{}", plan.id);
    }
    for dialect in Dialect::ALL {
        let plan = edited("approval/kill-while-asked", &[("do: kill", "do: abort")], dialect);
        let is_lost = |duty| is_lost(&plan, "results-lost", duty);
        assert!(!is_lost(Duty::Loop) && !is_lost(Duty::Steps) && !is_lost(Duty::Questions), "{}", plan.id);
        assert!(is_lost(Duty::Store) && is_lost(Duty::States), "{}", plan.id);
        // If the turn was not stopped, nothing was broken off.
        let run = run_canary(&plan, crate::plans::canary("results-lost"));
        let unstopped = rebuilt(&run, |_, event| match event {
            Event::Stopped => Vec::new(),
            Event::TurnEnded { outcome: TurnOutcome::Cancelled } => {
                vec![Event::TurnEnded { outcome: TurnOutcome::Returned }]
            }
            event => vec![event.clone()],
        });
        let is_lost = |duty: Duty| {
            let judgement = judged_around(&Application::with(&[duty], Repairs::Never), &plan, &unstopped);
            judgement.findings.iter().any(|finding| finding.check == "results-kept")
        };
        assert!(is_lost(Duty::Steps) && !is_lost(Duty::Questions) && !is_lost(Duty::Loop), "{}", plan.id);
        // The updates for the user rest on the same duty.
        let is_apart = judged_for(&plan, "results-lost", &[Duty::Questions], Repairs::Never).application;
        assert!(is_apart.iter().any(|finding| finding.check == "views-agree"), "{}", plan.id);
    }
}

#[test]
fn the_words_of_a_failed_turn_rest_on_the_input() {
    is_of_the_application("fault/server-down#reply=1", "prompt-lost", &[Duty::Input], &["user-message-kept"]);
}

#[test]
fn the_shown_state_of_a_call_rests_on_the_states() {
    is_of_the_application("reorder/error-before-call", "error-parked", &[Duty::States], &["parts-settled"]);
}

#[test]
fn unanswered_calls_rest_on_the_loop() {
    is_of_the_application("abort/mid-batch#k=1", "dangling-on-abort", &[Duty::Loop], &["thread-survives"]);
}

#[test]
fn a_question_without_an_answer_rests_on_who_keeps_the_questions() {
    for plan in on_each("approval/stop-while-asked#asked=c") {
        for canary in ["dangling-on-abort", "refuses-own-history"] {
            let own = judged_for(&plan, canary, &[Duty::Store, Duty::Input], Repairs::Never);
            let is_found = own.findings.iter().any(|finding| finding.check == "thread-survives");
            assert!(is_found, "{canary} {}: {own:#?}", plan.id);
            let apart = judged_for(&plan, canary, &[Duty::Questions], Repairs::Never);
            let is_apart = apart.application.iter().any(|finding| finding.check == "thread-survives");
            assert!(is_apart && apart.findings.is_empty(), "{canary} {}: {apart:#?}", plan.id);
        }
    }
    // A call that needs no consent still belongs to the system.
    for plan in on_each("abort/mid-batch#k=1") {
        let found = judged_for(&plan, "refuses-own-history", &[Duty::Questions], Repairs::Never);
        assert_eq!(found.verdict, Verdict::Fail, "{}: {found:#?}", plan.id);
    }
}

/// A turn that fails because a question is open loses its message for the same reason.
#[test]
fn the_message_of_a_turn_that_an_open_question_ends_rests_on_who_keeps_the_questions() {
    for plan in on_each("approval/stop-while-asked#asked=c") {
        let last = plan.turns.len() - 1;
        let said = &plan.turns[last - 1].user;
        let run = run_canary(&plan, crate::plans::canary("dangling-on-abort"));
        let lost = rebuilt(&run, |turn, event| match event {
            Event::Requested { body, .. } if turn == last => {
                let body = std::str::from_utf8(body).unwrap().replace(&format!("\"{said}\""), "\"Well?\"");
                vec![with_body(event, body.into_bytes())]
            }
            event => vec![event.clone()],
        });
        let is_lost = |findings: &[Finding]| findings.iter().any(|it| it.check == "user-message-kept");
        let judged = |duty| judged_around(&Application::with(&[duty], Repairs::Never), &plan, &lost);
        let (own, apart) = (judged(Duty::States), judged(Duty::Questions));
        assert!(is_lost(&own.findings), "{}: {own:#?}", plan.id);
        assert!(is_lost(&apart.application) && !is_lost(&apart.findings), "{}: {apart:#?}", plan.id);
    }
}

#[test]
fn a_turn_that_a_refusal_ends_rests_on_who_continues_after_it() {
    for plan in on_each("approval/batch#b=pay,c=refund") {
        let raised = TurnOutcome::Raised { class: "UserAbortError".to_owned(), text: "refused".to_owned() };
        let run = rebuilt(&run(&plan), |turn, event| match event {
            Event::TurnEnded { .. } if turn == 0 => vec![Event::TurnEnded { outcome: raised.clone() }],
            event => vec![event.clone()],
        });
        is_apart_for(&plan, &run, &[Duty::Refusals], &["thread-survives"]);
    }
}

#[test]
fn a_call_that_was_handed_out_rests_on_who_runs_it() {
    let is_of = |found: &[Finding]| found.iter().any(|finding| finding.check == "thread-survives");
    for plan in on_each("client/stop-while-open#k=1") {
        for canary in ["client-call-dangles", "refuses-own-history"] {
            let own = judged_for(&plan, canary, &[Duty::Store, Duty::Questions], Repairs::Never);
            assert!(is_of(&own.findings), "{canary} {}: {own:#?}", plan.id);
            let apart = judged_for(&plan, canary, &[Duty::Client], Repairs::Never);
            let is_apart = is_of(&apart.application) && apart.findings.is_empty();
            assert!(is_apart, "{canary} {}: {apart:#?}", plan.id);
        }
    }
    // An open call of a tool that the system runs itself still belongs to the system.
    for plan in on_each("client/stop-while-open#k=0") {
        let found = judged_for(&plan, "dangling-on-abort", &[Duty::Client], Repairs::Never);
        assert!(is_of(&found.findings), "{}: {found:#?}", plan.id);
    }
}

#[test]
fn an_update_under_an_unknown_id_belongs_to_the_system() {
    for plan in on_each("client/next-request-fails") {
        let stray = || Event::CallShown { id: "stray".to_owned(), state: ShownState::InProgress };
        let run = rebuilt(&run(&plan), |_, event| match event {
            Event::ToolStarted { .. } => vec![event.clone(), stray()],
            _ => vec![event.clone()],
        });
        let duties = Application::with(&[Duty::Client], Repairs::Never);
        let found = judged_around(&duties, &plan, &run);
        assert!(
            found.findings.iter().any(|finding| finding.check == "parts-settled"),
            "{}: {found:#?}",
            plan.id
        );
    }
}

#[test]
fn a_turn_that_waits_for_a_tool_rests_on_the_loop() {
    is_of_the_application(
        "tools/hangs#k=0",
        "deaf-tool-awaited",
        &[Duty::Loop, Duty::Tools, Duty::Stop],
        &["turn-ends"],
    );
}

#[test]
fn a_plan_that_the_application_blocks_is_not_vacuous() {
    for plan in on_each("tools/answered-with-next-batch") {
        let own = judged_for(&plan, "deaf-tool-awaited", &[], Repairs::Never);
        assert_eq!(own.verdict, Verdict::Fail, "{}: {own:#?}", plan.id);
        let apart = judged_for(&plan, "deaf-tool-awaited", &[Duty::Tools], Repairs::Never);
        assert_eq!(apart.verdict, Verdict::Unreachable, "{}: {apart:#?}", plan.id);
        assert!(apart.application.iter().any(|finding| finding.check == "turn-ends"), "{apart:#?}");
    }
}

#[test]
fn a_stop_that_takes_effect_late_rests_on_how_the_turn_is_stopped_and_on_tools_that_run() {
    for plan in on_each("abort/mid-batch#k=1") {
        let run = run(&plan);
        let with_end = |what, is_kept: fn(&Event) -> bool| {
            rebuilt(&run, |turn, event| match event {
                Event::TurnEnded { .. } if turn == 0 => vec![Event::LetGo { what }, event.clone()],
                event if turn == 0 && !is_kept(event) => Vec::new(),
                event => vec![event.clone()],
            })
        };
        is_apart_for(&plan, &with_end(LetGo::Replies, |_| true), &[Duty::Stop], &["turn-ends"]);
        let run_on = with_end(LetGo::Tools, |event| !matches!(event, Event::ToolCancelled { .. }));
        is_apart_for(&plan, &run_on, &[Duty::Stop, Duty::Tools], &["turn-ends"]);
    }
}

#[test]
fn a_stop_without_effect_while_the_provider_is_silent_rests_on_no_duty() {
    for plan in on_each("fault/stall#p=text-1") {
        let hangs = rebuilt(&run(&plan), |turn, event| match event {
            Event::TurnEnded { .. } if turn == 0 => vec![Event::GaveUp],
            event if turn == 0 => vec![event.clone()],
            _ => Vec::new(),
        });
        let judgement = judged_around(&Application::with(&Duty::ALL, Repairs::Claimed), &plan, &hangs);
        let found: Vec<Severity> = judgement.findings.iter().map(|finding| finding.severity).collect();
        assert_eq!(found, [Severity::Hang], "{}: {judgement:#?}", plan.id);
    }
}

#[test]
fn results_of_a_step_that_a_stop_broke_off_rest_on_the_loop_and_on_who_keeps_steps_or_turns() {
    let checks = &["results-kept", "views-agree"];
    let duties = &[Duty::Loop, Duty::Steps, Duty::Turns];
    is_of_the_application("abort/mid-batch#k=1", "results-lost", duties, checks);
}

#[test]
fn results_of_a_whole_step_rest_on_the_loop_and_on_who_keeps_a_turn_that_ended_badly() {
    let (plan, checks) = ("abort/in-second-step#p=text-1", &["results-kept"]);
    is_of_the_application(plan, "finished-batch-lost", &[Duty::Loop, Duty::Turns], checks);
    for plan in on_each("abort/in-second-step#p=text-1") {
        let found = judged_for(&plan, "finished-batch-lost", &[Duty::Steps], Repairs::Never);
        assert_eq!(found.verdict, Verdict::Fail, "{}: {found:#?}", plan.id);
    }
    // A turn that ended well is stored.
    for plan in on_each("control/plain-batch") {
        let lost = with_bodies(&run(&plan), |body| {
            let results = plan.calls.iter().map(|call| call.outcome.text());
            results.fold(body.to_owned(), |body, words| body.replace(words, "found nothing"))
        });
        let judgement = judged_around(&Application::with(&[Duty::Turns], Repairs::Never), &plan, &lost);
        let is_found = judgement.findings.iter().any(|finding| finding.check == "results-kept");
        assert!(is_found, "{}: {judgement:#?}", plan.id);
    }
}

#[test]
fn results_before_an_empty_reply_rest_on_the_loop_and_on_who_sends_them_again() {
    // The first reply after the results is empty.
    for plan in on_each("model/empty-reply") {
        let kept = |body: &str| {
            let results = plan.calls.iter().map(|call| call.outcome.text());
            results.fold(body.to_owned(), |body, words| body.replace(words, "found nothing"))
        };
        let is_due = |duty: Duty| {
            let judgement = judged_around(
                &Application::with(&[duty], Repairs::Never),
                &plan,
                &with_bodies(&run(&plan), kept),
            );
            judgement.findings.iter().any(|finding| finding.check == "results-kept")
        };
        assert!(!is_due(Duty::Invalid) && !is_due(Duty::Loop), "{}", plan.id);
        assert!(is_due(Duty::Input) && is_due(Duty::Steps), "{}", plan.id);
    }
}

#[test]
fn a_tool_of_the_step_under_way_that_starts_after_a_stop_rests_on_how_the_turn_is_stopped() {
    for plan in on_each("abort/mid-batch#k=0") {
        let start = Event::ToolStarted { call: Some(key(&plan, "c")), args: plan.calls[2].deltas.concat() };
        let late = rebuilt(&run(&plan), |turn, event| match event {
            Event::TurnEnded { .. } if turn == 0 => vec![Event::Quiet, start.clone(), event.clone()],
            event => vec![event.clone()],
        });
        let is_accused = |duty: Duty| {
            let judgement = judged_around(&Application::with(&[duty], Repairs::Never), &plan, &late);
            judgement.findings.iter().any(|finding| finding.check == "stops-when-stopped")
        };
        assert!(!is_accused(Duty::Stop) && !is_accused(Duty::Loop), "{}", plan.id);
        assert!(is_accused(Duty::Tools) && is_accused(Duty::Store), "{}", plan.id);
    }
}

#[test]
fn a_step_whose_request_crossed_the_stop_rests_on_how_the_turn_is_stopped() {
    for plan in on_each("abort/second-batch#k=3") {
        let run = run(&plan);
        let body = run.trace.by_turn().find_map(|(_, event)| match event {
            Event::Requested { body, .. } => Some(body.clone()),
            _ => None,
        });
        let kind = RequestKind::Scripted { turn: 0, reply: 1, attempt: 0 };
        let asked = Event::requested(ExchangeId(99), kind, body.unwrap());
        let d = key(&plan, "d");
        let args = plan.calls[d.0 as usize].deltas.concat();
        let started = Event::ToolStarted { call: Some(d), args };
        let settled = run.trace.events().iter().find(|event| matches!(event, Event::ToolSettled { .. }));
        // Between the stop and the request, a tool settles: the step had ended, and the run continued with
        // another.
        for (between, rests_on_stop) in [(None, true), (settled.cloned(), false)] {
            let late = rebuilt(&run, |turn, event| match event {
                Event::Stopped if turn == 0 => {
                    let more = between.iter().chain([&asked, &started]);
                    [event].into_iter().chain(more).cloned().collect()
                }
                event => vec![event.clone()],
            });
            let is_accused = |duty: Duty| {
                let judgement = judged_around(&Application::with(&[duty], Repairs::Never), &plan, &late);
                judgement.findings.iter().any(|finding| finding.check == "stops-when-stopped")
            };
            assert_eq!(!is_accused(Duty::Stop), rests_on_stop, "{}", plan.id);
            assert!(!is_accused(Duty::Loop) && is_accused(Duty::Tools), "{}", plan.id);
        }
    }
}

#[test]
fn a_users_message_before_an_empty_reply_rests_on_who_sends_it_again() {
    let (asked, answered) = ("Look up the two orders.", "Is that all?");
    for plan in on_each("model/empty-reply") {
        let without =
            |words: &str| with_bodies(&run(&plan), |body| body.replace(&format!("\"{words}\""), "\"Well?\""));
        is_apart_for(&plan, &without(answered), &[Duty::Invalid], &["user-message-kept"]);
        let judgement =
            judged_around(&Application::with(&[Duty::Invalid], Repairs::Never), &plan, &without(asked));
        assert_eq!(
            judgement.verdict,
            Verdict::Pass,
            "the reply after the results is empty, too: {judgement:#?}"
        );
    }
    // A reply with content makes the turn a valid one.
    for plan in on_each("control/plain-batch") {
        let said = &plan.turns[0].user;
        let lost = rebuilt(&run(&plan), |turn, event| match event {
            Event::Requested { body, .. } if turn > 0 => {
                let body = std::str::from_utf8(body).unwrap().replace(&format!("\"{said}\""), "\"Well?\"");
                vec![with_body(event, body.into_bytes())]
            }
            event => vec![event.clone()],
        });
        let judgement = judged_around(&Application::with(&[Duty::Invalid], Repairs::Never), &plan, &lost);
        let is_found = judgement.findings.iter().any(|finding| finding.check == "user-message-kept");
        assert!(is_found, "{}: {judgement:#?}", plan.id);
    }
}

#[test]
fn a_thread_that_the_application_fails_last_is_not_bricked_by_the_system() {
    let plan = plan("control/plain-batch", Dialect::OpenaiChat);
    let last = plan.turns.len() - 1;
    let raised = || TurnOutcome::Raised { class: "Error".to_owned(), text: "broken".to_owned() };
    // The first turn ends with an error of the system; in the last one the calls of the first have no
    // results.
    let run = rebuilt(&run(&plan), |turn, event| match event {
        Event::TurnEnded { .. } if turn == 0 || turn == last => vec![Event::TurnEnded { outcome: raised() }],
        Event::Requested { exchange, head, body, .. } if turn == last => {
            let mut body: Value = serde_json::from_slice(body).unwrap();
            body["messages"].as_array_mut().unwrap().retain(|message| message["role"] != "tool");
            let kind = RequestKind::Refused { status: 400 };
            let (exchange, head, body) = (*exchange, head.clone(), body.to_string().into_bytes().into());
            vec![Event::Requested { exchange, kind, head, compacted: false, summary: None, body }]
        }
        event => vec![event.clone()],
    });
    let error_of_first_turn = |duties: &[Duty]| {
        let judgement = judged_around(&Application::with(duties, Repairs::Never), &plan, &run);
        let mut found = judgement.findings.iter().chain(&judgement.application);
        let finding = found.find(|finding| finding.place == "turn 1").unwrap();
        (finding.severity, finding.permanence.unwrap())
    };
    let bricked = (Severity::BrickedByClient, Permanence::Permanent);
    assert_eq!(error_of_first_turn(&[]), bricked);
    assert_eq!(error_of_first_turn(&[Duty::Store, Duty::Questions]), bricked);
    assert_eq!(error_of_first_turn(&[Duty::Loop]), (Severity::TurnFailed, Permanence::Transient));
}

/// As with google-genai: the provider refuses the split reply, and the application leaves its calls without results.
#[test]
fn a_thread_that_stays_refused_is_not_said_to_recover() {
    let plan = plan("control/plain-batch", Dialect::OpenaiChat);
    let run = rebuilt(&run(&plan), |_, event| match event.clone() {
        Event::Requested { exchange, head, body, kind, .. } if exchange.0 > 0 => {
            let mut body: Value = serde_json::from_slice(&body).unwrap();
            let is_first = matches!(kind, RequestKind::Scripted { turn: 0, .. });
            body["messages"].as_array_mut().unwrap().retain(|message| message["role"] != "tool" || is_first);
            if is_first {
                // The provider refuses this request for another reason.
                let messages = body["messages"].as_array_mut().unwrap();
                messages.push(serde_json::json!({ "role": "stranger", "content": "x" }));
            }
            let (kind, body) = (RequestKind::Refused { status: 400 }, body.to_string().into_bytes().into());
            vec![Event::Requested { exchange, kind, head, compacted: false, summary: None, body }]
        }
        event => vec![event],
    });
    let refusal = |duties: &[Duty]| {
        let judgement = judged_around(&Application::with(duties, Repairs::Never), &plan, &run);
        let mut found = judgement.findings.iter();
        found.find(|it| it.check == "thread-survives" && it.rule.is_some()).unwrap().clone()
    };
    let (own, left) = (refusal(&[]), refusal(&[Duty::Loop]));
    assert_eq!((own.severity, left.severity), (Severity::BrickedByProvider, Severity::TurnFailed));
    assert!(!own.message.contains("later turns fail, too"), "{own:#?}");
    assert!(left.message.ends_with("because of a task that is the application's"), "{left:#?}");
}

#[test]
fn a_duty_that_an_sdk_takes_over_stays_its_own() {
    let all = [Duty::Store, Duty::Input, Duty::States];
    for plan in on_each("abort/mid-batch#k=1") {
        for canary in ["dangling-on-abort", "results-lost", "success-invented"] {
            let judgement = judged_for(&plan, canary, &all, Repairs::Never);
            assert_eq!(judgement.verdict, Verdict::Fail, "{canary} {}: {judgement:#?}", plan.id);
        }
    }
}

#[test]
fn a_broken_history_is_the_applications_unless_the_system_repairs_or_extends_it() {
    let plan = plan("given/broken-thread#h=bricked-long-ago.json", Dialect::OpenaiChat);
    let canary = "heals-the-end-alone";
    let store = [Duty::Store];
    let apart = judged_for(&plan, canary, &store, Repairs::Never);
    assert!(apart.findings.is_empty(), "{apart:#?}");
    assert!(apart.application.iter().any(|finding| finding.check == "old-thread-heals"), "{apart:#?}");
    let claimed = judged_for(&plan, canary, &store, Repairs::Claimed);
    assert!(claimed.findings.iter().any(|finding| finding.check == "old-thread-heals"), "{claimed:#?}");

    // A request that answers the old calls in the wrong place is rejected because of what it has added.
    let answered = with_bodies(&run_canary(&plan, crate::plans::canary(canary)), |body| {
        let mut body: serde_json::Value = serde_json::from_str(body).unwrap();
        let open = plan.calls.iter().filter(|call| call.given);
        let answers = open.map(|call| {
            serde_json::json!({ "role": "tool", "tool_call_id": call.id, "content": "found after all" })
        });
        let answers: Vec<serde_json::Value> = answers.collect();
        body["messages"].as_array_mut().unwrap().extend(answers);
        body.to_string()
    });
    let application = Application::with(&store, Repairs::Never);
    let judgement = judged_around(&application, &plan, &answered);
    assert!(judgement.findings.iter().any(|finding| finding.check == "old-thread-heals"), "{judgement:#?}");
}

#[test]
fn a_display_that_differs_rests_on_the_states() {
    is_of_the_application("abort/mid-batch#k=1", "shown-as-failed", &[Duty::States], &["views-agree"]);
}
