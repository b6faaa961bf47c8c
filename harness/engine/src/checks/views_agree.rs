//! All views of a thread agree: the display, the store and the requests.

use std::collections::BTreeMap;

use super::*;

pub(super) const CHECK: Check = Check {
    summary: "the display, the store and the requests agree on the result of every call",
    invariants: &[14],
    applies: has_views,
    find,
    ..Check::new("views-agree", Level::L2, Severity::ViewsDiffer)
};

/// True if a result has a second view.
fn has_views(evidence: &Evidence<'_>) -> bool {
    let Some(last) = evidence.last_request() else { return false };
    let shown = last_shown(evidence);
    keys(evidence).any(|key| {
        let is_seen = evidence.stored.is_some() || shown.contains_key(evidence.call(key).id.as_str());
        is_seen && is_due(evidence, last, key) && evidence.is_sure(key)
    })
}

fn find(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some(last) = evidence.last_request() else { return Vec::new() };
    let shown = last_shown(evidence);
    let stored = stored(evidence);
    let found = keys(evidence).filter(|key| is_due(evidence, last, *key)).flat_map(|key| {
        let call = evidence.call(key);
        let is_sent = evidence.shows_result(last, key, |result| result.is_error != Some(true));
        // A status update for an id that several calls share is ambiguous.
        let is_its = evidence.plan.call_with_id(&call.id) == Some(key);
        let state = shown.get(call.id.as_str()).filter(|_| is_its);
        let ends = (evidence.step_end(key), evidence.ended_badly(call.turn));
        let by_show = state.and_then(|state| shown_otherwise(call, *state, is_sent, ends));
        let by_store = stored.as_deref().and_then(|stored| stored_otherwise(call, stored, is_sent));
        by_show.into_iter().chain(by_store).map(move |difference| (key, difference))
    });
    found
        .map(|(key, Difference { message, expected, got, rests_on })| Finding {
            message,
            expected: expected.to_owned(),
            got: got.to_owned(),
            ..CHECK
                .finding(last.place(""))
                .of_calls([key])
                .of_turn(evidence.call(key).turn)
                .resting_on(rests_on)
        })
        .collect()
}

fn keys(evidence: &Evidence<'_>) -> impl Iterator<Item = CallKey> {
    (0..evidence.plan.calls.len() as u32).map(CallKey)
}

struct Difference {
    message: String,
    expected: &'static str,
    got: &'static str,
    rests_on: &'static [Duty],
}

/// True if a call got its result in time and later turns need it. Killed turns are left out, because their
/// display died with the process, and so are turns that were cut or taken back on purpose.
fn is_due(evidence: &Evidence<'_>, last: &RequestView, key: CallKey) -> bool {
    let call = evidence.call(key);
    let is_changed = evidence.changed.result_may_be_gone(key);
    evidence.could_send(key) && call.turn < last.turn && !evidence.died_in(call.turn) && !is_changed
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

fn shown_otherwise(
    call: &PlannedCall,
    state: ShownState,
    is_sent: bool,
    (step_end, ended_badly): (StepEnd, bool),
) -> Option<Difference> {
    let name = &call.name;
    match (state, is_sent) {
        (ShownState::Failed, true) => Some(Difference {
            message: format!("call {name} is shown as failed, but the last request contains its result"),
            expected: "the same outcome for the user and the model",
            got: "shown to the user as failed, but the model gets a result",
            rests_on: &[Duty::States],
        }),
        (ShownState::Completed, false) => Some(Difference {
            message: format!(
                "call {name} is shown as completed, but the last request does not contain its result"
            ),
            expected: "the same outcome for the user and the model",
            got: "shown to the user as completed, but the model gets no result",
            // The code that runs the tools knows that they have ended, even if their results are lost.
            rests_on: match step_end {
                StepEnd::Whole if ended_badly => &[Duty::States, Duty::Loop, Duty::Turns],
                StepEnd::Whole => &[Duty::States, Duty::Loop],
                StepEnd::BrokenOff => &[Duty::States, Duty::Loop, Duty::Steps, Duty::Turns],
                StepEnd::Asking => &[Duty::States, Duty::Loop, Duty::Questions],
                StepEnd::BrokenOffAsking => {
                    &[Duty::States, Duty::Loop, Duty::Steps, Duty::Turns, Duty::Questions]
                }
            },
        }),
        _ => None,
    }
}

/// The texts in the system's store, in any format.
fn stored<'e>(evidence: &'e Evidence<'_>) -> Option<Vec<&'e str>> {
    let mut texts = Vec::new();
    collect(evidence.stored.as_ref()?, &mut texts);
    Some(texts)
}

fn collect<'e>(value: &'e Value, texts: &mut Vec<&'e str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A stored result is recognised by the tool's text, which occurs in no argument.
fn stored_otherwise(call: &PlannedCall, stored: &[&str], is_sent: bool) -> Option<Difference> {
    let words = call.outcome.text();
    if !words.contains(call.marker.as_str()) || words == call.marker {
        return None;
    }
    let is_stored = stored.iter().any(|text| text.contains(words));
    let name = &call.name;
    match (is_stored, is_sent) {
        (true, false) => Some(Difference {
            message: format!("the result of call {name} is stored, but the last request does not contain it"),
            expected: "the stored result in the last request",
            got: "no result for the model",
            // A stored result has reached the system.
            rests_on: &[Duty::Loop],
        }),
        (false, true) => Some(Difference {
            message: format!("the last request contains the result of call {name}, but the store does not"),
            expected: "the result in the store",
            got: "no result in the store",
            rests_on: &[Duty::Store],
        }),
        _ => None,
    }
}
