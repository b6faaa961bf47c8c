//! The last request contains every result that was delivered in time.
//!
//! An error that a tool reported is a result, too. A system may word it, so only two things break the requirement: the
//! call has no result, or its result claims that the call was interrupted, without the words of the error. An exception
//! that ends the turn as its error was passed on to the application, so it may be missing.
//!
//! The check requires less of a process that was killed in the turn. A process that has read a result, and even
//! confirmed that, may not have had time to store it. But a system must store a result before it lets others see
//! it. After a kill, a result is therefore required only if the process had *acknowledged* it: it had shown the
//! call as completed, so the user counts on it, or it had sent the result to the provider, which answered and
//! charged for it. The tool has run, with all its side effects, and a thread that forgets the result will run the
//! tool again. After a kill the result rests on the store, or on the code that keeps the work of an unfinished
//! turn; otherwise it rests on the code that runs the tools. The user's message is always required, because a kill comes after the request with that message.

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "the last request contains every result that was delivered in time",
    invariants: &[17],
    rests_on: &[Duty::Loop],
    applies: has_result_in_time,
    find,
    ..Check::new("results-kept", Level::L3, Severity::ResultsLost)
};

/// True if a result was delivered in time and a later turn needs it.
fn has_result_in_time(evidence: &Evidence<'_>) -> bool {
    let last = evidence.last_request().map_or(0, |last| last.turn);
    let mut keys = (0..).map(CallKey).zip(evidence.calls());
    keys.any(|(key, (call, account))| {
        let is_result = |outcome: &ToolOutcome| !matches!(outcome, ToolOutcome::Deny(_));
        let is_in_time = account.settled.as_ref().is_some_and(is_result) && !account.settled_late;
        is_in_time && call.turn < last && evidence.is_sure(key)
    })
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(last) = evidence.last_request() else { return Vec::new() };
    let keys = || (0..evidence.plan.calls.len() as u32).map(CallKey);
    let lost = keys().filter(|key| is_due(evidence, *key) && !evidence.shows_result(last, *key, |_| true));
    let lost = lost.map(|key| {
        let call = evidence.call(key);
        let name = &call.name;
        let message = if call.given {
            format!("the last request does not contain the result of call {name} from the given history")
        } else if let Some(how) = evidence.acknowledged(key).filter(|_| evidence.died_in(call.turn)) {
            format!(
                "the result of call {name} is missing: the process was killed after it had {how}, \
                 so the tool ran, but the thread has no record of it"
            )
        } else {
            format!("the last request does not contain what the tool of call {name} returned")
        };
        Finding {
            message,
            expected: format!("the text that the tool returned, as the result of call {name}"),
            got: evidence.shape(last),
            ..CHECK
                .finding(last.place(""))
                .of_calls([key])
                .of_turn(call.turn)
                .resting_on(basis(evidence, key))
        }
    });
    lost.chain(keys().filter_map(|key| lost_error(evidence, last, key))).collect()
}

/// The finding if the last request must contain the error of a call and does not.
fn lost_error(evidence: &Evidence<'_>, last: &RequestView, key: CallKey) -> Option<Finding> {
    let call = evidence.call(key);
    let words = evidence.account(key).settled.as_ref().map(ToolOutcome::text)?;
    let is_there = !words.is_empty() && last.contains(words);
    if is_there || !is_error_due(evidence, key) {
        return None;
    }
    let results: Vec<&str> = last
        .results()
        .filter(|result| evidence.answered(last, result.id) == Some(key))
        .map(|result| result.text)
        .collect();
    if last.n_calls_with(&call.id) > 1 || results.iter().any(|text| !claims_interruption(text)) {
        return None;
    }
    let got = results.first().map_or_else(|| evidence.shape(last), |text| quoted(text));
    Some(Finding {
        message: format!(
            "the last request does not contain the error that the tool of call {} reported",
            call.name
        ),
        expected: format!("{}, as the result of call {}", quoted(words), call.name),
        got,
        ..CHECK.finding(last.place("")).of_calls([key]).of_turn(call.turn).resting_on(basis(evidence, key))
    })
}

/// Words of a result that claims that a call was interrupted.
const INTERRUPTED: [&str; 5] = ["abort", "cancel", "interrupt", "stopped", "not complete"];

fn claims_interruption(text: &str) -> bool {
    let text = text.to_lowercase();
    INTERRUPTED.iter().any(|word| text.contains(word))
}

/// True if the last request must contain the result of a call.
pub(super) fn is_due(evidence: &Evidence<'_>, key: CallKey) -> bool {
    evidence.could_send(key) && is_of_later_request(evidence, key)
}

/// True if the last request must contain the error of a call.
pub(super) fn is_error_due(evidence: &Evidence<'_>, key: CallKey) -> bool {
    evidence.could_send_error(key) && is_of_later_request(evidence, key) && !is_passed_on(evidence, key)
}

/// True if the exception of a tool ended its turn, and the application got it as the error of the turn. The application
/// then knows of the failure, and decides what it tells the model.
fn is_passed_on(evidence: &Evidence<'_>, key: CallKey) -> bool {
    let Some(ToolOutcome::Throw(words)) = &evidence.account(key).settled else { return false };
    let own = evidence.call(key).turn;
    let is_passed = |(turn, outcome): (usize, &TurnOutcome)| match outcome {
        TurnOutcome::Raised { text, .. } => turn == own && text.contains(words.as_str()),
        TurnOutcome::Cancelled | TurnOutcome::Returned => false,
    };
    !words.is_empty()
        && !evidence.was_stopped(own)
        && !evidence.died_in(own)
        && evidence.outcomes().any(is_passed)
}

/// True if the outcome of a call came to a process that could keep it, and belongs into the last request.
fn is_of_later_request(evidence: &Evidence<'_>, key: CallKey) -> bool {
    let call = evidence.call(key);
    let is_later = evidence.last_request().is_some_and(|last| call.given || last.turn > call.turn);
    let is_known = call.given || !evidence.died_in(call.turn) || evidence.acknowledged(key).is_some();
    // Results of a run that continues after its stop are a finding about that run.
    let is_of_thread = !evidence.is_astray(key);
    is_later
        && is_known
        && is_of_thread
        && !evidence.changed.result_may_be_gone(key)
        && !given::is_compacted(evidence.plan, key)
}

/// The duties that the presence of a call and its result rests on. A given history rests on none: the system received it as it
/// is.
pub(super) fn basis(evidence: &Evidence<'_>, key: CallKey) -> &'static [Duty] {
    let call = evidence.call(key);
    if call.given {
        return &[];
    }
    let step_end = evidence.step_end(key);
    if evidence.died_in(call.turn) {
        return match step_end {
            // A system may hand on a complete batch once the question about one of its calls is answered.
            StepEnd::Asking | StepEnd::BrokenOffAsking => &[Duty::Store, Duty::Unfinished, Duty::Questions],
            StepEnd::Whole | StepEnd::BrokenOff => &[Duty::Store, Duty::Unfinished],
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
