//! Writes a scenario as YAML, in the style of handwritten scenarios.

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::scenario::{At, Scenario};

/// The text of a scenario file.
pub fn text(scenario: &Scenario) -> String {
    let Value::Object(keys) = serde_json::to_value(scenario).unwrap_or_default() else {
        return String::new();
    };
    let mut text = String::new();
    for (key, value) in &keys {
        match (key.as_str(), value) {
            ("tools", Value::Object(tools)) => {
                text.push_str("tools:\n");
                for (name, tool) in tools {
                    let _ = writeln!(text, "  {}: {}", scalar(name), flow(tool));
                }
            }
            ("turns", Value::Array(turns)) => {
                text.push_str("turns:\n");
                turns.iter().for_each(|said| turn(&mut text, said));
            }
            _ => {
                let _ = writeln!(text, "{key}: {}", flow(value));
            }
        }
    }
    text
}

/// An action on one line, as in the `at` list.
pub fn action(at: &At) -> String {
    flow(&shortened(serde_json::to_value(at).unwrap_or_default()))
}

fn turn(text: &mut String, said: &Value) {
    let Value::Object(keys) = said else { return };
    let mut lead = "  - ";
    for (key, value) in keys {
        match (key.as_str(), value) {
            ("replies", Value::Array(replies)) => {
                let _ = writeln!(text, "{lead}replies:");
                replies.iter().for_each(|said| reply(text, said));
            }
            ("at", Value::Array(actions)) => {
                let _ = writeln!(text, "{lead}at:");
                for action in actions {
                    let _ = writeln!(text, "      - {}", flow(&shortened(action.clone())));
                }
            }
            _ => {
                let _ = writeln!(text, "{lead}{key}: {}", flow(value));
            }
        }
        lead = "    ";
    }
}

/// Writes a reply: a list of blocks for one attempt, otherwise an object.
fn reply(text: &mut String, said: &Value) {
    let attempts = said.get("attempts").and_then(Value::as_array);
    let is_plain = said.as_object().is_some_and(|keys| keys.len() == 1);
    match attempts.map(Vec::as_slice) {
        Some([Value::Array(blocks)]) if is_plain && !blocks.is_empty() => {
            let mut lead = "      - - ";
            for block in blocks {
                let _ = writeln!(text, "{lead}{}", block_words(block));
                lead = "        - ";
            }
        }
        _ => {
            let _ = writeln!(text, "      - {}", flow(said));
        }
    }
}

/// A block: `text: …`, or `call: { … }`.
fn block_words(block: &Value) -> String {
    match block {
        Value::Object(keys) if keys.len() == 1 => {
            let words = keys.iter().map(|(key, value)| format!("{key}: {}", flow(&shortened(value.clone()))));
            words.collect()
        }
        other => flow(other),
    }
}

/// Removes the keys that have their default value.
fn shortened(value: Value) -> Value {
    const DEFAULTS: [(&str, u64); 3] = [("reply", 1), ("attempt", 1), ("deltas", 3)];
    let Value::Object(keys) = value else { return value };
    let is_default =
        |key: &str, value: &Value| DEFAULTS.iter().any(|(name, number)| *name == key && *value == *number);
    let kept = keys.into_iter().filter(|(key, value)| !is_default(key, value));
    Value::Object(kept.collect::<Map<String, Value>>())
}

/// A value on one line.
fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(keys) if keys.is_empty() => "{}".to_owned(),
        Value::Object(keys) => {
            let keys: Vec<String> =
                keys.iter().map(|(key, value)| format!("{}: {}", scalar(key), flow(value))).collect();
            format!("{{ {} }}", keys.join(", "))
        }
        other => other.to_string(),
    }
}

/// A string as YAML: plain if it consists of words, otherwise in quotes, as in JSON.
fn scalar(text: &str) -> String {
    const TAKEN: [&str; 8] = ["true", "false", "null", "yes", "no", "on", "off", "nan"];
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " ._-/".contains(c);
    let is_words = text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_plain);
    if is_words && !text.ends_with(' ') && !TAKEN.contains(&text.to_ascii_lowercase().as_str()) {
        text.to_owned()
    } else {
        Value::from(text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    const FILE: &str = "\
schema: 1
comment: \"Odd: the user stops.\"
class: [explored]
tools:
  lookup: { returns: \"found {key}\" }
turns:
  - user: Look up the orders.
    replies:
      - - text: Let me look.
        - call: { as: a, tool: lookup, args: { key: \"1\" } }
      - { attempts: [[{ text: Here. }], [{ text: \"Here again: \" }]] }
    settle: [a]
    at:
      - { after: { settled: 0 }, do: abort }
      - { reply: 2, before: headers, do: { http: { status: 529, times: 1, retry-after-ms: 10 } } }
";

    #[test]
    fn a_written_scenario_reads_back_unchanged() {
        let read = |text: &str| {
            parse::parse("x.yaml", text).unwrap_or_else(|error| panic!("{error}"))[0].scenario.clone()
        };
        let scenario = read(FILE);
        assert_eq!(text(&scenario), FILE);
        assert_eq!(read(&text(&scenario)), scenario);
    }
}
