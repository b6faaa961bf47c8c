//! Edits of the lists in bodies, for our own filters.

use brickbat_rules::{Dialect, list_of};
use serde_json::Value;

use crate::inputs::answers;

/// Returns the body with its list changed.
pub(super) fn with_entries(body: &Value, dialect: Dialect, change: impl FnOnce(&mut Vec<Value>)) -> Value {
    let mut body = body.clone();
    if let Some(entries) = body.get_mut(list_of(dialect)).and_then(Value::as_array_mut) {
        change(entries);
    }
    body
}

/// Returns the body with the blocks of each message changed, in dialects with blocks.
pub(super) fn with_blocks(body: &Value, dialect: Dialect, mut change: impl FnMut(&mut Vec<Value>)) -> Value {
    let key = dialect.codec().placement.blocks();
    with_entries(body, dialect, |entries| {
        for entry in entries {
            if let Some(blocks) = entry.get_mut(key).and_then(Value::as_array_mut) {
                change(blocks);
            }
        }
    })
}

pub(super) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns whether an Anthropic block has this type.
pub(super) fn is(block: &Value, kind: &str) -> bool {
    text(block, "type") == kind
}

/// Splits entries into the instructions at the beginning and the turns. Each turn begins with a user message.
pub(super) fn turns(entries: &[Value]) -> (Vec<Value>, Vec<Vec<Value>>) {
    let mut before = Vec::new();
    let mut turns: Vec<Vec<Value>> = Vec::new();
    for entry in entries {
        let begins = text(entry, "role") == "user" && !answers(entry);
        match turns.last_mut() {
            // A user message after another one, or after results, belongs to the current turn.
            Some(turn) if !begins || turn.iter().all(|entry| text(entry, "role") == "user") => {
                turn.push(entry.clone())
            }
            _ if begins => turns.push(vec![entry.clone()]),
            _ => before.push(entry.clone()),
        }
    }
    (before, turns)
}
