//! Does every turn end?

use super::*;

pub(super) const CHECK: Check = Check {
    id: "turn-ends",
    summary: "every turn ends",
    level: Level::L0,
    invariants: &[16, 21, 22],
    severity: Severity::Hang,
    applies: |_| true,
    find,
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let gave_up = evidence.run.trace.by_turn().find(|(_, event)| **event == Event::GaveUp);
    let Some((turn, _)) = gave_up else { return Vec::new() };
    if waits_for_ever(evidence, turn) {
        return Vec::new();
    }
    let after = if is_tried(evidence, turn) { " even after a stop" } else { "" };
    vec![Finding {
        message: format!("the turn does not end{after}"),
        expected: "a turn that ends by itself".to_owned(),
        got: "silence".to_owned(),
        ..CHECK.finding(in_turn(turn))
    }]
}

/// Whether a turn was given up while it waited for a tool that never answers, before anything that the plan has for that
/// could happen; then a plan that did not come to pass proves nothing, and the turn ended when it was stopped.
fn waits_for_ever(evidence: &Evidence<'_>, turn: usize) -> bool {
    let hangs = before(evidence, turn).any(|event| match event {
        Event::ToolStarted { call: Some(call), .. } => evidence.call(*call).hangs,
        _ => false,
    });
    let is_over = evidence
        .events_of(turn)
        .skip_while(|event| **event != Event::GaveUp)
        .any(|event| matches!(event, Event::TurnEnded { .. } | Event::Killed));
    hangs && !is_tried(evidence, turn) && is_over
}

/// Whether a turn was stopped, broken off or killed before it was given up; the stop that follows is the harness's own.
fn is_tried(evidence: &Evidence<'_>, turn: usize) -> bool {
    before(evidence, turn)
        .any(|event| matches!(event, Event::Stopped | Event::Interrupted { .. } | Event::Killed))
}

fn before<'e>(evidence: &'e Evidence<'_>, turn: usize) -> impl Iterator<Item = &'e Event> {
    evidence.events_of(turn).take_while(|event| **event != Event::GaveUp)
}
