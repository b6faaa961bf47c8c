//! Does the system heed what the provider asks of its clients?

use std::sync::Arc;

use super::evidence::Evidence;
use brickbat_scenario::trace::{Event, ExchangeId, RequestKind};
use brickbat_scenario::verdict::{Finding, Harm};

/// Statuses that the same request gets again: it is wrong, or not paid for, or asks for what is not there.
const HOPELESS: [u16; 5] = [400, 401, 402, 404, 422];

/// How often a request that got such a status may be sent again as it was: a key may have been renewed meanwhile,
/// and the body does not show it.
fn n_spare(status: u16) -> usize {
    usize::from(status == 401)
}

/// A request that cannot succeed is not sent again as it was.
pub(super) fn refusal_heeded(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for turn in 0..evidence.plan.turns.len() {
        let mut refused: Vec<(&Arc<[u8]>, u16, usize)> = Vec::new();
        for (_, event) in evidence.run.trace.by_turn().filter(|(at, _)| *at == turn) {
            let Event::Requested { kind, body, .. } = event else { continue };
            match refused.iter_mut().find(|(known, _, _)| *known == body) {
                Some((_, _, n_again)) => *n_again += 1,
                None => refused.extend(hopeless(*kind).map(|status| (body, status, 0))),
            }
        }
        let stubborn = refused.into_iter().find(|(_, status, n_again)| *n_again > n_spare(*status));
        findings.extend(stubborn.map(|(_, status, n_again)| Finding {
            check: "refusal-heeded",
            harm: Harm::ProviderUnheeded,
            permanence: None,
            message: format!("a request that got status {status} is sent again as it was"),
            place: format!("turn {}", turn + 1),
            rule: None,
            expected: "an error for the user, or another request".to_owned(),
            got: format!("sent again: {n_again}"),
        }));
    }
    findings
}

/// Whether a request was refused for good.
pub(super) fn has_refusal(evidence: &Evidence<'_>) -> bool {
    evidence.requests.iter().any(|request| hopeless(request.kind).is_some())
}

fn hopeless(kind: RequestKind) -> Option<u16> {
    match kind {
        RequestKind::Refused { status } | RequestKind::Faulted { status, .. } => {
            Some(status).filter(|status| HOPELESS.contains(status))
        }
        RequestKind::Scripted { .. } | RequestKind::Surplus | RequestKind::Auxiliary => None,
    }
}

/// A request that is to come later does not come before its time. In another turn it is the user who is early.
pub(super) fn pause_heeded(evidence: &Evidence<'_>) -> Vec<Finding> {
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
        check: "pause-heeded",
        harm: Harm::ProviderUnheeded,
        permanence: None,
        message: "the provider said when to come back, and the request came before that".to_owned(),
        place: format!("turn {} request {}", turn + 1, exchange.0 + 1),
        rule: None,
        expected: "a request after the time in `retry-after-ms` or `retry-after`".to_owned(),
        got: "one before it".to_owned(),
    };
    early.map(finding).into_iter().collect()
}

/// Whether the provider has asked for a pause.
pub(super) fn has_pause(evidence: &Evidence<'_>) -> bool {
    evidence.requests.iter().any(|request| matches!(request.kind, RequestKind::Faulted { .. }))
}
