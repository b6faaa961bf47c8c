//! After a stop, the connection to the provider is closed.
//!
//! A provider generates, and charges for, a reply until the client closes the connection. The harness holds a reply
//! in a stopped turn until the client has closed the connection or the next turn has sent its first request, so
//! the client had all the time of the user's next message. A reply that has its stop reason is complete, and a
//! client may read the rest of it.
//! Not judged: a stop after which the harness had to let the provider continue (see [`super::turn_ends`]), and a
//! next turn that sends no request while the old connection is open.

use super::*;
use brickbat_scenario::plan::{Mark, PlannedPoint};
use brickbat_scenario::trace::Held;

pub(super) const CHECK: Check = Check {
    summary: "after a stop, the connection to the provider is closed",
    invariants: &[22],
    rests_on: &[Duty::Loop, Duty::Stop],
    applies: |evidence| left(evidence).next().is_some(),
    find,
    ..Check::new("connection-closed", Level::L4, Severity::StreamLeftOpen)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = |(turn, exchange): (usize, ExchangeId)| {
        let events = || evidence.run.trace.by_turn();
        let is_next = |(at, event): (usize, &Event)| at > turn && is_request(event);
        let next = events().position(is_next)?;
        let end = events().enumerate().find_map(|(at, (_, event))| match event {
            Event::Replied { exchange: of, .. } if *of == exchange => Some(at > next),
            Event::PeerClosed { exchange: of } if *of == exchange => Some(false),
            _ => None,
        });
        end.unwrap_or(true).then(|| Finding {
            message: "the user stopped the turn, but the connection to the provider stays open".to_owned(),
            expected: "a client that closes the connection".to_owned(),
            got: "a connection that is still open when the next turn sends its request".to_owned(),
            ..CHECK.finding(in_turn(turn))
        })
    };
    left(evidence).filter_map(found).collect()
}

fn is_request(event: &Event) -> bool {
    matches!(event, Event::Requested { kind, .. } if kind.is_of_thread())
}

/// The turns that the user stopped within a reply, each with that reply.
fn left(evidence: &Evidence<'_>) -> impl Iterator<Item = (usize, ExchangeId)> {
    let turns = 0..evidence.plan.turns.len();
    turns.filter_map(|turn| Some((turn, held_at_stop(evidence, turn)?)))
}

/// The reply that was held when the user stopped the turn, if the turn then ended by itself.
fn held_at_stop(evidence: &Evidence<'_>, turn: usize) -> Option<ExchangeId> {
    let is_stop = |event: &Event| *event == Event::Stopped;
    let is_ours = |event: &Event| matches!(event, Event::LetGo { .. } | Event::GaveUp);
    let is_over = evidence.outcomes().any(|(ended, _)| ended == turn);
    if !is_over || !evidence.events_of(turn).any(is_stop) || evidence.events_of(turn).any(is_ours) {
        return None;
    }
    let mut held = None;
    for event in evidence.events_of(turn).take_while(|event| **event != Event::Stopped) {
        match event {
            Event::Held { exchange, at, .. } => {
                let is_complete = matches!(at.mark, Mark::Stop | Mark::Reply);
                held = (!is_complete && is_stopped_at(evidence, turn, *at)).then_some(*exchange);
            }
            // A client may close the connection before the stop is acknowledged.
            Event::Replied { exchange, .. } if held == Some(*exchange) => held = None,
            _ => {}
        }
    }
    held
}

/// True if the plan stops the turn at this point of a reply. At any other stop it is a race which reply is held.
fn is_stopped_at(evidence: &Evidence<'_>, turn: usize, held: Held) -> bool {
    let is_there = |at: &PlannedPoint| match *at {
        PlannedPoint::Stream { mark, side, .. } => Held { mark, side } == held,
        _ => false,
    };
    let actions = &evidence.plan.turns[turn].actions;
    actions.iter().any(|action| action.what.ends_turn() && is_there(&action.at))
}
