//! A request that failed in a turn is not sent again in a later one.
//!
//! The user has begun another turn by then: the second reply is not read, and the user pays for it. A client that
//! reconnects in the background does this, even if the turn has already ended with an error. Such a request does
//! not contain the history of the turn in which it comes.

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "a request that failed is not sent again when its turn is over and the user has gone on",
    invariants: &[22],
    applies: |evidence| (0..evidence.plan.turns.len()).any(|turn| is_left_behind(evidence, turn)),
    find,
    ..Check::new("requests-end-with-turn", Level::L4, Severity::AbandonedRequestRepeated)
};

/// True if a reply failed in this turn and another turn has begun since.
fn is_left_behind(evidence: &Evidence<'_>, turn: usize) -> bool {
    let failed =
        |event: &Event| matches!(event, Event::Replied { ending, .. } if *ending != Ending::Complete);
    let is_followed = evidence.events_of(turn + 1).next().is_some();
    is_followed && evidence.events_of(turn).any(failed)
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = evidence.repeated.iter().map(|repeated| Finding {
        message: "a request that failed in an earlier turn is sent again in the background".to_owned(),
        expected: "no request of a turn that has ended".to_owned(),
        got: format!("the body of request {}, once more", repeated.of.0 + 1),
        ..CHECK.finding(Place::of_request(repeated.turn, repeated.exchange, ""))
    });
    found.collect()
}
