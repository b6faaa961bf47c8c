//! A request waits as long as the provider has asked for.

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "no request is sent during a wait that the provider requested",
    invariants: &[22],
    applies: has_pause,
    find,
    ..Check::new("pause-heeded", Level::L4, Severity::ProviderUnheeded)
};

fn has_pause(evidence: &Evidence<'_>) -> bool {
    evidence.requests.iter().any(|request| matches!(request.kind, RequestKind::Faulted { .. }))
}

/// Only requests of the same turn count: in a later turn, it is the user who did not wait.
fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    // The provider asked for a pause in this turn: before the last request, or in answer to it.
    let (mut was_asked, mut is_asked) = (false, false);
    let mut early: Option<(usize, ExchangeId)> = None;
    for (turn, event) in evidence.run.trace.by_turn() {
        match event {
            Event::Prompted { .. } => (was_asked, is_asked) = (false, false),
            Event::Requested { kind, .. } => {
                was_asked = is_asked;
                is_asked |= matches!(kind, RequestKind::Faulted { .. });
            }
            Event::Early { exchange } if was_asked => early = early.or(Some((turn, *exchange))),
            _ => {}
        }
    }
    let finding = |(turn, exchange): (usize, ExchangeId)| Finding {
        message: "a request was sent before the wait that the provider requested was over".to_owned(),
        expected: "no request until the time in `retry-after-ms` or `retry-after` has passed".to_owned(),
        got: "an earlier request".to_owned(),
        ..CHECK.finding(Place::of_request(turn, exchange, ""))
    };
    early.map(finding).into_iter().collect()
}
