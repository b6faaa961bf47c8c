//! Are results that were delivered in time in the last request?
//!
//! Of a process that was killed in the turn less can be asked. That it has read a result, and even that it has said so,
//! does not mean that it could have stored it, which takes a moment. But what a system lets others see rests on what it
//! knows, so it has to store that first. Hence a result is required after a kill only if the process had *acknowledged* it: it had shown the call as completed, so that the
//! user counts on it, or sent the result to the provider, who answered it and charged for it. The tool has run, with
//! all that it changed, and a thread that forgets it will run it again.
//! What the user said is always required, because a kill comes when the provider has been asked about it.

use super::*;

pub(super) const CHECK: Check = Check {
    id: "results-kept",
    summary: "the last request contains every result that was delivered in time",
    level: Level::L3,
    invariants: &[17],
    severity: Severity::ResultsLost,
    applies: has_result_in_time,
    find,
};

/// A result was delivered in time, and a later turn has to know it.
fn has_result_in_time(evidence: &Evidence<'_>) -> bool {
    let last = evidence.last_request().map_or(0, |last| last.turn);
    evidence.calls().any(|(call, account)| {
        matches!(account.settled, Some(ToolOutcome::Return(_))) && !account.settled_late && call.turn < last
    })
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(last) = evidence.last_request() else { return Vec::new() };
    let lost = evidence.plan.calls.iter().enumerate().filter_map(|(key, call)| {
        let key = CallKey(key as u32);
        let name = &call.name;
        let message = if call.given {
            Some(format!("the result of call {name} was in the given history and is missing"))
        } else if evidence.died_in(call.turn) {
            evidence.acknowledged(key).map(|how| {
                format!(
                    "the result of call {name} is missing: the process was killed after it had {how}, \
                     so the tool has run and the thread has no record of it"
                )
            })
        } else {
            Some(format!("the result of call {name} was delivered and is missing"))
        };
        let is_due = (call.given || last.turn > call.turn) && !evidence.changed.result_may_be_gone(key);
        let is_lost = is_due && evidence.could_send(key) && !evidence.shows_result(last, key, |_| true);
        message.filter(|_| is_lost).map(|message| (call, message))
    });
    lost.map(|(call, message)| Finding {
        message,
        expected: format!("the result of call {} in the requests that follow", call.name),
        got: evidence.shape(last),
        ..CHECK.finding(last.place(""))
    })
    .collect()
}
