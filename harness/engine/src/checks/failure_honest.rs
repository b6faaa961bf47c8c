//! A success is recorded as a success, and a call that ran as one that ran.

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "a call that succeeded is not recorded as failed, and a call that started is not recorded as \
              not run",
    invariants: &[17],
    rests_on: &[Duty::Loop],
    applies: has_result_of_run,
    find,
    ..Check::new("failure-honest", Level::L3, Severity::OutcomeDenied)
};

/// Words that mark the text next to them as a failure.
const FAILURE: [&str; 6] = ["error", "fail", "interrupt", "abort", "cancel", "denied"];

/// Words that state that a call did not run. Texts that leave it open contain none of them. "The tool use was rejected
/// (eg. if it was a file edit, the new_string was NOT written to the file)" is what Claude Code sends for a tool that a
/// stop interrupts (anthropics/claude-code#86001).
const NOT_RUN: [&str; 10] = [
    "not run",
    "not executed",
    "never ran",
    "never run",
    "never executed",
    "not started",
    "never started",
    "was skipped",
    "not invoked",
    "tool use was rejected",
];

/// True if the last request has the result of a call that ran to its end.
fn has_result_of_run(evidence: &Evidence<'_>) -> bool {
    let ran = |request: &RequestView, id: &str| {
        let is_of_run = |key: CallKey| evidence.account(key).settled.is_some() && evidence.is_sure(key);
        evidence.answered(request, id).is_some_and(is_of_run)
    };
    evidence.last_request().is_some_and(|last| last.results().any(|result| ran(last, result.id)))
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(last) = evidence.last_request() else { return Vec::new() };
    let denied = last.results().filter_map(|result| {
        let key = evidence.answered(last, result.id)?;
        Some((key, denial(evidence, key, &result)?, result))
    });
    denied
        .map(|(key, message, result)| Finding {
            message,
            expected: match evidence.account(key).settled {
                Some(_) => "the result that the tool returned".to_owned(),
                None => "a text that leaves open what the tool did".to_owned(),
            },
            got: quoted(result.text),
            ..CHECK.finding(last.place(result.pointer)).of_calls([key]).resting_on(basis(evidence, key))
        })
        .collect()
}

/// The duties that an honest result rests on; the store is one if the process that knew the outcome has died.
fn basis(evidence: &Evidence<'_>, key: CallKey) -> &'static [Duty] {
    if evidence.died_in(evidence.call(key).turn) {
        &[Duty::Store, Duty::Unfinished, Duty::Loop]
    } else {
        CHECK.rests_on
    }
}

/// Returns how a result contradicts what its call did, if it does.
fn denial(evidence: &Evidence<'_>, key: CallKey, result: &ResultView<'_>) -> Option<String> {
    let call = evidence.call(key);
    let account = evidence.account(key);
    let words = |text: &str, words: &[&str]| {
        let text = text.to_lowercase();
        words.iter().any(|word| text.contains(word))
    };
    match &account.settled {
        // The tool's own words may be about a failure. The words around them, or instead of them, are the
        // system's.
        Some(ToolOutcome::Return(returned)) if !account.settled_late => {
            let is_known = result.text.contains(call.marker.as_str()) || results_kept::is_due(evidence, key);
            let around = || result.text.replace(returned.as_str(), "");
            // Only one of several handoffs is taken; the others had no effect.
            let is_denied = is_known
                && !evidence.plan.is_extra_handoff(key)
                && (result.is_error == Some(true) || words(&around(), &FAILURE));
            is_denied
                .then(|| format!("call {} succeeded, but its result is recorded as a failure", call.name))
        }
        None if !account.starts.is_empty() && words(result.text, &NOT_RUN) => {
            Some(format!("call {} had started, but its result says that it did not run", call.name))
        }
        _ => None,
    }
}
