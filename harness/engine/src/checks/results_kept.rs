//! Are results that were delivered in time in the last request?
//!
//! Of a process that was killed in the turn less can be asked. That it has read a result, and even that it has said so,
//! does not mean that it could have stored it, which takes a moment. But what a system lets others see rests on what it
//! knows, so it has to store that first. Hence a result is required after a kill only if the process had *acknowledged* it: it had shown the call as completed, so that the
//! user counts on it, or sent the result to the provider, who answered it and charged for it. The tool has run, with
//! all that it changed, and a thread that forgets it will run it again.
//! Whether a result is there after a kill rests on the store, and otherwise on whoever runs the tools and answers the calls.
//! What the user said is always required, because a kill comes when the provider has been asked about it.

use super::*;

pub(super) const CHECK: Check = Check {
    id: "results-kept",
    summary: "the last request contains every result that was delivered in time",
    level: Level::L3,
    invariants: &[17],
    severity: Severity::ResultsLost,
    rests_on: &[Duty::Loop],
    applies: has_result_in_time,
    find,
};

/// A result was delivered in time, and a later turn has to know it.
fn has_result_in_time(evidence: &Evidence<'_>) -> bool {
    let last = evidence.last_request().map_or(0, |last| last.turn);
    let mut keys = (0..).map(CallKey).zip(evidence.calls());
    keys.any(|(key, (call, account))| {
        let is_in_time = matches!(account.settled, Some(ToolOutcome::Return(_))) && !account.settled_late;
        is_in_time && call.turn < last && evidence.is_sure(key)
    })
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(last) = evidence.last_request() else { return Vec::new() };
    let keys = (0..evidence.plan.calls.len() as u32).map(CallKey);
    let lost = keys.filter(|key| is_due(evidence, *key) && !evidence.shows_result(last, *key, |_| true));
    lost.map(|key| {
        let call = evidence.call(key);
        let name = &call.name;
        let message = if call.given {
            format!("the result of call {name} was in the given history and is missing")
        } else if let Some(how) = evidence.acknowledged(key).filter(|_| evidence.died_in(call.turn)) {
            format!(
                "the result of call {name} is missing: the process was killed after it had {how}, \
                 so the tool has run and the thread has no record of it"
            )
        } else {
            format!("the result of call {name} was delivered and is missing")
        };
        Finding {
            message,
            expected: format!("the result of call {name} in the requests that follow"),
            got: evidence.shape(last),
            ..CHECK
                .finding(last.place(""))
                .of_calls([key])
                .of_turn(call.turn)
                .resting_on(basis(evidence, key))
        }
    })
    .collect()
}

/// Whether the last request has to hold the result of a call.
pub(super) fn is_due(evidence: &Evidence<'_>, key: CallKey) -> bool {
    let call = evidence.call(key);
    let is_later = evidence.last_request().is_some_and(|last| call.given || last.turn > call.turn);
    let is_known = call.given || !evidence.died_in(call.turn) || evidence.acknowledged(key).is_some();
    // What comes of a run that goes on after its stop is a finding about that run.
    let is_of_thread = !evidence.is_astray(key);
    is_later
        && is_known
        && is_of_thread
        && evidence.could_send(key)
        && !evidence.changed.result_may_be_gone(key)
        && !given::is_compacted(evidence.plan, key)
}

/// What it rests on that a result is there. What stood in a given history came to the system as it was.
fn basis(evidence: &Evidence<'_>, key: CallKey) -> &'static [Duty] {
    let call = evidence.call(key);
    if call.given {
        return &[];
    }
    let step_end = evidence.step_end(key);
    if evidence.died_in(call.turn) {
        return match step_end {
            // A system may hand on a batch as a whole, when the question about one of its calls is answered.
            StepEnd::Asking | StepEnd::BrokenOffAsking => &[Duty::Store, Duty::Questions],
            StepEnd::Whole | StepEnd::BrokenOff => &[Duty::Store],
        };
    }
    match step_end {
        StepEnd::Asking => &[Duty::Loop, Duty::Questions],
        StepEnd::BrokenOffAsking => &[Duty::Loop, Duty::Steps, Duty::Turns, Duty::Questions],
        StepEnd::BrokenOff => &[Duty::Loop, Duty::Steps, Duty::Turns],
        StepEnd::Whole => match (evidence.came_to_nothing(call.turn), evidence.ended_badly(call.turn)) {
            (true, true) => &[Duty::Loop, Duty::Invalid, Duty::Turns],
            (true, false) => &[Duty::Loop, Duty::Invalid],
            (false, true) => &[Duty::Loop, Duty::Turns],
            (false, false) => CHECK.rests_on,
        },
    }
}
