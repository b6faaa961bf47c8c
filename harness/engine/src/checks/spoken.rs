//! Whether a run has anything that a checker can speak about.
//!
//! A checker that finds nothing where there is nothing to find proves nothing; the account of a run counts the two apart.

use super::evidence::Evidence;
use super::given;
use brickbat_scenario::plan::ToolOutcome;
use brickbat_scenario::trace::{Ending, Event};

/// Each run has turns and requests.
pub(super) fn always(_evidence: &Evidence<'_>) -> bool {
    true
}

/// The thread was broken when the system found it.
pub(super) fn finds_broken_thread(evidence: &Evidence<'_>) -> bool {
    given::is_broken(evidence.plan)
}

/// A result was delivered in time, and a later turn has to know of it.
pub(super) fn has_result_in_time(evidence: &Evidence<'_>) -> bool {
    let last = evidence.last_request().map_or(0, |last| last.turn);
    let mut calls = evidence.plan.calls.iter().zip(&evidence.ledger.calls);
    calls.any(|(call, account)| {
        matches!(account.settled, Some(ToolOutcome::Return(_))) && !account.settled_late && call.turn < last
    })
}

/// A request tells of results.
pub(super) fn tells_results(evidence: &Evidence<'_>) -> bool {
    evidence.requests.iter().any(|request| request.results().next().is_some())
}

/// A request tells of calls.
pub(super) fn tells_calls(evidence: &Evidence<'_>) -> bool {
    evidence.requests.iter().any(|request| request.calls().next().is_some())
}

/// A tool has run to its end. Whether one that the user stopped at once had begun is a race, of which no account tells.
pub(super) fn has_run(evidence: &Evidence<'_>) -> bool {
    let ledger = &evidence.ledger;
    !ledger.strangers.is_empty() || ledger.calls.iter().any(|account| account.settled.is_some())
}

/// A call needs the user's consent.
pub(super) fn asks(evidence: &Evidence<'_>) -> bool {
    evidence.plan.calls.iter().any(|call| call.asks)
}

/// The system shows its calls.
pub(super) fn shows_calls(evidence: &Evidence<'_>) -> bool {
    evidence.run.trace.events().iter().any(|event| matches!(event, Event::CallShown { .. }))
}

/// A reply was cut off.
pub(super) fn has_cut_reply(evidence: &Evidence<'_>) -> bool {
    let is_cut = |event: &Event| match event {
        Event::Replied { ending, .. } => *ending != Ending::Complete,
        _ => false,
    };
    evidence.run.trace.events().iter().any(is_cut)
}

/// Whether the user took anything back.
pub(super) fn has_rewind(evidence: &Evidence<'_>) -> bool {
    !evidence.changed.taken_back.is_empty()
}
