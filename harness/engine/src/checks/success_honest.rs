//! A call that did not succeed is not recorded as a success.
//!
//! A text that reports the failure is enough, since the model reads it. A request that marks such a text as the
//! tool's success is a milder finding, in a dialect in which a result names its success.

use super::*;
use brickbat_rules::admission::{self, Author};
use brickbat_scenario::wire;

pub(super) const CHECK: Check = Check {
    summary: "a call that did not succeed is not recorded as a success",
    invariants: &[17, 25],
    rests_on: &[Duty::Loop],
    applies: |evidence| evidence.has_results(),
    find,
    ..Check::new("success-honest", Level::L3, Severity::SuccessFabricated)
};

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(last) = evidence.last_request() else { return Vec::new() };
    let mut found = lies(evidence, last);
    found.extend(unmarked(evidence, last));
    found
}

fn lies(evidence: &Evidence<'_>, last: &RequestView) -> Vec<Finding> {
    let lies = last.results().filter(|result| {
        let Some(key) = evidence.answered(last, result.id) else { return false };
        if given::is_ambiguous(evidence.plan, key) {
            return false;
        }
        let account = evidence.account(key);
        // The system may word the result of a handoff that it skipped as it likes.
        if evidence.is_skipped_handoff(key) {
            return false;
        }
        let succeeded = account.settled.as_ref().is_some_and(ToolOutcome::is_success);
        // A success that came too late excuses only a result with its text. The result of a handoff is the
        // system's own text.
        let call = evidence.call(key);
        let is_carried = call.hands_over || result.text.contains(call.marker.as_str());
        let real = succeeded && (!account.settled_late || is_carried);
        !real && !admits_failure(result, account)
    });
    lies.map(|result| Finding {
        message: format!(
            "call {} did not succeed, but its result does not say so",
            evidence.name_of(last, result.id)
        ),
        expected: "an error, or a text that reports the failure".to_owned(),
        got: quoted(result.text),
        ..CHECK.finding(last.place(result.pointer)).of_calls(evidence.answered(last, result.id))
    })
    .collect()
}

/// Finds the error of a tool that the request marks as a success. An exception of a tool counts as its error.
fn unmarked(evidence: &Evidence<'_>, last: &RequestView) -> Option<Finding> {
    if !wire::of(evidence.plan.dialect_of(last.turn)).traits.names_success {
        return None;
    }
    let (result, key) = last.results().find_map(|result| {
        let key = evidence.answered(last, result.id).filter(|_| result.is_error == Some(false))?;
        let account = evidence.account(key);
        let failed = matches!(account.settled, Some(ToolOutcome::Error(_) | ToolOutcome::Throw(_)));
        let is_known = failed && !account.settled_late && !evidence.call(key).given;
        (is_known && admits_failure(&result, account)).then_some((result, key))
    })?;
    let name = &evidence.call(key).name;
    Some(Finding {
        severity: Severity::ErrorUnmarked,
        message: format!("the tool of call {name} failed, and its error is sent in the field for a success"),
        expected: "the error in the field for errors".to_owned(),
        got: quoted(result.text),
        ..CHECK.finding(last.place(result.pointer)).of_calls([key])
    })
}

/// True if a result reports a failure: by its flag, by the tool's own error text, or by its wording.
pub(super) fn admits_failure(result: &ResultView<'_>, account: &CallRecord) -> bool {
    let text = result.text.to_lowercase();
    let says_so = |outcome: &ToolOutcome| !outcome.text().is_empty() && result.text.contains(outcome.text());
    result.is_error == Some(true)
        || account.settled.as_ref().is_some_and(says_so)
        || says_nothing(&text)
        || admission::admits_failure(&text, Author::System)
}

/// True if a result contains no text, directly or inside an object: the AI SDK writes `{"name": …, "content": …}`
/// for Gemini.
fn says_nothing(text: &str) -> bool {
    let fields: Option<serde_json::Map<String, Value>> = serde_json::from_str(text).ok();
    let is_empty = |fields: serde_json::Map<String, Value>| {
        fields.get("content").is_some_and(|content| content == "")
            && fields.keys().all(|key| key == "name" || key == "content")
    };
    text.is_empty() || fields.is_some_and(is_empty)
}
