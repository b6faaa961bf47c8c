//! Stopped turns: runs that continue, stops that come late, and what is shown and stored of the calls.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use brickbat_engine::run::Run;
use brickbat_scenario::plan::{CallKey, Mark, Plan};
use brickbat_scenario::trace::{Event, ExchangeId, LetGo, RequestKind, ShownState};
use brickbat_scenario::verdict::{Severity, Verdict};

use super::staging::{expect_failure, expect_unaccused, judged, key, on_each, rebuilt, run, without};

/// The turn that follows the stopped one, and the last one.
const NEXT: usize = 1;

/// The run with more events before the end of a turn.
fn with_more(run: &Run, turn: usize, more: &[Event]) -> Run {
    rebuilt(run, |at, event| match event {
        Event::TurnEnded { .. } if at == turn => more.iter().chain([event]).cloned().collect(),
        event => vec![event.clone()],
    })
}

/// The last request of the first turn, once more: that of a run which continues it.
fn once_more(run: &Run) -> Event {
    let bodies = run.trace.by_turn().filter_map(|(turn, event)| match event {
        Event::Requested { body, .. } if turn == 0 => Some(body),
        _ => None,
    });
    let body = bodies.last().unwrap().clone();
    Event::requested(ExchangeId(99), RequestKind::Surplus, body)
}

fn start(plan: &Plan, call: CallKey) -> Event {
    Event::ToolStarted { call: Some(call), args: plan.calls[call.0 as usize].args.to_string() }
}

fn shown(plan: &Plan, call: CallKey, state: ShownState) -> Event {
    Event::CallShown { id: plan.calls[call.0 as usize].id.clone(), state }
}

#[test]
fn the_request_of_a_run_that_continues_does_not_belong_to_the_thread() {
    for plan in on_each("abort/mid-batch#k=1") {
        let run = run(&plan);
        let last = plan.turns.len() - 1;
        for turn in [NEXT, last] {
            let goes_on = with_more(&run, turn, &[once_more(&run)]);
            let judgement = judged(&plan, &goes_on);
            let checks: Vec<&str> = judgement.findings.iter().map(|finding| finding.check).collect();
            assert_eq!(checks, ["stops-when-stopped"], "{}: {judgement:#?}", plan.id);
            assert_eq!(judgement.findings[0].severity, Severity::RunsOnAfterStop);
            assert!(judgement.findings[0].got.ends_with(&format!("in turn {}", turn + 1)), "{judgement:#?}");
        }
    }
}

#[test]
fn a_request_of_a_run_after_its_stop_does_not_repair_the_thread() {
    for plan in on_each("abort/mid-batch#k=1") {
        let run = run(&plan);
        let Event::Requested { exchange, kind, head, body, .. } = once_more(&run) else { unreachable!() };
        let said = &plan.turns[0].user;
        let body = std::str::from_utf8(&body).unwrap().replace(said, &format!("{said} [INTERRUPTED]"));
        let noted = Event::Requested {
            exchange,
            kind,
            head,
            compacted: false,
            summary: None,
            body: body.into_bytes().into(),
        };
        let goes_on = rebuilt(&run, |turn, event| match event {
            Event::TurnEnded { .. } if turn == 0 => vec![Event::Quiet, event.clone(), noted.clone()],
            event => vec![event.clone()],
        });
        let judgement = judged(&plan, &goes_on);
        let checks: Vec<&str> = judgement.findings.iter().map(|finding| finding.check).collect();
        assert_eq!(checks, ["stops-when-stopped"], "{}: {judgement:#?}", plan.id);
    }
}

#[test]
fn a_tool_of_a_run_that_continues_is_not_a_rerun_of_the_thread() {
    for plan in on_each("abort/in-text#p=text-1") {
        let run = run(&plan);
        let c = key(&plan, "c");
        for (turn, got) in [(0, "call c starts after the stop"), (NEXT, "call c starts in turn 2")] {
            let quiet = if turn == 0 { vec![Event::Quiet] } else { Vec::new() };
            let more: Vec<Event> = quiet.into_iter().chain([start(&plan, c)]).collect();
            let judgement = judged(&plan, &with_more(&run, turn, &more));
            let found = judgement.findings.iter().map(|finding| (finding.check, finding.got.as_str()));
            // That the model never completed its arguments is a different finding.
            let found: Vec<(&str, &str)> =
                found.filter(|(check, _)| *check != "arguments-complete").collect();
            assert_eq!(found, [("stops-when-stopped", got)], "{}: {judgement:#?}", plan.id);
        }
    }
}

#[test]
fn a_request_in_flight_at_a_stop_is_not_a_finding() {
    for plan in on_each("abort/in-text#p=text-1") {
        let b = key(&plan, "b");
        let judgement = judged(&plan, &with_more(&run(&plan), 0, &[start(&plan, b)]));
        let accused = judgement.findings.iter().any(|finding| finding.check == "stops-when-stopped");
        assert!(!accused, "{}: {judgement:#?}", plan.id);
    }
}

#[test]
fn the_client_marks_the_calls_of_a_stopped_turn_as_cancelled() {
    for plan in on_each("abort/mid-batch#k=1") {
        let run = run(&plan);
        let c = key(&plan, "c");
        let id = plan.calls[c.0 as usize].id.clone();
        let unshown = rebuilt(&run, |_, event| match event {
            Event::CallShown { id: shown, state } if *shown == id && state.is_final() => Vec::new(),
            event => vec![event.clone()],
        });
        expect_unaccused(&plan, &unshown, Verdict::Pass);
        // On a busy machine the first update about it may come after the stop.
        let shown_late = rebuilt(&unshown, |_, event| match event {
            Event::CallShown { id: shown, .. } if *shown == id => Vec::new(),
            Event::Stopped => vec![event.clone(), shown(&plan, c, ShownState::InProgress)],
            event => vec![event.clone()],
        });
        expect_unaccused(&plan, &shown_late, Verdict::Pass);
        let shown_again = with_more(&run, NEXT, &[shown(&plan, c, ShownState::InProgress)]);
        let stuck = "call c is still shown as `in_progress` after its turn is over";
        expect_failure(&plan, &shown_again, "parts-settled", &[stuck]);
    }
}

#[test]
fn a_system_may_store_the_calls_of_a_stopped_turn_as_it_likes() {
    for plan in on_each("abort/mid-batch#k=1") {
        let c = key(&plan, "c");
        let id = &plan.calls[c.0 as usize].id;
        for (state, is_accused) in [("input-available", true), ("output-error", false)] {
            let stored = rebuilt(&run(&plan), |_, event| match event {
                Event::Stored { history } => {
                    let history = String::from_utf8_lossy(history);
                    let part = format!(r#"{{"type":"tool","toolCallId":"{id}","state":"{state}"}}"#);
                    let history = format!("{},{part}]", history.strip_suffix(']').unwrap());
                    vec![Event::Stored { history: history.into_bytes().into() }]
                }
                event => vec![event.clone()],
            });
            if is_accused {
                let stuck = "call c is still stored as `input-available` after its turn was stopped";
                expect_failure(&plan, &stored, "parts-settled", &[stuck]);
            } else {
                expect_unaccused(&plan, &stored, Verdict::Pass);
            }
        }
    }
}

#[test]
fn a_stop_that_takes_effect_only_after_a_hold_ends_is_late() {
    for plan in on_each("abort/mid-batch#k=1") {
        for (what, words) in [
            (LetGo::Replies, "the stop takes effect only when the provider continues"),
            (
                LetGo::Tools,
                "the turn does not end after the stop, because it waits for a tool that does not return",
            ),
        ] {
            let run = with_more(&run(&plan), 0, &[Event::LetGo { what }]);
            let is_given_up =
                |turn: usize, event: &Event| turn == 0 && matches!(event, Event::ToolCancelled { .. });
            let run = if what == LetGo::Tools { without(&run, is_given_up) } else { run };
            let judgement = judged(&plan, &run);
            let found = judgement.findings.iter().map(|finding| (finding.severity, finding.message.as_str()));
            let found: Vec<(Severity, &str)> = found.collect();
            assert_eq!(found, [(Severity::LateStop, words)], "{}: {judgement:#?}", plan.id);
        }
    }
}

#[test]
fn a_stop_without_effect_while_the_provider_is_silent_is_a_hang() {
    for plan in on_each("fault/stall#p=text-1") {
        let hangs = rebuilt(&run(&plan), |turn, event| match event {
            Event::TurnEnded { .. } if turn == 0 => vec![Event::GaveUp],
            event if turn == 0 => vec![event.clone()],
            _ => Vec::new(),
        });
        let words = "the turn does not end after the stop, because the provider is silent";
        expect_failure(&plan, &hangs, "turn-ends", &[words]);
    }
}

#[test]
fn a_stop_at_the_end_of_a_complete_reply_is_not_late() {
    for plan in on_each("abort/at-completion") {
        let run = run(&plan);
        let is_held = |event: &Event| matches!(event, Event::Held { at, .. } if at.mark == Mark::Reply);
        assert!(run.trace.events().iter().any(is_held), "{}", plan.id);
        expect_unaccused(&plan, &with_more(&run, 0, &[Event::LetGo { what: LetGo::Replies }]), Verdict::Pass);
    }
}

#[test]
fn a_long_silence_without_a_reason_is_slow() {
    for plan in on_each("fault/server-down#reply=2") {
        let judgement = judged(&plan, &with_more(&run(&plan), 0, &[Event::Waited { seconds: 44 }]));
        let slow = judgement.findings.iter().filter(|finding| finding.severity == Severity::Slow);
        let messages: Vec<&str> = slow.map(|finding| finding.message.as_str()).collect();
        assert_eq!(
            messages,
            ["the turn continues only after a silence of 44 s"],
            "{}: {judgement:#?}",
            plan.id
        );
        // Between a failed request and the next one, it is a client's backoff.
        let run = run(&plan);
        let backoff = with_more(&run, 0, &[Event::Waited { seconds: 44 }, once_more(&run)]);
        let found = judged(&plan, &backoff).findings;
        assert!(found.iter().all(|finding| finding.severity != Severity::Slow), "{}: {found:#?}", plan.id);
    }
    for plan in on_each("abort/mid-batch#k=1") {
        // After the stop, the harness is what waits.
        expect_unaccused(&plan, &with_more(&run(&plan), 0, &[Event::Waited { seconds: 44 }]), Verdict::Pass);
    }
}
