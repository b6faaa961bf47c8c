//! Edits of a request body, in each dialect.

use std::collections::BTreeSet;

use brickbat_rules::histories::{Block, Call};
use brickbat_rules::{Dialect, list_of};
use serde_json::{Value, json};

use super::entries::Entries;
use crate::json::text;
use crate::{Edit, NOT_RECORDED, Place, Product, Session, WriteError};

/// The body with the edits carried out. Messages that no edit touches keep their bytes.
pub(super) fn write(
    body: &[u8],
    dialect: Dialect,
    session: &Session,
    edits: &[Edit],
) -> Result<Vec<u8>, WriteError> {
    let list = list_of(dialect);
    let at = if body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
        String::new()
    } else {
        format!("/{list}")
    };
    let fail = |place: &Place, words: &str| WriteError {
        product: Product::Request,
        place: place.to_string(),
        words: words.to_owned(),
    };
    let nowhere = Place::default();
    let entries = Entries::of(body, list).ok_or_else(|| fail(&nowhere, "no list of messages"))?;
    let mut writer = Writer { body, dialect, at, entries, dropped: BTreeSet::new() };
    // Results are read before anything is taken out.
    let mut results = Vec::new();
    for edit in edits {
        match edit {
            Edit::Move { result, call, .. } => {
                let value = writer.value(result).ok_or_else(|| fail(result, "no result there"))?;
                writer.dropped.insert(result.pointer.clone());
                results.push((call, value));
            }
            Edit::Synthesise { call, .. } => {
                let made = call_at(session, call).map(|call| not_recorded(dialect, call));
                results.push((call, made.ok_or_else(|| fail(call, "no call there"))?));
            }
            Edit::Drop { block } => {
                writer.dropped.insert(block.pointer.clone());
            }
            Edit::Truncate { last } => {
                let n = writer.index(last).ok_or_else(|| fail(last, "no message there"))?;
                (n + 1..writer.entries.len()).for_each(|n| writer.entries.drop_entry(n));
            }
            Edit::Discard { place } => return Err(fail(place, "a body that is no JSON cannot be mended")),
        }
    }
    writer.take_out();
    for (call, value) in results {
        let n = writer.index(call).ok_or_else(|| fail(call, "no message there"))?;
        writer.put(n, value);
    }
    if dialect == Dialect::BedrockConverse {
        writer.join_neighbours();
    }
    Ok(writer.entries.write(body))
}

fn call_at<'s>(session: &'s Session, place: &Place) -> Option<&'s Call> {
    let mut blocks = session.messages.iter().flat_map(|message| &message.blocks);
    blocks.find_map(|block| match &block.content {
        Block::Call(call) if &block.place == place => Some(call),
        _ => None,
    })
}

/// A result that says that none was recorded.
fn not_recorded(dialect: Dialect, call: &Call) -> Value {
    match dialect {
        Dialect::AnthropicMessages => {
            json!({ "type": "tool_result", "tool_use_id": call.id, "content": NOT_RECORDED, "is_error": true })
        }
        Dialect::BedrockConverse => {
            let content = json!([{ "text": NOT_RECORDED }]);
            json!({ "toolResult": { "toolUseId": call.id, "content": content, "status": "error" } })
        }
        Dialect::Gemini => {
            let mut response = json!({ "name": call.name, "response": { "error": NOT_RECORDED } });
            if !call.id.is_empty() {
                response["id"] = json!(call.id);
            }
            json!({ "functionResponse": response })
        }
        Dialect::OpenaiResponses => {
            json!({ "type": "function_call_output", "call_id": call.id, "output": NOT_RECORDED })
        }
        Dialect::Mistral => {
            json!({ "role": "tool", "tool_call_id": call.id, "name": call.name, "content": NOT_RECORDED })
        }
        _ => json!({ "role": "tool", "tool_call_id": call.id, "content": NOT_RECORDED }),
    }
}

/// Edits the entries of one body.
struct Writer<'b> {
    body: &'b [u8],
    dialect: Dialect,
    /// The pointer of the list.
    at: String,
    entries: Entries,
    /// The pointers of what is taken out.
    dropped: BTreeSet<String>,
}

impl Writer<'_> {
    /// The steps of a pointer below the list.
    fn steps<'p>(&self, pointer: &'p str) -> Vec<&'p str> {
        pointer.strip_prefix(self.at.as_str()).unwrap_or(pointer).split('/').skip(1).collect()
    }

    /// The index of the entry that holds a place.
    fn index(&self, place: &Place) -> Option<usize> {
        self.steps(&place.pointer).first()?.parse().ok()
    }

    /// What stands at a place.
    fn value(&self, place: &Place) -> Option<Value> {
        let steps = self.steps(&place.pointer);
        let (first, rest) = steps.split_first()?;
        let entry = self.entries.get(self.body, first.parse().ok()?)?;
        let pointer: String = rest.iter().map(|step| format!("/{step}")).collect();
        entry.pointer(&pointer).cloned()
    }

    /// Takes out what is to go, and the messages that nothing is left of.
    fn take_out(&mut self) {
        let mut by_entry: Vec<(usize, Vec<String>)> = Vec::new();
        for pointer in std::mem::take(&mut self.dropped) {
            let steps = self.steps(&pointer);
            let Some(n) = steps.first().and_then(|step| step.parse().ok()) else { continue };
            let rest = steps[1..].iter().map(|step| (*step).to_owned()).collect();
            by_entry.push((n, rest));
        }
        by_entry.sort_by_key(|(n, rest)| (*n, rest.last().and_then(|step| step.parse::<usize>().ok())));
        // From the end, so that indices stay what they were.
        for (n, steps) in by_entry.into_iter().rev() {
            let Some(mut entry) = self.entries.get(self.body, n) else { continue };
            match steps.as_slice() {
                [key, index] => {
                    let list = entry.get_mut(key.as_str()).and_then(Value::as_array_mut);
                    if let (Some(list), Ok(index)) = (list, index.parse::<usize>())
                        && index < list.len()
                    {
                        list.remove(index);
                    }
                }
                [key] => entry[key.as_str()] = Value::Null,
                _ => entry = Value::Null,
            }
            match is_void(&mut entry) {
                true => self.entries.drop_entry(n),
                false => self.entries.set(n, entry),
            }
        }
    }

    /// Joins two messages of one role between which everything was taken out, where the roles must alternate.
    fn join_neighbours(&mut self) {
        let mut before: Option<usize> = None;
        for n in 0..self.entries.len() {
            let Some(mut message) = self.entries.get(self.body, n) else { continue };
            let was_parted = before.is_some_and(|before| before + 1 < n && !self.entries.has_after(before));
            let earlier =
                before.filter(|_| was_parted).and_then(|before| self.entries.get(self.body, before));
            if let (Some(at), Some(mut earlier)) = (before, earlier)
                && text(&earlier, "role") == text(&message, "role")
                && let (Some(into), Some(from)) = (
                    earlier.get_mut("content").and_then(Value::as_array_mut),
                    message.get_mut("content").and_then(Value::as_array_mut),
                )
            {
                into.append(from);
                self.entries.set(at, earlier);
                self.entries.drop_entry(n);
                continue;
            }
            before = Some(n);
        }
    }

    /// Puts a result where the dialect wants it: after the message of the call of this index.
    fn put(&mut self, n: usize, result: Value) {
        match self.dialect {
            Dialect::AnthropicMessages | Dialect::BedrockConverse => {
                self.put_into_next(n, result, "content", "user")
            }
            Dialect::Gemini => self.put_into_next(n, result, "parts", "user"),
            _ => self.put_after(n, result),
        }
    }

    /// Dialects whose results are blocks of the user's next message.
    fn put_into_next(&mut self, n: usize, result: Value, key: &str, role: &str) {
        let next = (n + 1..self.entries.len()).find_map(|n| Some((n, self.entries.get(self.body, n)?)));
        let has_made = self.entries.after(n).is_some_and(|after| !after.is_empty());
        if let Some((at, mut message)) = next
            && !has_made
            && takes_result(self.dialect, &message, key)
        {
            if let Some(Value::String(words)) = message.get(key) {
                message[key] = json!([{ "type": "text", "text": words }]);
            }
            if let Some(blocks) = message.get_mut(key).and_then(Value::as_array_mut) {
                let n_results = blocks.iter().take_while(|block| is_result(block)).count();
                blocks.insert(n_results, result);
            }
            self.entries.set(at, message);
            return;
        }
        let Some(after) = self.entries.after(n) else { return };
        match after.last_mut().and_then(|last| last.get_mut(key)).and_then(Value::as_array_mut) {
            Some(blocks) => blocks.push(result),
            None => after.push(json!({ "role": role, key: [result] })),
        }
    }

    /// Dialects whose results are entries of their own: after the calls of the reply, and the results that are there.
    fn put_after(&mut self, n: usize, result: Value) {
        let mut at = n;
        let mut has_results = false;
        for next in n + 1..self.entries.len() {
            match self.entries.get(self.body, next) {
                None => {}
                Some(entry) if is_result(&entry) => (at, has_results) = (next, true),
                // After the results comes the next reply.
                Some(entry) if is_call(&entry) && !has_results => at = next,
                Some(_) => break,
            }
        }
        if let Some(after) = self.entries.after(at) {
            after.push(result);
        }
    }
}

/// Whether a result may be put into this message. Gemini's responses do not mix with words, so there only a content of
/// responses takes one.
fn takes_result(dialect: Dialect, message: &Value, key: &str) -> bool {
    if text(message, "role") != "user" {
        return false;
    }
    let first = message.get(key).and_then(Value::as_array).and_then(|blocks| blocks.first());
    dialect != Dialect::Gemini || first.is_some_and(is_result)
}

fn is_result(value: &Value) -> bool {
    matches!(text(value, "type"), "tool_result" | "function_call_output" | "custom_tool_call_output")
        || text(value, "role") == "tool"
        || value.get("toolResult").is_some()
        || value.get("functionResponse").is_some()
        || value.get("function_response").is_some()
}

fn is_call(value: &Value) -> bool {
    matches!(text(value, "type"), "function_call" | "custom_tool_call")
}

/// Whether nothing is left of a message. An empty list of calls goes, too, since providers refuse one.
fn is_void(entry: &mut Value) -> bool {
    if entry.is_null() {
        return true;
    }
    let is_empty = |entry: &Value, key: &str| match entry.get(key) {
        Some(Value::Array(list)) => list.is_empty(),
        Some(Value::Null) | None => true,
        Some(_) => false,
    };
    if is_empty(entry, "tool_calls")
        && let Some(fields) = entry.as_object_mut()
    {
        fields.remove("tool_calls");
    }
    is_empty(entry, "content") && is_empty(entry, "parts") && is_empty(entry, "tool_calls")
}
