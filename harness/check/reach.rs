//! What a system can get to, as its control plan has shown.

use super::evidence::Evidence;
use crate::conductor::Receipt;
use crate::plan::{Plan, PlannedFault, PlannedPoint};
use crate::trace::{Event, RequestKind, Trace};

/// What the control plan has shown of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// The most tools that ran at once.
    pub width: usize,
    /// Whether a tool started before its reply was over.
    pub eager: bool,
}

impl Reach {
    /// Reads it off the trace of a control plan.
    pub fn of(plan: &Plan, trace: &Trace) -> Reach {
        let mut reach = Reach { width: 0, eager: false };
        let mut open = vec![false; plan.calls.len()];
        let mut n_streaming = 0_usize;
        for event in trace.events() {
            match event {
                Event::Requested { kind: RequestKind::Scripted { .. } | RequestKind::Surplus, .. } => {
                    n_streaming += 1
                }
                Event::Replied { .. } | Event::PeerClosed { .. } => {
                    n_streaming = n_streaming.saturating_sub(1)
                }
                Event::ToolStarted { call: Some(call), .. } => {
                    open[call.0 as usize] = true;
                    reach.width = reach.width.max(open.iter().filter(|open| **open).count());
                    reach.eager |= n_streaming > 0;
                }
                Event::ToolSettled { call, .. } | Event::ToolCancelled { call } => {
                    open[call.0 as usize] = false
                }
                _ => {}
            }
        }
        reach
    }
}

/// Why an action that did not happen could not happen on this system, if that is so.
pub(super) fn unreachable(
    evidence: &Evidence<'_>,
    receipt: &Receipt,
    reach: Option<&Reach>,
) -> Option<String> {
    if receipt.fired {
        return None;
    }
    let PlannedPoint::Stream { reply, attempt, .. } = receipt.at else { return None };
    if matches!(receipt.what, PlannedFault::Settle(_)) && reach.is_some_and(|reach| !reach.eager) {
        return Some("this system starts its tools only when the reply is over".to_owned());
    }
    let served = evidence
        .requests
        .iter()
        .any(|request| request.kind == RequestKind::Scripted { turn: receipt.turn, reply, attempt });
    let after_another = evidence.run.receipts.iter().any(|other| other.turn == receipt.turn && other.fired);
    let asked_for = "this system does not ask for that reply after what happened before";
    (!served && after_another).then(|| asked_for.to_owned())
}
