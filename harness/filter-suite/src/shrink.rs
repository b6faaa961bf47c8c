//! Shrinks the history of a cause until removing any single message, block, call with its results, or
//! field makes the cause disappear.

use std::collections::BTreeSet;

use brickbat_rules::list_of;
use serde_json::{Value, json};

use crate::judge::judge_by;
use crate::yardstick::refusals;
use crate::{Broken, Facts, Filter, Input, Route, State};

/// The maximum number of histories to try per cause. A long history takes about the square of its number of
/// messages.
const MAX_TRIED: usize = 3000;

/// The number of histories to try at a time.
const AT_ONCE: usize = 32;

/// Returns the smallest input that still triggers a check's cause.
///
/// # Errors
///
/// Fails if the filter no longer answers.
pub fn smallest(
    filter: &mut dyn Filter,
    route: &Route<'_>,
    back: Option<&Route<'_>>,
    input: &Input,
    (check, cause): (&str, &str),
) -> Result<Input, Broken> {
    let mut smallest = input.clone();
    let mut n_tried = 0;
    'smaller: while n_tried < MAX_TRIED {
        let candidates: Vec<Input> =
            simpler(&smallest).into_iter().filter(|candidate| is_still(route, input, candidate)).collect();
        for batch in candidates.chunks(AT_ONCE) {
            n_tried += batch.len();
            filter.fresh_if(check == "threads-apart")?;
            // For this check, other candidates would count as broken threads, so a candidate is judged on
            // its own.
            let judged = judge_by(filter, route, back, batch, Some(check))?;
            let shows = judged.iter().position(|judged| {
                judged.outcome.findings().iter().any(|found| found.check == check && found.cause == cause)
            });
            if let Some(at) = shows {
                smallest = batch[at].clone();
                continue 'smaller;
            }
        }
        break;
    }
    Ok(smallest)
}

/// Returns whether a candidate is of the same kind: a broken one is still broken by the same rules, and
/// the user still continues.
fn is_still(route: &Route<'_>, input: &Input, candidate: &Input) -> bool {
    if input.state == State::Valid {
        return true;
    }
    let rules = |input: &Input| -> BTreeSet<&str> {
        refusals(route, &input.body).into_iter().map(|violation| violation.rule.id).collect()
    };
    input.entries().last() == candidate.entries().last() && rules(input) == rules(candidate)
}

impl dyn Filter + '_ {
    fn fresh_if(&mut self, is_wanted: bool) -> Result<(), Broken> {
        if is_wanted { self.fresh() } else { Ok(()) }
    }
}

/// Returns the inputs that are one change smaller, the largest change first.
fn simpler(input: &Input) -> Vec<Input> {
    let mut found: Vec<Value> = Vec::new();
    let list = list_of(input.dialect);
    let entries = input.entries().to_vec();
    let with = |entries: Vec<Value>| {
        let mut body = input.body.clone();
        body[list] = Value::Array(entries);
        body
    };
    let n = entries.len();
    for half in [n / 2, n / 4].into_iter().filter(|half| *half > 1) {
        for start in (0..n).step_by(half) {
            let end = (start + half).min(n);
            found.push(with([&entries[..start], &entries[end..]].concat()));
        }
    }
    for at in (0..n).filter(|_| n > 1) {
        found.push(with([&entries[..at], &entries[at + 1..]].concat()));
    }
    // Remove a call together with its results, and two neighbours that are valid only together.
    for id in ids(input) {
        found.push(with(entries.iter().filter_map(|entry| without_id(entry, &id)).collect()));
    }
    for at in (0..n.saturating_sub(1)).filter(|_| n > 2) {
        found.push(with([&entries[..at], &entries[at + 2..]].concat()));
    }
    for (at, entry) in entries.iter().enumerate() {
        for smaller in smaller_entries(entry) {
            let mut changed = entries.clone();
            changed[at] = smaller;
            found.push(with(changed));
        }
    }
    found.extend(fewer_fields(&input.body, list));
    found.into_iter().filter(|body| *body != input.body).map(|body| Input { body, ..input.clone() }).collect()
}

/// Returns the ids of calls and results.
fn ids(input: &Input) -> Vec<String> {
    let facts = Facts::of(&input.body, input.dialect);
    let calls = facts.calls().into_iter().map(|call| call.id.clone());
    let mut ids: Vec<String> = calls.filter(|id| !id.is_empty()).collect();
    ids.dedup();
    ids
}

/// Returns the entry without the blocks of this call. `None` if nothing is left.
fn without_id(entry: &Value, id: &str) -> Option<Value> {
    let names_it = |value: &Value| {
        let keys = ["id", "tool_use_id", "tool_call_id", "call_id", "toolUseId"];
        let inner = ["toolUse", "toolResult", "functionCall", "functionResponse"];
        let holds = |value: &Value| keys.iter().any(|key| value.get(key).and_then(Value::as_str) == Some(id));
        holds(value) || inner.iter().any(|key| value.get(key).is_some_and(holds))
    };
    if names_it(entry) {
        return None;
    }
    let mut changed = entry.clone();
    for key in ["content", "parts", "tool_calls"] {
        let Some(blocks) = changed.get_mut(key).and_then(Value::as_array_mut) else { continue };
        let n = blocks.len();
        blocks.retain(|block| !names_it(block));
        if blocks.is_empty() && n > 0 {
            if key != "tool_calls" || changed.get("content").is_none_or(Value::is_null) {
                return None;
            }
            changed.as_object_mut()?.remove(key);
        }
    }
    Some(changed)
}

/// Returns the entry without one of its blocks or fields, or with a simpler text.
fn smaller_entries(entry: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    let Some(fields) = entry.as_object() else { return found };
    for (key, value) in fields {
        match value {
            Value::Array(blocks) => {
                for (n, block) in blocks.iter().enumerate() {
                    if blocks.len() > 1 {
                        let mut fewer = blocks.clone();
                        fewer.remove(n);
                        found.push(changed(entry, key, Value::Array(fewer)));
                    }
                    for smaller in smaller_entries(block) {
                        let mut plainer = blocks.clone();
                        plainer[n] = smaller;
                        found.push(changed(entry, key, Value::Array(plainer)));
                    }
                }
            }
            Value::Object(_) => {
                found.extend(smaller_entries(value).into_iter().map(|smaller| changed(entry, key, smaller)));
            }
            Value::String(text) if is_words(key) && text.len() > PLAIN.len() && !text.trim().is_empty() => {
                found.push(changed(entry, key, json!(PLAIN)));
            }
            _ => {}
        }
        if OPTIONAL.contains(&key.as_str()) {
            let mut fewer = fields.clone();
            fewer.shift_remove(key);
            found.push(Value::Object(fewer));
        }
    }
    found
}

/// The replacement for any text.
const PLAIN: &str = "a";

/// Fields that may be left out.
const OPTIONAL: [&str; 9] = [
    "cache_control",
    "cachePoint",
    "citations",
    "annotations",
    "is_error",
    "reasoning_content",
    "refusal",
    "status",
    "tool_calls",
];

fn is_words(key: &str) -> bool {
    ["content", "text", "thinking", "output"].contains(&key)
}

fn changed(entry: &Value, key: &str, value: Value) -> Value {
    let mut entry = entry.clone();
    entry[key] = value;
    entry
}

/// Returns the body without one of the fields beside its list.
fn fewer_fields(body: &Value, list: &str) -> Vec<Value> {
    let Some(fields) = body.as_object() else { return Vec::new() };
    let beside = fields.keys().filter(|key| *key != list && *key != "model");
    let without = |key: &String| {
        let mut fewer = fields.clone();
        fewer.shift_remove(key);
        Value::Object(fewer)
    };
    beside.map(without).collect()
}

/// Returns the size of a body, by which the smallest of several is chosen.
pub(crate) fn size(input: &Input) -> (usize, usize) {
    let list: &str = list_of(input.dialect);
    let n = input.body.get(list).and_then(Value::as_array).map_or(0, Vec::len);
    (n, input.body.to_string().len())
}
