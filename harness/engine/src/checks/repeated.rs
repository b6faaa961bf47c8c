//! Requests that a client sent again on its own, after the turn in which they failed. They are not in the thread.

use super::RequestView;
use crate::run::Run;
use brickbat_scenario::trace::{Event, ExchangeId, RequestKind, TurnOutcome};

/// A request that repeats a failed one of an earlier turn.
pub struct RepeatedRequest {
    pub exchange: ExchangeId,
    /// The 0-based turn in which it came.
    pub turn: usize,
    /// The failed request.
    pub of: ExchangeId,
}

/// The requests that a client sent again on its own. A turn that returned without any other request was answered
/// by it, so there it is the turn's own, without what the user said.
pub fn repeated(run: &Run, requests: &[RequestView]) -> Vec<RepeatedRequest> {
    let is_other = |request: &RequestView, turn| request.turn == turn && request.kind.is_of_thread();
    let is_of_turn = |turn: usize| {
        let has_returned = |(at, event): (usize, &Event)| {
            at == turn && matches!(event, Event::TurnEnded { outcome: TurnOutcome::Returned })
        };
        run.trace.by_turn().any(has_returned) && !requests.iter().any(|request| is_other(request, turn))
    };
    let repeated = requests.iter().filter_map(|request| match request.kind {
        RequestKind::Repeated { of } if !is_of_turn(request.turn) => {
            Some(RepeatedRequest { exchange: request.exchange, turn: request.turn, of })
        }
        _ => None,
    });
    repeated.collect()
}
