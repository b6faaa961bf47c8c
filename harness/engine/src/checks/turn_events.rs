//! The events of a turn that may explain its failure, in words. A finding about a turn that fails names them, so
//! that the reader does not take the turn for an ordinary one.

use super::*;
use crate::triage::own;
use brickbat_scenario::surrogate::HALF_CHARACTER;

/// The events of a turn, and the switch before it. Empty if nothing happened.
pub(super) fn of_turn(evidence: &Evidence<'_>, turn: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    words.extend(switched(evidence, turn));
    words.extend(refused(evidence, turn));
    words.extend(cut(evidence, turn));
    words.extend(tools(evidence, turn));
    words
}

/// The clause that a sentence about a failure ends with. Empty if nothing happened.
pub(super) fn clause(evidence: &Evidence<'_>, turn: usize) -> String {
    let words = of_turn(evidence, turn);
    if words.is_empty() { String::new() } else { own::in_this_turn(&words) }
}

/// The dialect of the last turn, if the failed turn was on another one.
pub(super) fn returned_to(evidence: &Evidence<'_>, turn: usize) -> Option<&'static str> {
    let last = evidence.plan.turns.len().checked_sub(1)?;
    let (here, there) = (evidence.plan.dialect_of(turn), evidence.plan.dialect_of(last));
    (last > turn && here != there).then(|| there.name())
}

fn switched(evidence: &Evidence<'_>, turn: usize) -> Option<String> {
    let before = evidence.plan.dialect_of(turn.checked_sub(1)?);
    let here = evidence.plan.dialect_of(turn);
    (before != here).then(|| format!("the conversation moved from {before} to {here}"))
}

/// The HTTP errors that the provider sent as planned.
fn refused(evidence: &Evidence<'_>, turn: usize) -> Option<String> {
    let statuses = evidence.requests.iter().filter(|request| request.turn == turn);
    let mut statuses = statuses.filter_map(|request| match request.kind {
        RequestKind::Faulted { status, .. } => Some(status),
        _ => None,
    });
    let first = statuses.next()?;
    let n = 1 + statuses.count();
    let requests = if n == 1 { "a request".to_owned() } else { format!("{n} requests") };
    Some(format!("the provider answered {requests} with status {first}"))
}

fn cut(evidence: &Evidence<'_>, turn: usize) -> Option<String> {
    let is_cut = |event: &Event| match event {
        Event::Replied { ending: Ending::Complete | Ending::Status, .. } => false,
        Event::Replied { exchange, .. } => evidence.turn_of(*exchange) == Some(turn),
        _ => false,
    };
    evidence.run.trace.events().iter().any(is_cut).then(|| "a reply was cut off".to_owned())
}

/// The tools that did not simply return a text, the first of each kind.
fn tools(evidence: &Evidence<'_>, turn: usize) -> Vec<String> {
    let mut found: Vec<(&'static str, String)> = Vec::new();
    for (call, account) in evidence.calls().filter(|(call, _)| call.turn == turn && !call.given) {
        let Some(outcome) = &account.settled else { continue };
        let (what, words) = match outcome {
            _ if outcome.text().contains(HALF_CHARACTER) => ("half", "answered with half a character"),
            ToolOutcome::Error(_) => ("error", "returned an error"),
            ToolOutcome::Throw(_) => ("throw", "threw an exception"),
            ToolOutcome::Deny(_) => ("deny", "was not allowed by the user"),
            ToolOutcome::Return(_) => continue,
        };
        if found.iter().all(|(known, _)| *known != what) {
            found.push((what, format!("the tool of call {} {words}", call.name)));
        }
    }
    found.into_iter().map(|(_, words)| words).collect()
}
