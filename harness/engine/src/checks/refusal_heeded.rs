//! Is a request that cannot succeed sent again as it was?

use std::sync::Arc;

use super::*;

pub(super) const CHECK: Check = Check {
    id: "refusal-heeded",
    summary: "a request that cannot succeed (400, 401, 402, 404, 422) is not repeated unchanged",
    level: Level::L4,
    invariants: &[22],
    severity: Severity::ProviderUnheeded,
    rests_on: &[],
    applies: |evidence| evidence.requests.iter().any(|request| hopeless(request.kind).is_some()),
    find,
};

/// Statuses that the same request gets again: it is wrong, or not paid for, or asks for what is not there.
const HOPELESS: [u16; 5] = [400, 401, 402, 404, 422];

/// How often a request that got such a status may be sent again as it was: a key may have been renewed meanwhile,
/// and the body does not show it.
fn n_spare(status: u16) -> usize {
    usize::from(status == 401)
}

fn hopeless(kind: RequestKind) -> Option<u16> {
    match kind {
        RequestKind::Refused { status } | RequestKind::Faulted { status, .. } => {
            Some(status).filter(|status| HOPELESS.contains(status))
        }
        RequestKind::Scripted { .. } | RequestKind::Surplus | RequestKind::Auxiliary => None,
    }
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for turn in 0..evidence.plan.turns.len() {
        let mut refused: Vec<(&Arc<[u8]>, u16, usize)> = Vec::new();
        for event in evidence.events_of(turn) {
            let Event::Requested { kind, body, .. } = event else { continue };
            match refused.iter_mut().find(|(known, _, _)| *known == body) {
                Some((_, _, n_again)) => *n_again += 1,
                None => refused.extend(hopeless(*kind).map(|status| (body, status, 0))),
            }
        }
        let stubborn = refused.into_iter().find(|(_, status, n_again)| *n_again > n_spare(*status));
        findings.extend(stubborn.map(|(_, status, n_again)| Finding {
            message: format!("a request that got status {status} was repeated unchanged"),
            expected: "an error for the user, or a different request".to_owned(),
            got: format!("repeats: {n_again}"),
            ..CHECK.finding(in_turn(turn))
        }));
    }
    findings
}
