//! Does the system end its turns, keep its requests bounded and show the truth?

use super::evidence::Evidence;
use crate::trace::{Ending, Event, RequestKind, ShownState, TurnOutcome};
use crate::verdict::{Finding, Harm};

/// Every turn ends.
pub(super) fn turn_ends(evidence: &Evidence<'_>) -> Vec<Finding> {
    let gave_up = evidence.run.trace.by_turn().find(|(_, event)| **event == Event::GaveUp);
    let Some((turn, _)) = gave_up else { return Vec::new() };
    let after = if evidence.was_stopped(turn) { " even after the user's stop" } else { "" };
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

/// Requests that may come after the user's stop: one may have been on its way.
const MAX_AFTER_STOP: usize = 1;
/// Requests of a turn beyond the scripted ones: room for the retries that clients make by themselves.
const MAX_BEYOND_SCRIPT: usize = 24;

/// A turn sends no more requests than it needs, and none after the user's stop.
pub(super) fn requests_bounded(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (turn, planned) in evidence.plan.turns.iter().enumerate() {
        let n_scripted: usize = planned.replies.iter().map(|reply| reply.attempts.len()).sum();
        let mut stopped = false;
        let (mut n_all, mut n_after_stop) = (0, 0);
        for (_, event) in evidence.run.trace.by_turn().filter(|(at, _)| *at == turn) {
            match event {
                Event::Stopped => stopped = true,
                Event::Requested { kind, .. } if *kind != RequestKind::Auxiliary => {
                    n_all += 1;
                    n_after_stop += usize::from(stopped);
                }
                _ => {}
            }
        }
        let (got, expected) = if n_after_stop > MAX_AFTER_STOP {
            (format!("{n_after_stop} requests after the stop"), "no request after the user's stop".to_owned())
        } else if n_all > n_scripted + MAX_BEYOND_SCRIPT {
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

/// No call is shown as running when its turn is over.
pub(super) fn parts_settled(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut shown: Vec<(&str, ShownState)> = Vec::new();
    let mut findings = Vec::new();
    for (turn, event) in evidence.run.trace.by_turn() {
        match event {
            Event::CallShown { id, state } => match shown.iter_mut().find(|(known, _)| known == id) {
                Some(entry) => entry.1 = *state,
                None => shown.push((id, *state)),
            },
            Event::TurnEnded { .. } => {
                let stuck: Vec<_> = shown.drain(..).filter(|(_, state)| !state.is_final()).collect();
                findings.extend(stuck_parts(evidence, turn, &stuck));
            }
            _ => {}
        }
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
        let how = match last.and_then(|request| ending_of(request.exchange)) {
            Some(Ending::EndEarly) => "without its terminal event",
            Some(Ending::Eof) => "with the connection closed inside the body",
            Some(Ending::Reset) => "with a reset connection",
            Some(Ending::ErrorEvent) => "with an error event",
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
