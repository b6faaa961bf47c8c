//! A system's behaviour in a run, as a set of numbers: how it sends requests, how it shows calls, and how
//! turns and tools end.
//!
//! The features are deliberately coarse. A feature that distinguished all scenarios from each other would
//! keep them all and guide nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use brickbat_rules::{Dialect, list_of};
use brickbat_scenario::hash::fnv1a;
use brickbat_scenario::trace::{Event, RequestKind, Trace, TurnOutcome};

/// The number of distinct features: all systems together have some hundreds.
pub const N_FEATURES: u64 = 1024;

/// The features of a run and its findings.
pub fn features<'a>(trace: &Trace, findings: impl Iterator<Item = &'a str>) -> BTreeSet<u16> {
    let mut features = Features::default();
    let mut last = "";
    let mut shown: BTreeMap<&str, String> = BTreeMap::new();
    let mut ledger: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for event in trace.events() {
        let name = name(event);
        features.add(&["after", last, &name]);
        match event {
            Event::Requested { kind, body, .. } => {
                let shape = shape(body);
                features.add(&["request", asked(*kind), &shape]);
            }
            Event::CallShown { id, state } => {
                let state = word(state);
                let before = shown.insert(id, state.clone()).unwrap_or_default();
                features.add(&["shown", &before, &state]);
            }
            Event::ToolStarted { call: Some(call), .. } => {
                ledger.entry(call.0).or_default().push("started".to_owned());
            }
            Event::ToolSettled { call, outcome, .. } => {
                ledger.entry(call.0).or_default().push(word(outcome));
            }
            Event::ToolCancelled { call } => ledger.entry(call.0).or_default().push("cancelled".to_owned()),
            Event::TurnEnded { outcome: TurnOutcome::Raised { class, .. } } => {
                features.add(&["raised", class])
            }
            _ => {}
        }
        // A system may show calls at any time, so such an event tells nothing about its predecessor.
        if !matches!(event, Event::CallShown { .. }) {
            last = named(event);
        }
    }
    ledger.values().for_each(|life| features.add(&["ledger", &life.join(" ")]));
    findings.for_each(|check| features.add(&["found", check]));
    features.0
}

#[derive(Default)]
struct Features(BTreeSet<u16>);

impl Features {
    fn add(&mut self, words: &[&str]) {
        let number = fnv1a(words.join("\n").as_bytes()) % N_FEATURES;
        self.0.insert(number as u16);
    }
}

/// A name for an event, of one or two words.
fn name(event: &Event) -> String {
    match event {
        Event::Requested { kind, .. } => format!("{} {}", named(event), asked(*kind)),
        Event::Replied { ending, .. } => format!("{} {}", named(event), word(ending)),
        Event::TurnEnded { outcome } => {
            let how = serde_json::to_value(outcome).unwrap_or_default();
            format!("{} {}", named(event), how.get("kind").and_then(Value::as_str).unwrap_or_default())
        }
        _ => named(event).to_owned(),
    }
}

fn named(event: &Event) -> &'static str {
    match event {
        Event::Prompted { .. } => "prompted",
        Event::Requested { .. } => "requested",
        Event::Early { .. } => "early",
        Event::Held { .. } => "held",
        Event::Replied { .. } => "replied",
        Event::PeerClosed { .. } => "peer-closed",
        Event::ToolStarted { .. } => "tool-started",
        Event::ToolSettled { .. } => "tool-settled",
        Event::ToolCancelled { .. } => "tool-cancelled",
        Event::OldRunEnded { .. } => "old-run-ended",
        Event::CallShown { .. } => "call-shown",
        Event::Asked { .. } => "asked",
        Event::Answered { .. } => "answered",
        Event::Stopped => "stopped",
        Event::Interrupted { .. } => "interrupted",
        Event::Said { .. } => "said",
        Event::PromptRefused => "prompt-refused",
        Event::Killed => "killed",
        Event::Resumed => "resumed",
        Event::Changed { .. } => "changed",
        Event::Saving { .. } => "saving",
        Event::Switched { .. } => "switched",
        Event::Quiet => "quiet",
        Event::Waited { .. } => "waited",
        Event::Repaired { .. } => "repaired",
        Event::LetGo { .. } => "let-go",
        Event::GaveUp => "gave-up",
        Event::TurnEnded { .. } => "turn-ended",
        Event::Stored { .. } => "stored",
    }
}

fn asked(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Scripted { attempt: 0, .. } => "scripted",
        RequestKind::Scripted { .. } => "retried",
        RequestKind::Refused { .. } => "refused",
        RequestKind::Faulted { .. } => "faulted",
        RequestKind::Surplus => "surplus",
        RequestKind::Repeated { .. } => "repeated",
        RequestKind::Auxiliary => "auxiliary",
        RequestKind::OfSubAgent { .. } => "of-sub-agent",
    }
}

/// The value if it is a word, or the first key if it is an object.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(Value::Object(keys)) => {
            let first =
                keys.iter().next().map(|(key, value)| (key.clone(), value.as_str().map(str::to_owned)));
            first.map(|(key, value)| value.unwrap_or(key)).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// The last messages of a request, in any dialect: their roles, and how many parts of each kind they have.
fn shape(body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let messages = Dialect::ALL.into_iter().find_map(|dialect| body.get(list_of(dialect))?.as_array());
    let Some(messages) = messages else { return String::new() };
    let tail = messages.len().saturating_sub(TAIL);
    let shapes: Vec<String> = messages[tail..].iter().map(message).collect();
    shapes.join(" / ")
}

/// The number of messages at the end of a request that make up its shape: a batch and its answers.
const TAIL: usize = 3;

fn message(message: &Value) -> String {
    let word = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let lists = ["content", "parts", "tool_calls"].iter().filter_map(|key| message.get(key)?.as_array());
    for part in lists.flatten() {
        let kind = part.get("type").and_then(Value::as_str).map(str::to_owned);
        let key = || part.as_object().and_then(|keys| keys.keys().next().cloned());
        *counts.entry(kind.or_else(key).unwrap_or_default()).or_default() += 1;
    }
    // One or several: the exact number adds nothing.
    let counts: Vec<String> =
        counts.into_iter().map(|(kind, n)| format!("{kind}{}", if n > 1 { "+" } else { "" })).collect();
    format!("{}{} {}", word("role"), word("type"), counts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_scenario::plan::CallKey;
    use brickbat_scenario::trace::{Confidence, ExchangeId};

    fn requested(body: &str) -> Event {
        Event::requested(ExchangeId(0), RequestKind::Surplus, body.as_bytes())
    }

    fn of(events: &[Event]) -> BTreeSet<u16> {
        let mut trace = Trace::default();
        events.iter().for_each(|event| trace.push(event.clone()));
        features(&trace, std::iter::empty())
    }

    #[test]
    fn features_depend_on_kinds_but_not_on_texts_or_ids() {
        let one =
            of(&[requested(r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}"#)]);
        let same =
            of(&[requested(r#"{"messages":[{"role":"user","content":[{"type":"text","text":"b"}]}]}"#)]);
        let other = of(&[requested(r#"{"messages":[{"role":"user","content":[{"type":"image"}]}]}"#)]);
        assert!(one == same && one != other);
    }

    #[test]
    fn the_life_of_a_tool_is_one_feature() {
        let started = Event::ToolStarted { call: Some(CallKey(0)), args: String::new() };
        let settled = Event::ToolSettled {
            call: CallKey(0),
            outcome: brickbat_scenario::plan::ToolOutcome::Return("1".to_owned()),
            grade: Confidence::Read,
        };
        let once = of(&[started.clone(), settled.clone()]);
        let twice = of(&[started.clone(), started, settled]);
        assert_ne!(once, twice);
    }

    #[test]
    fn any_body_has_a_shape() {
        for body in
            ["", "[]", "{\"messages\":5}", "{\"input\":[1,null,[]]}", "{\"contents\":[{\"parts\":[{}]}]}"]
        {
            assert!(!of(&[requested(body)]).is_empty(), "{body}");
        }
    }
}
