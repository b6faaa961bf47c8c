//! The text around requests, in which the provider's reply to them may be quoted.

use std::ops::Range;

use serde_json::Value;

/// The fields of traces and logs that hold the error of a request.
const ERRORS: [&str; 12] = [
    "error",
    "errors",
    "error_message",
    "errorMessage",
    "error.message",
    "error_str",
    "exception",
    "exception.message",
    "failure",
    "statusMessage",
    "status_message",
    "traceback",
];

/// The maximum number of errors that are taken from a value.
const MAX_ERRORS: usize = 20;

/// The maximum depth at which errors are searched.
const MAX_DEPTH: usize = 32;

/// The text outside these ranges.
pub(super) fn text(text: &str, taken: &mut [Range<usize>]) -> String {
    taken.sort_by_key(|range| range.start);
    let mut around = String::new();
    let mut from = 0;
    for range in taken.iter() {
        if range.start > from {
            around.push_str(&text[from..range.start]);
            around.push('\n');
        }
        from = from.max(range.end);
    }
    around.push_str(text.get(from..).unwrap_or_default());
    around
}

/// The errors that a trace or a log names in its own fields, one in each line.
pub(super) fn errors(value: &Value) -> String {
    let mut found = Vec::new();
    gather(value, MAX_DEPTH, &mut found);
    found.join("\n")
}

fn gather(value: &Value, depth: usize, found: &mut Vec<String>) {
    if depth == 0 || found.len() == MAX_ERRORS {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    // The messages of a conversation may quote errors, too.
                    Value::Array(items) if items.iter().any(|item| item.get("role").is_some()) => {}
                    Value::String(text) if ERRORS.contains(&name.as_str()) => found.push(text.clone()),
                    Value::Object(_) if ERRORS.contains(&name.as_str()) => found.push(value.to_string()),
                    _ => gather(value, depth - 1, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| gather(value, depth - 1, found)),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
    found.truncate(MAX_ERRORS);
}
