//! Do all views of a thread agree: what the user is shown, what is stored, and what the model is told?

use std::collections::BTreeMap;

use serde_json::Value;

use super::evidence::{Evidence, RequestView};
use brickbat_scenario::plan::{CallKey, PlannedCall};
use brickbat_scenario::trace::{Event, ShownState};
use brickbat_scenario::verdict::{Finding, Harm};

/// A result that one view has is in the others.
pub(super) fn views_agree(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(last) = evidence.last_request() else { return Vec::new() };
    let shown = last_shown(evidence);
    let stored = stored(evidence);
    let calls =
        (0..evidence.plan.calls.len() as u32).map(CallKey).filter(|key| is_asked(evidence, last, *key));
    let found = calls.flat_map(|key| {
        let call = evidence.call(key);
        let is_told = evidence.tells(last, key, |result| result.is_error != Some(true));
        // What is shown of an id that several calls share is shown of nobody knows which.
        let is_its = evidence.plan.call_with_id(&call.id) == Some(key);
        let state = shown.get(call.id.as_str()).filter(|_| is_its);
        let by_show = state.and_then(|state| shown_otherwise(call, *state, is_told));
        let by_store = stored.as_deref().and_then(|stored| stored_otherwise(call, stored, is_told));
        by_show.into_iter().chain(by_store)
    });
    found
        .map(|Differs { message, expected, got }| Finding {
            check: "views-agree",
            harm: Harm::ViewsDiffer,
            permanence: None,
            message,
            place: last.place(""),
            rule: None,
            expected: expected.to_owned(),
            got: got.to_owned(),
        })
        .collect()
}

/// Whether there is a second view of a result.
pub(super) fn has_views(evidence: &Evidence<'_>) -> bool {
    let Some(last) = evidence.last_request() else { return false };
    let (shown, stored) = (last_shown(evidence), stored(evidence));
    let mut calls = (0..evidence.plan.calls.len() as u32).map(CallKey);
    calls.any(|key| {
        let is_seen = stored.is_some() || shown.contains_key(evidence.call(key).id.as_str());
        is_seen && is_asked(evidence, last, key)
    })
}

struct Differs {
    message: String,
    expected: &'static str,
    got: &'static str,
}

/// Whether a call had a result in time that later turns know of. What a killed process had shown is gone with it,
/// and what was cut or taken back on purpose is told otherwise.
fn is_asked(evidence: &Evidence<'_>, last: &RequestView, key: CallKey) -> bool {
    let call = evidence.call(key);
    let is_changed = evidence.changed.result_may_be_gone(key);
    evidence.could_tell(key) && call.turn < last.turn && !evidence.died_in(call.turn) && !is_changed
}

/// The last state of each call that was shown.
fn last_shown<'a>(evidence: &Evidence<'a>) -> BTreeMap<&'a str, ShownState> {
    let events = evidence.run.trace.events().iter();
    let shown = events.filter_map(|event| match event {
        Event::CallShown { id, state } => Some((id.as_str(), *state)),
        _ => None,
    });
    shown.collect()
}

fn shown_otherwise(call: &PlannedCall, state: ShownState, is_told: bool) -> Option<Differs> {
    let name = &call.name;
    match (state, is_told) {
        (ShownState::Failed, true) => Some(Differs {
            message: format!("call {name} is shown as failed, and the model is told its result"),
            expected: "one outcome for the user and the model",
            got: "failed for the user, a result for the model",
        }),
        (ShownState::Completed, false) => Some(Differs {
            message: format!("call {name} is shown as completed, and the model is not told its result"),
            expected: "one outcome for the user and the model",
            got: "completed for the user, no result for the model",
        }),
        _ => None,
    }
}

/// The texts in what the system has stored, whatever its format.
fn stored(evidence: &Evidence<'_>) -> Option<Vec<String>> {
    let mut events = evidence.run.trace.events().iter().rev();
    let history = events.find_map(|event| match event {
        Event::Stored { history } => Some(history),
        _ => None,
    })?;
    let value: Value = serde_json::from_slice(history).ok()?;
    let mut texts = Vec::new();
    collect(&value, &mut texts);
    Some(texts)
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A stored result is known by the tool's words, which no argument holds.
fn stored_otherwise(call: &PlannedCall, stored: &[String], is_told: bool) -> Option<Differs> {
    let words = call.outcome.text();
    if !words.contains(call.marker.as_str()) || words == call.marker {
        return None;
    }
    let is_stored = stored.iter().any(|text| text.contains(words));
    let name = &call.name;
    match (is_stored, is_told) {
        (true, false) => Some(Differs {
            message: format!("the result of call {name} is stored, and the model is not told it"),
            expected: "the stored result in the last request",
            got: "no result for the model",
        }),
        (false, true) => Some(Differs {
            message: format!("the model is told the result of call {name}, and the store does not have it"),
            expected: "the result in the store",
            got: "a store without it",
        }),
        _ => None,
    }
}
