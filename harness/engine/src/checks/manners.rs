//! Does the system end its turns, keep its requests bounded and show the truth?

use super::evidence::{Evidence, RequestView};
use brickbat_scenario::action::Action;
use brickbat_scenario::plan::{Mark, PlannedAction, PlannedPoint, Side};
use brickbat_scenario::trace::{Aside, Ending, Event, RequestKind, ShownState, TurnOutcome};
use brickbat_scenario::verdict::{Finding, Harm};
use brickbat_scenario::wire;

/// Every turn ends.
pub(super) fn turn_ends(evidence: &Evidence<'_>) -> Vec<Finding> {
    let gave_up = evidence.run.trace.by_turn().find(|(_, event)| **event == Event::GaveUp);
    let Some((turn, _)) = gave_up else { return Vec::new() };
    if waits_for_ever(evidence, turn) {
        return Vec::new();
    }
    let after = if is_tried(evidence, turn) { " even after a stop" } else { "" };
    vec![Finding {
        check: "turn-ends",
        harm: Harm::Hang,
        permanence: None,
        message: format!("the turn does not end{after}"),
        place: format!("turn {}", turn + 1),
        rule: None,
        expected: "a turn that ends by itself".to_owned(),
        got: "silence".to_owned(),
    }]
}

/// Whether a turn was given up while it waited for a tool that never answers, before anything that the plan has for that
/// could happen; then a plan that did not come to pass proves nothing, and the turn ended when it was stopped.
fn waits_for_ever(evidence: &Evidence<'_>, turn: usize) -> bool {
    let events = || evidence.run.trace.by_turn().filter(|(at, _)| *at == turn).map(|(_, event)| event);
    let before = || events().take_while(|event| **event != Event::GaveUp);
    let hangs = before().any(|event| match event {
        Event::ToolStarted { call: Some(call), .. } => evidence.call(*call).hangs,
        _ => false,
    });
    let is_over = events()
        .skip_while(|event| **event != Event::GaveUp)
        .any(|event| matches!(event, Event::TurnEnded { .. } | Event::Killed));
    hangs && !is_tried(evidence, turn) && is_over
}

/// Whether a turn was stopped, broken off or killed before it was given up; the stop that follows is the harness's own.
fn is_tried(evidence: &Evidence<'_>, turn: usize) -> bool {
    let of_turn = evidence.run.trace.by_turn().filter(|(at, _)| *at == turn).map(|(_, event)| event);
    of_turn
        .take_while(|event| **event != Event::GaveUp)
        .any(|event| matches!(event, Event::Stopped | Event::Interrupted { .. } | Event::Killed))
}

/// Requests that may come after the user's stop: one may have been on its way.
const MAX_AFTER_STOP: usize = 1;
/// Requests beyond the scripted ones in a turn in which something fails: room for the retries of clients.
const MAX_RETRIES: usize = 24;
/// The same in a turn in which nothing fails: a warm-up, or a last look.
const MAX_EXTRA: usize = 2;

/// A turn sends no more requests than it needs, and after the user's stop at most the one that was on its way.
pub(super) fn requests_bounded(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (turn, planned) in evidence.plan.turns.iter().enumerate() {
        let n_replies: usize = planned.replies.iter().map(|reply| reply.attempts.len()).sum();
        let n_errors: usize = planned.actions.iter().map(n_http_errors).sum();
        let n_scripted = n_replies + n_errors;
        let refused = |request: &RequestView| request.turn == turn && request.refusal.is_some();
        let fails = !planned.actions.is_empty() || evidence.requests.iter().any(refused);
        let n_spare = if fails { MAX_RETRIES } else { MAX_EXTRA };
        let mut stopped = false;
        let (mut n_all, mut n_after_stop) = (0, 0);
        for (_, event) in evidence.run.trace.by_turn().filter(|(at, _)| *at == turn) {
            match event {
                Event::Stopped | Event::Interrupted { .. } => stopped = true,
                // The user goes on with another prompt.
                Event::Said { way: Aside::Prompted, .. } => stopped = false,
                Event::Requested { kind, .. } if *kind != RequestKind::Auxiliary => {
                    n_all += 1;
                    n_after_stop += usize::from(stopped);
                }
                _ => {}
            }
        }
        let (got, expected) = if n_after_stop > MAX_AFTER_STOP {
            (format!("{n_after_stop} requests after the stop"), "no request after the user's stop".to_owned())
        } else if n_all > n_scripted + n_spare {
            (format!("{n_all} requests"), format!("about {n_scripted} requests"))
        } else {
            continue;
        };
        findings.push(Finding {
            check: "requests-bounded",
            harm: Harm::RequestLoop,
            permanence: None,
            message: "the system asks again and again".to_owned(),
            place: format!("turn {}", turn + 1),
            rule: None,
            expected,
            got,
        });
    }
    findings
}

fn n_http_errors(action: &PlannedAction) -> usize {
    match &action.what {
        Action::Http(fault) => fault.times as usize,
        _ => 0,
    }
}

/// No call of a turn that is over is shown as running to the end of the thread.
pub(super) fn parts_settled(evidence: &Evidence<'_>) -> Vec<Finding> {
    // A call may be over later than its turn, as a tool is that does not hear the stop: the last word counts.
    let mut shown: Vec<(usize, &str, ShownState)> = Vec::new();
    for (turn, event) in evidence.run.trace.by_turn() {
        let (id, state) = match event {
            Event::CallShown { id, state } => (id, state),
            // A dead process shows nothing any more: what it left running is not held against it.
            Event::Killed => {
                shown.retain(|(_, _, state)| state.is_final());
                continue;
            }
            _ => continue,
        };
        match shown.iter_mut().find(|(_, known, _)| known == id) {
            Some(entry) => entry.2 = *state,
            None => shown.push((turn, id, *state)),
        }
    }
    let ended: Vec<usize> = evidence.outcomes().map(|(turn, _)| turn).collect();
    let mut findings = Vec::new();
    for turn in ended {
        let of_turn = shown.iter().filter(|(at, _, state)| *at == turn && !state.is_final());
        let stuck: Vec<(&str, ShownState)> = of_turn.map(|(_, id, state)| (*id, *state)).collect();
        findings.extend(stuck_parts(evidence, turn, &stuck));
    }
    findings
}

/// One finding for all calls of a turn that are left as they were.
fn stuck_parts(evidence: &Evidence<'_>, turn: usize, stuck: &[(&str, ShownState)]) -> Option<Finding> {
    let name = |id| evidence.call_by_id(id).map_or(id, |(_, call)| call.name.as_str());
    let names: Vec<&str> = stuck.iter().map(|(id, _)| name(id)).collect();
    let calls = match names.as_slice() {
        [] => return None,
        [name] => format!("call {name} is"),
        [names @ .., last] => format!("calls {} and {last} are", names.join(", ")),
    };
    let n_pending = stuck.iter().filter(|(_, state)| *state == ShownState::Pending).count();
    let word = match n_pending {
        0 => "in progress",
        n if n == stuck.len() => "pending",
        _ => "pending or in progress",
    };
    let whose = if names.len() == 1 { "its" } else { "their" };
    Some(Finding {
        check: "parts-settled",
        harm: Harm::StuckPart,
        permanence: None,
        message: format!("{calls} still shown as {word} when {whose} turn is over"),
        place: format!("turn {}", turn + 1),
        rule: None,
        expected: "completed or failed".to_owned(),
        got: word.to_owned(),
    })
}

/// A turn whose last reply was cut off does not end as a success.
pub(super) fn truncation_noticed(evidence: &Evidence<'_>) -> Vec<Finding> {
    let ending_of = |exchange| {
        evidence.run.trace.events().iter().find_map(|event| match event {
            Event::Replied { exchange: ended, ending } if *ended == exchange => Some(*ending),
            _ => None,
        })
    };
    let mut findings = Vec::new();
    for (turn, _) in evidence.outcomes().filter(|(_, outcome)| **outcome == TurnOutcome::Returned) {
        let last = evidence.requests.iter().rfind(|r| r.turn == turn && r.kind != RequestKind::Auxiliary);
        let Some(last) = last.filter(|request| !is_whole(evidence, request)) else { continue };
        let how = match ending_of(last.exchange) {
            Some(Ending::EndEarly) => "without its terminal event",
            Some(Ending::Eof) => "with the connection closed inside the body",
            Some(Ending::Reset) => "with a reset connection",
            Some(Ending::ErrorEvent) => "with an error event",
            Some(Ending::Status) if matches!(last.kind, RequestKind::Faulted { .. }) => "with an HTTP error",
            Some(Ending::Complete | Ending::Status) | None => continue,
        };
        findings.push(Finding {
            check: "truncation-noticed",
            harm: Harm::TruncationTaken,
            permanence: None,
            message: format!("the last reply ended {how}, and the turn returned as if it were whole"),
            place: format!("turn {}", turn + 1),
            rule: None,
            expected: "an error, or another request".to_owned(),
            got: "returned".to_owned(),
        });
    }
    findings
}

/// Whether all that the model said was sent, although the reply was cut: behind its last event nothing is left to say.
/// In some dialects the stop reason ends a reply, and clients need not wait for what stands behind it.
fn is_whole(evidence: &Evidence<'_>, request: &RequestView) -> bool {
    let RequestKind::Scripted { turn, reply, attempt } = request.kind else { return false };
    let after = |mark| PlannedPoint::Stream { reply, attempt, mark, side: Side::After };
    let ends_at_stop = wire::of(evidence.plan.dialect).traits.is_whole_at_stop;
    let said_all = |action: &PlannedAction| {
        action.at == after(Mark::Reply) || (ends_at_stop && action.at == after(Mark::Stop))
    };
    let mut cuts = evidence.plan.turns[turn].actions.iter().filter(|action| action.what.ends_attempt());
    cuts.any(said_all)
}
