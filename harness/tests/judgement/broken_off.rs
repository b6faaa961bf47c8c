//! Turns that are broken off: a reply that was cut and taken as complete, calls that vanish, errors that are replaced,
//! and connections that stay open.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::sync::Arc;

use brickbat_engine::flaws::Canary;
use brickbat_engine::run::Run;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::{Event, ShownState, TurnOutcome};
use brickbat_scenario::verdict::{Finding, Severity, Verdict};
use brickbat_scenario::wire;
use serde_json::Value;

use super::staging::{
    driven_for, expect_unaccused, judged, key, on_each, plan, rebuilt, run, run_canary, with_bodies,
    with_body,
};

/// The findings of a canary in a plan. All are of the check that must catch it.
fn found(plan: &Arc<Plan>, canary: &str) -> Vec<Finding> {
    let canary = Canary::from_name(canary).unwrap();
    let (judgement, _) = driven_for(plan, Some(canary));
    let is_meant = |finding: &Finding| finding.check == canary.caught_by();
    assert!(judgement.findings.iter().all(is_meant), "{}: {judgement:#?}", plan.id);
    judgement.findings
}

#[test]
fn a_cut_reply_whose_calls_run_after_the_break_is_graded_by_the_protocol() {
    for plan in on_each("fault/end-early#p=end-a") {
        let found = found(&plan, "cut-reply-continued");
        let [finding] = found.as_slice() else { panic!("{}: {found:#?}", plan.id) };
        let expected = match wire::of(plan.dialect).traits.may_lack_end {
            true => Severity::EndAssumed,
            false => Severity::TruncationTaken,
        };
        assert_eq!(finding.severity, expected, "{}", plan.id);
        assert!(finding.message.contains("ran call a of it"), "{finding:#?}");
    }
}

#[test]
fn a_reply_that_the_transport_breaks_off_is_cut_in_every_dialect() {
    for plan in on_each("fault/eof-in-stream#p=end-a") {
        let found = found(&plan, "cut-reply-continued");
        let severities: Vec<Severity> = found.iter().map(|finding| finding.severity).collect();
        assert_eq!(severities, [Severity::TruncationTaken], "{}: {found:#?}", plan.id);
    }
}

#[test]
fn a_call_that_started_before_the_break_may_be_continued() {
    for plan in on_each("fault/end-early#p=end-a") {
        let run = run(&plan);
        let a = key(&plan, "a");
        let started =
            |event: &Event| matches!(event, Event::ToolStarted { call: Some(call), .. } if *call == a);
        let is_cut = |event: &Event| matches!(event, Event::Replied { .. });
        let events = || run.trace.events().iter();
        assert!(events().position(started) < events().position(is_cut), "{}", plan.id);
        expect_unaccused(&plan, &run, Verdict::Pass);
    }
}

/// True if the agent adds no words between results and the next prompt, which say that the turn was interrupted.
fn says_nothing(plan: &Arc<Plan>) -> bool {
    !wire::of(plan.dialect).traits.wants_word_after_results
}

#[test]
fn a_call_that_vanishes_after_a_kill_is_forgotten() {
    for plan in on_each("kill/mid-batch#k=1").filter(says_nothing) {
        let found = found(&plan, "running-calls-unsaved");
        let calls: Vec<_> = found.iter().flat_map(|finding| finding.about.calls.clone()).collect();
        assert_eq!(calls, [key(&plan, "a"), key(&plan, "c")], "{}: {found:#?}", plan.id);
        assert!(found.iter().all(|finding| finding.severity == Severity::ForgottenCall), "{found:#?}");
    }
}

#[test]
fn a_call_that_the_user_was_shown_to_have_ended_is_not_forgotten() {
    let canary = Canary::from_name("running-calls-unsaved").unwrap();
    for plan in on_each("kill/mid-batch#k=1").filter(says_nothing) {
        let run = run_canary(&plan, canary);
        let shown = |name: &str| {
            let id = plan.calls[key(&plan, name).0 as usize].id.clone();
            Event::CallShown { id, state: ShownState::Failed }
        };
        let told = rebuilt(&run, |_, event| match event {
            Event::Resumed => vec![event.clone(), shown("a"), shown("c")],
            event => vec![event.clone()],
        });
        let judgement = judged(&plan, &told);
        assert!(judgement.findings.is_empty(), "{}: {judgement:#?}", plan.id);
    }
}

/// A system may show a call as running while its reply arrives, and run no call of a reply that breaks off.
#[test]
fn a_call_of_a_broken_reply_is_forgotten_only_if_its_tool_ran() {
    let plan = plan("fault/end-early#p=end-a", Dialect::OpenaiChat);
    let (a, id) = (key(&plan, "a"), plan.calls[key(&plan, "a").0 as usize].id.clone());
    let with = |begins: Event| {
        let bare = run_canary(&plan, Canary::from_name("cut-reply-continued").unwrap());
        let is_of_a = |event: &Event| match event {
            Event::ToolStarted { call, .. } => *call == Some(a),
            Event::ToolSettled { call, .. } => *call == a,
            Event::CallShown { id: shown, .. } => *shown == id,
            _ => false,
        };
        rebuilt(&bare, |turn, event| match event {
            event if is_of_a(event) => Vec::new(),
            Event::Replied { .. } if turn == 0 => vec![begins.clone(), event.clone()],
            // The next turn no longer has the calls.
            Event::Requested { body, .. } if turn > 0 => {
                let mut body: Value = serde_json::from_slice(body).unwrap();
                body["messages"]
                    .as_array_mut()
                    .unwrap()
                    .retain(|message| message.get("tool_calls").is_none() && message["role"] != "tool");
                vec![with_body(event, body.to_string().into_bytes())]
            }
            event => vec![event.clone()],
        })
    };
    let is_forgotten = |run: &Run| {
        let found = judged(&plan, run).findings;
        found.iter().any(|it| it.check == "calls-remembered" && it.about.calls.contains(&a))
    };
    let shown = Event::CallShown { id: id.clone(), state: ShownState::InProgress };
    let started = run_canary(&plan, Canary::from_name("cut-reply-continued").unwrap());
    let is_start =
        |event: &&Event| matches!(event, Event::ToolStarted { call: Some(call), .. } if *call == a);
    let started = started.trace.events().iter().find(is_start).unwrap().clone();
    assert!(is_forgotten(&with(started)));
    assert!(!is_forgotten(&with(shown)));
}

#[test]
fn an_error_that_a_stop_replaces_is_lost() {
    for plan in on_each("abort/after-failed-tool#k=1") {
        let found = found(&plan, "failure-cancelled");
        let [finding] = found.as_slice() else { panic!("{}: {found:#?}", plan.id) };
        assert_eq!(finding.about.calls, [key(&plan, "b")], "{}", plan.id);
        assert_eq!(finding.got, "`Invocation was aborted by client.`", "{}", plan.id);
    }
}

/// As in the OpenAI Agents SDK for Python: "you can either raise an Exception (which will cause the run to fail) or
/// return a string error message (which will be sent back to the LLM)."
#[test]
fn an_exception_that_the_application_gets_need_not_be_sent_to_the_model() {
    let plan = plan("fault/tool-throw", Dialect::OpenaiChat);
    let lost = |text: &str| {
        let outcome = TurnOutcome::Raised { class: "Error".to_owned(), text: text.to_owned() };
        let failed = rebuilt(&run(&plan), |turn, event| match event {
            Event::TurnEnded { .. } if turn == 0 => vec![Event::TurnEnded { outcome: outcome.clone() }],
            Event::Requested { body, .. } if turn > 0 => {
                let mut body: Value = serde_json::from_slice(body).unwrap();
                let messages = body["messages"].as_array_mut().unwrap();
                messages.retain(|message| message.get("tool_calls").is_none() && message["role"] != "tool");
                vec![with_body(event, body.to_string().into_bytes())]
            }
            event => vec![event.clone()],
        });
        let found = judged(&plan, &failed).findings.into_iter().filter(|it| it.check == "results-kept");
        let mut calls: Vec<_> = found.flat_map(|it| it.about.calls).collect();
        calls.sort();
        calls
    };
    let [a, b, c] = ["a", "b", "c"].map(|name| key(&plan, name));
    assert_eq!(lost("RuntimeError: connection to b refused"), [a, c]);
    assert_eq!(lost("the run failed"), [a, b, c]);
}

/// The sentence that Claude Code sends for a tool that a stop interrupts, as in anthropics/claude-code#47282.
#[test]
fn a_call_that_had_started_was_not_rejected() {
    let rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file \
        edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how \
        to proceed.";
    let plan = plan("abort/mid-batch#k=1", Dialect::OpenaiChat);
    let a = key(&plan, "a");
    let told = |text: &str| {
        let told = with_bodies(&run(&plan), |body| {
            let mut body: Value = serde_json::from_str(body).unwrap();
            let of_a = plan.calls[a.0 as usize].id.as_str();
            let messages = body["messages"].as_array_mut().unwrap().iter_mut();
            for message in messages.filter(|message| message["tool_call_id"] == of_a) {
                message["content"] = text.into();
            }
            body.to_string()
        });
        let found = judged(&plan, &told).findings;
        found.into_iter().map(|it| (it.check, it.severity, it.about.calls)).collect::<Vec<_>>()
    };
    assert_eq!(told(rejected), [("failure-honest", Severity::OutcomeDenied, vec![a])]);
    assert_eq!(told("The tool was interrupted, and may have had its effect."), []);
}
