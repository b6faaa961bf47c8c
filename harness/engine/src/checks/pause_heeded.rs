//! Does a request wait for the time that the provider has named?

use super::*;

pub(super) const CHECK: Check = Check {
    id: "pause-heeded",
    summary: "no request is sent before the time that the provider has asked the client to wait for",
    level: Level::L4,
    invariants: &[22],
    severity: Severity::ProviderUnheeded,
    rests_on: &[],
    applies: has_pause,
    find,
};

fn has_pause(evidence: &Evidence<'_>) -> bool {
    evidence.requests.iter().any(|request| matches!(request.kind, RequestKind::Faulted { .. }))
}

/// In another turn it is the user who is early.
fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    // Whether the provider asked for a pause in this turn: before the last request, and with it.
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
        message: "the request was sent before the time that the provider had asked for".to_owned(),
        expected: "a request after the time in `retry-after-ms` or `retry-after`".to_owned(),
        got: "an earlier request".to_owned(),
        ..CHECK.finding(Place::of_request(turn, exchange, ""))
    };
    early.map(finding).into_iter().collect()
}
