//! A turn in which the last reply was cut off ends with an error.

use super::*;
use brickbat_scenario::plan::{Mark, PlannedPoint, Side};
use brickbat_scenario::wire;

pub(super) const CHECK: Check = Check {
    summary: "a turn does not end as a success if its last reply was cut off",
    invariants: &[15, 21],
    applies: has_cut_reply,
    find,
    ..Check::new("truncation-noticed", Level::L3, Severity::TruncationTaken)
};

fn has_cut_reply(evidence: &Evidence<'_>) -> bool {
    let is_cut = |event: &Event| match event {
        Event::Replied { ending, .. } => *ending != Ending::Complete,
        _ => false,
    };
    evidence.run.trace.events().iter().any(is_cut)
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
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
            message: format!("the last reply ended {how}, but the turn returned as if it were complete"),
            expected: "an error, or another request".to_owned(),
            got: "a turn that returned without an error".to_owned(),
            ..CHECK.finding(in_turn(turn))
        });
    }
    findings
}

/// True if the reply was cut only after all of the model's content had been sent. In some dialects the stop
/// reason ends a reply, and clients need not wait for the events after it.
fn is_whole(evidence: &Evidence<'_>, request: &RequestView) -> bool {
    let RequestKind::Scripted { turn, reply, attempt } = request.kind else { return false };
    let after = |mark| PlannedPoint::Stream { reply, attempt, mark, side: Side::After };
    let ends_at_stop = wire::of(evidence.plan.dialect_of(turn)).traits.is_whole_at_stop;
    let said_all = |action: &PlannedAction| {
        action.at == after(Mark::Reply) || (ends_at_stop && action.at == after(Mark::Stop))
    };
    let mut cuts = evidence.plan.turns[turn].actions.iter().filter(|action| action.what.ends_attempt());
    cuts.any(said_all)
}
