//! Is every call of a turn that is over shown as over?

use super::*;

pub(super) const CHECK: Check = Check {
    id: "parts-settled",
    summary: "no call of a finished turn stays displayed as running",
    level: Level::L2,
    invariants: &[2, 10, 14],
    severity: Severity::StuckPart,
    applies: shows_calls,
    find,
};

fn shows_calls(evidence: &Evidence<'_>) -> bool {
    evidence.run.trace.events().iter().any(|event| matches!(event, Event::CallShown { .. }))
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
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
    let stuck = |turn: usize| {
        let of_turn = shown.iter().filter(move |(at, _, state)| *at == turn && !state.is_final());
        of_turn.map(|(_, id, state)| (*id, *state)).collect::<Vec<_>>()
    };
    evidence.outcomes().filter_map(|(turn, _)| stuck_parts(evidence, turn, &stuck(turn))).collect()
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
        message: format!("{calls} still shown as {word} after {whose} turn is over"),
        expected: "completed or failed".to_owned(),
        got: word.to_owned(),
        ..CHECK.finding(in_turn(turn))
    })
}
