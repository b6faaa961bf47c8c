//! Every call of a finished turn is shown, and stored, as finished.
//!
//! At the user's stop the client itself marks the unfinished calls of the turn as cancelled, as the Agent
//! Client Protocol requires, so a system need not show that. The system is responsible for how it shows them
//! in a later turn, and for how it stores them. A run that continues after its stop is another finding
//! ([`super::stops_when_stopped`]).

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "no call of a finished turn stays displayed, or stored, as running",
    invariants: &[2, 10, 14],
    rests_on: &[Duty::States],
    applies: shows_calls,
    find,
    ..Check::new("parts-settled", Level::L2, Severity::StuckPart)
};

fn shows_calls(evidence: &Evidence<'_>) -> bool {
    evidence.run.trace.events().iter().any(|event| matches!(event, Event::CallShown { .. }))
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let shown = shown(evidence);
    let stuck = |turn: usize| {
        let of_turn = shown.iter().filter(move |part| part.turn == turn && part.is_stuck(evidence));
        of_turn.map(|part| (part.id, part.state)).collect::<Vec<_>>()
    };
    let displayed = evidence.outcomes().filter_map(|(turn, _)| stuck_parts(evidence, turn, &stuck(turn)));
    // A bricked thread sends no request in the following turns.
    let last = evidence.run.trace.by_turn().last().map_or(0, |(turn, _)| turn);
    let stored = evidence.stored.iter().flat_map(|stored| {
        let stopped = (0..last).filter(|turn| evidence.was_stopped(*turn));
        stopped.filter_map(|turn| stored_running(evidence, turn, stored)).collect::<Vec<_>>()
    });
    displayed.chain(stored).collect()
}

/// The display of one call.
struct Part<'a> {
    id: &'a str,
    /// The turn in which it was first shown.
    turn: usize,
    state: ShownState,
    /// The turn in which it was last shown.
    at: usize,
}

impl Part<'_> {
    fn is_stuck(&self, evidence: &Evidence<'_>) -> bool {
        // Updates just before a stop and just after it arrive in any order.
        let is_client_s =
            self.at == self.turn && evidence.events_of(self.turn).any(|event| *event == Event::Stopped);
        let key = evidence.call_by_id(self.id).map(|(key, _)| key);
        !self.state.is_final() && !is_client_s && !key.is_some_and(|key| evidence.is_astray(key))
    }
}

/// The last update of each call. A call may finish after its turn if its tool ignores the stop.
fn shown<'a>(evidence: &Evidence<'a>) -> Vec<Part<'a>> {
    let mut shown: Vec<Part<'a>> = Vec::new();
    for (turn, event) in evidence.run.trace.by_turn() {
        match event {
            Event::CallShown { id, state } => match shown.iter_mut().find(|part| part.id == id) {
                Some(part) => (part.state, part.at) = (*state, turn),
                None => shown.push(Part { id, turn, state: *state, at: turn }),
            },
            // A dead process shows nothing any more: calls that it left running are not reported.
            Event::Killed => shown.retain(|part| part.state.is_final()),
            _ => {}
        }
    }
    shown
}

/// Words for an unfinished call in a store.
const RUNNING: [&str; 6] =
    ["input-available", "input-streaming", "pending", "in_progress", "in-progress", "running"];

/// The calls of a stopped turn that are stored as running, in one finding.
fn stored_running(evidence: &Evidence<'_>, turn: usize, stored: &Value) -> Option<Finding> {
    let of_turn = evidence.plan.calls.iter().zip((0..).map(CallKey));
    let of_turn = of_turn.filter(|(call, _)| call.turn == turn && !call.given);
    let running = of_turn.filter_map(|(call, key)| Some((key, call, stored_state(stored, &call.id)?)));
    let running: Vec<(CallKey, &PlannedCall, &str)> =
        running.filter(|(_, _, state)| RUNNING.contains(state)).collect();
    let mut states: Vec<&str> = running.iter().map(|(_, _, state)| *state).collect();
    states.sort_unstable();
    states.dedup();
    states.first()?;
    let state = in_quotes(&states);
    let names: Vec<&str> = running.iter().map(|(_, call, _)| call.name.as_str()).collect();
    Some(Finding {
        message: format!(
            "{} still stored as {state} after {} turn was stopped",
            named(&names),
            whose(&names)
        ),
        expected: "a finished state".to_owned(),
        got: state,
        ..CHECK
            .finding(in_turn(turn))
            .of_calls(running.iter().map(|(key, ..)| *key))
            .resting_on(basis(evidence, running.iter().map(|(key, ..)| *key)))
    })
}

/// The last stored state for this id: in the same object, or in an object with that key inside it.
fn stored_state<'a>(stored: &'a Value, id: &str) -> Option<&'a str> {
    match stored {
        Value::Array(items) => items.iter().rev().find_map(|item| stored_state(item, id)),
        Value::Object(fields) => {
            let inner = || fields.values().rev().find_map(|field| stored_state(field, id));
            if fields.values().any(|field| field.as_str() == Some(id)) {
                let state = fields.get("state").or_else(|| fields.get("status"));
                return state
                    .and_then(|state| state.as_str().or_else(|| state.get("status")?.as_str()))
                    .or_else(inner);
            }
            inner()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// The duties on which the end of calls rests. Calls that were left to the client end when the client reports
/// it. Anything that is shown under an unknown id is the system's.
fn basis(evidence: &Evidence<'_>, keys: impl Iterator<Item = CallKey>) -> &'static [Duty] {
    let mut keys = keys.peekable();
    let are_left = keys.peek().is_some() && keys.all(|key| evidence.is_left_to_client(key));
    if are_left { &[Duty::States, Duty::Client] } else { CHECK.rests_on }
}

/// One finding for all calls of a turn that stay unfinished.
fn stuck_parts(evidence: &Evidence<'_>, turn: usize, stuck: &[(&str, ShownState)]) -> Option<Finding> {
    let name = |id| evidence.call_by_id(id).map_or(id, |(_, call)| call.name.as_str());
    let names: Vec<&str> = stuck.iter().map(|(id, _)| name(id)).collect();
    if names.is_empty() {
        return None;
    }
    let mut states: Vec<ShownState> = stuck.iter().map(|(_, state)| *state).collect();
    states.sort_unstable();
    states.dedup();
    let word = in_quotes(&states.iter().map(|state| state.name()).collect::<Vec<_>>());
    let keys = || stuck.iter().filter_map(|(id, _)| Some(evidence.call_by_id(id)?.0));
    Some(Finding {
        message: format!("{} still shown as {word} after {} turn is over", named(&names), whose(&names)),
        expected: "completed or failed".to_owned(),
        got: word,
        ..CHECK.finding(in_turn(turn)).of_calls(keys()).resting_on(basis(evidence, keys()))
    })
}

/// States, as the system writes them.
fn in_quotes(states: &[&str]) -> String {
    states.iter().map(|state| format!("`{state}`")).collect::<Vec<_>>().join(" or ")
}

/// Call names, as the subject of a sentence.
fn named(names: &[&str]) -> String {
    match names {
        [] => "no call is".to_owned(),
        [name] => format!("call {name} is"),
        [names @ .., last] => format!("calls {} and {last} are", names.join(", ")),
    }
}

fn whose(names: &[&str]) -> &'static str {
    if names.len() == 1 { "its" } else { "their" }
}
