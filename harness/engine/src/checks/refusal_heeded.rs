//! A request that cannot succeed is not sent again unchanged.

use std::sync::Arc;

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "a request that cannot succeed (400, 401, 402, 404, 422) is not repeated unchanged",
    invariants: &[22],
    applies: |evidence| evidence.requests.iter().any(|request| hopeless(request.kind).is_some()),
    find,
    ..Check::new("refusal-heeded", Level::L4, Severity::ProviderUnheeded)
};

/// Statuses that an unchanged request would get again: it is malformed, not authorised, not paid for, or asks
/// for something that does not exist.
const HOPELESS: [u16; 5] = [400, 401, 402, 404, 422];

/// How often a request that got such a status may be sent again with the same body. Its headers may differ: the
/// client may have renewed a key, or left out a beta that the provider does not support.
fn n_spare(status: u16) -> usize {
    usize::from(matches!(status, 400 | 401))
}

fn hopeless(kind: RequestKind) -> Option<u16> {
    match kind {
        RequestKind::Refused { status } | RequestKind::Faulted { status, .. } => {
            Some(status).filter(|status| HOPELESS.contains(status))
        }
        RequestKind::Scripted { .. }
        | RequestKind::Surplus
        | RequestKind::Repeated { .. }
        | RequestKind::Auxiliary
        | RequestKind::OfSubAgent { .. } => None,
    }
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    (0..evidence.plan.turns.len()).find_map(|turn| stubborn_in(evidence, turn)).into_iter().collect()
}

fn stubborn_in(evidence: &Evidence<'_>, turn: usize) -> Option<Finding> {
    let mut refused: Vec<(&Arc<[u8]>, u16, usize)> = Vec::new();
    for event in evidence.events_of(turn) {
        let Event::Requested { kind, body, .. } = event else { continue };
        match refused.iter_mut().find(|(known, _, _)| *known == body) {
            Some((_, _, n_again)) => *n_again += 1,
            None => refused.extend(hopeless(*kind).map(|status| (body, status, 0))),
        }
    }
    let (_, status, n_again) =
        refused.into_iter().find(|(_, status, n_again)| *n_again > n_spare(*status))?;
    Some(Finding {
        message: format!("a request that got status {status} was repeated unchanged"),
        expected: "an error for the user, or a different request".to_owned(),
        got: format!("unchanged repeats: {n_again}"),
        ..CHECK.finding(in_turn(turn))
    })
}
