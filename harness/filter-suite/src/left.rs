//! Compares two bodies of one dialect. Ignores different ways to write the same thing.

use brickbat_rules::list_of;
use serde_json::{Map, Value, json};

use crate::words::canonical;
use crate::{Facts, Loss, Route};

/// Returns where the second body differs from the first, as a pointer without numbers. `None` if they are
/// equal.
///
/// If the filter declares other formats or ids, only the content is compared.
pub(crate) fn changed(route: &Route<'_>, first: &Value, second: &Value) -> Option<String> {
    let mode = route.mode;
    let list = list_of(route.to);
    let (first_list, second_list) = (first.get(list).unwrap_or(first), second.get(list).unwrap_or(second));
    if first_list == second_list {
        return None;
    }
    let (one, other) = (plain(first_list), plain(second_list));
    let pointer = difference(&one, &other, &format!("/{list}"))?;
    if mode.declares(Loss::ChangesForm) || mode.declares(Loss::ChangesIds) {
        let facts = |body: &Value| said(&Facts::of(body, route.to), mode.declares(Loss::ChangesIds));
        if facts(first) == facts(second) {
            return None;
        }
    }
    Some(pointer)
}

/// Returns the content, with adjacent texts joined and empty parts left out.
fn said(facts: &Facts, without_ids: bool) -> Vec<crate::Part> {
    use crate::Part;
    let facts = if without_ids { facts.without_ids() } else { facts.clone() };
    let mut parts: Vec<Part> = Vec::new();
    for part in facts.parts {
        match (parts.last_mut(), part) {
            (_, Part::User(text) | Part::Reply(text)) if text.trim().is_empty() => {}
            (Some(Part::User(before)), Part::User(text)) | (Some(Part::Reply(before)), Part::Reply(text)) => {
                before.push_str(&text);
            }
            (_, part) => parts.push(part),
        }
    }
    for part in &mut parts {
        if let Part::User(text) | Part::Reply(text) = part {
            text.retain(|c| !c.is_whitespace());
        }
    }
    parts
}

/// Returns the simplest form of a value: no `null`, no empty list of calls, and a string in place of a
/// list with one text block.
fn plain(value: &Value) -> Value {
    canonical(&undressed(value))
}

fn undressed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(undressed).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, value)| {
                let is_empty = value.as_array().is_some_and(Vec::is_empty);
                !(value.is_null() || (is_empty && *key == "tool_calls"))
            });
            let mut plain: Map<String, Value> =
                kept.map(|(key, value)| (key.clone(), undressed(value))).collect();
            if let Some(text) = plain.get("content").and_then(only_text) {
                plain.insert("content".to_owned(), json!(text));
            }
            // Default values may be left out.
            for (key, default) in [("is_error", json!(false)), ("status", json!("success"))] {
                if plain.get(key) == Some(&default) {
                    plain.remove(key);
                }
            }
            if plain.get("type") == Some(&json!("message")) {
                plain.remove("type");
            }
            Value::Object(plain)
        }
        other => other.clone(),
    }
}

/// Returns the text of a list with a single plain text block.
fn only_text(content: &Value) -> Option<String> {
    let [block] = content.as_array()?.as_slice() else { return None };
    let fields = block.as_object()?;
    let is_text =
        ["text", "input_text", "output_text"].iter().any(|kind| fields.get("type") == Some(&json!(kind)));
    let text = fields.get("text")?.as_str()?;
    ((is_text && fields.len() == 2) || fields.len() == 1).then(|| text.to_owned())
}

/// Returns the first location at which two values differ, without numbers.
fn difference(one: &Value, other: &Value, at: &str) -> Option<String> {
    match (one, other) {
        (Value::Array(first), Value::Array(second)) if first.len() == second.len() => {
            first.iter().zip(second).find_map(|(one, other)| difference(one, other, &format!("{at}/*")))
        }
        (Value::Object(first), Value::Object(second)) => {
            let keys = first.keys().chain(second.keys());
            keys.into_iter().find_map(|key| match (first.get(key), second.get(key)) {
                (Some(one), Some(other)) => difference(one, other, &format!("{at}/{key}")),
                _ => Some(format!("{at}/{key}")),
            })
        }
        _ => (one != other).then(|| at.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_spellings_of_the_same_body_are_equal() {
        let one = json!([{ "role": "user", "content": "a" }, { "role": "assistant", "content": null, "tool_calls": [] }]);
        let other = json!([{ "content": [{ "type": "text", "text": "a" }], "role": "user" }, { "role": "assistant" }]);
        assert_eq!(difference(&plain(&one), &plain(&other), ""), None);
        let changed = json!([{ "role": "user", "content": "b" }, { "role": "assistant" }]);
        assert_eq!(difference(&plain(&one), &plain(&changed), "").as_deref(), Some("/*/content"));
    }
}
