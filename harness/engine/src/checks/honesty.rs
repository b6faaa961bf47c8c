//! Is a call that ran told as one that ran, and a success as a success?

use super::evidence::{Evidence, RequestView, ResultView};
use brickbat_scenario::plan::{CallKey, ToolOutcome};
use brickbat_scenario::verdict::{Finding, Harm};

/// Words that call what they stand beside a failure.
const FAILURE: [&str; 6] = ["error", "fail", "interrupt", "abort", "cancel", "denied"];

/// Words that say plainly that a call did not run. That it may have run, or that nobody knows, they do not say.
const NOT_RUN: [&str; 9] = [
    "not run",
    "not executed",
    "never ran",
    "never run",
    "never executed",
    "not started",
    "never started",
    "was skipped",
    "not invoked",
];

/// A call that succeeded is not recorded as failed, and one that ran not as one that did not.
pub(super) fn failure_honest(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(last) = evidence.last_request() else { return Vec::new() };
    let denied = last.results().filter_map(|result| {
        let key = evidence.answered(last, result.id)?;
        Some((key, denial(evidence, key, &result)?, result))
    });
    denied
        .map(|(key, message, result)| Finding {
            check: "failure-honest",
            harm: Harm::OutcomeDenied,
            permanence: None,
            message,
            place: last.place(result.pointer),
            rule: None,
            expected: match evidence.ledger.calls[key.0 as usize].settled {
                Some(_) => "the result as the tool gave it".to_owned(),
                None => "words that leave open what the tool has done".to_owned(),
            },
            got: format!("`{}`", result.text.chars().take(120).collect::<String>()),
        })
        .collect()
}

/// Whether the last request tells of a call that ran to its end.
pub(super) fn has_run(evidence: &Evidence<'_>) -> bool {
    let ran = |request: &RequestView, id: &str| {
        let key = evidence.answered(request, id);
        key.is_some_and(|key| evidence.ledger.calls[key.0 as usize].settled.is_some())
    };
    evidence.last_request().is_some_and(|last| last.results().any(|result| ran(last, result.id)))
}

/// What a result denies of its call, if it does.
fn denial(evidence: &Evidence<'_>, key: CallKey, result: &ResultView<'_>) -> Option<String> {
    let call = evidence.call(key);
    let account = &evidence.ledger.calls[key.0 as usize];
    let words = |text: &str, words: &[&str]| {
        let text = text.to_lowercase();
        words.iter().any(|word| text.contains(word))
    };
    match &account.settled {
        // The tool's own words may be about a failure; what a system puts around them is its own.
        Some(ToolOutcome::Return(returned)) if !account.settled_late => {
            let is_told = result.text.contains(call.marker.as_str());
            let around = || result.text.replace(returned.as_str(), "");
            let is_denied = is_told && (result.is_error == Some(true) || words(&around(), &FAILURE));
            is_denied
                .then(|| format!("call {} succeeded, and its result is recorded as a failure", call.name))
        }
        None if !account.starts.is_empty() && words(result.text, &NOT_RUN) => {
            Some(format!("call {} was running, and its result says that it did not run", call.name))
        }
        _ => None,
    }
}
