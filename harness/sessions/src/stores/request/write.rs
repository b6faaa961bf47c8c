//! Edits to a request body, in each dialect.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::histories::{Block, Call, Placement};
use brickbat_rules::{Dialect, list_of};
use serde_json::{Value, json};

use super::entries::Entries;
use crate::EditError::{self, Missing, NoForm, Unreadable};
use crate::json::text;
use crate::{Edit, NOT_RECORDED, Place, Product, Session, WriteError};

/// The body after the edits. Messages that no edit touches keep their bytes.
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
    let fail = |place: &Place, cause: EditError| cause.at(Product::Request, place);
    let nowhere = Place::default();
    let entries = Entries::of(body, list).ok_or_else(|| fail(&nowhere, Unreadable("no list of messages")))?;
    let mut writer = Writer { body, dialect, at, entries, dropped: BTreeSet::new() };
    let calls = calls(session);
    // Results are read before anything is removed.
    let mut results: Vec<(&Place, Value)> = Vec::new();
    for edit in edits {
        match edit {
            Edit::Move { result, call, .. } => {
                let value = writer.value(result).ok_or_else(|| fail(result, Missing("no result there")))?;
                writer.dropped.insert(result.pointer.clone());
                results.push((call, value));
            }
            Edit::Synthesise { call, .. } => {
                let made = calls.get(call).map(|call| not_recorded(dialect, call));
                results.push((call, made.ok_or_else(|| fail(call, Missing("no call there")))?));
            }
            Edit::Drop { block } => {
                writer.dropped.insert(block.pointer.clone());
            }
            Edit::Truncate { last } => {
                let n = writer.index(last).ok_or_else(|| fail(last, Missing("no message there")))?;
                (n + 1..writer.entries.len()).for_each(|n| writer.entries.drop_entry(n));
            }
            Edit::Discard { place } => {
                return Err(fail(place, NoForm("a body that is not JSON cannot be repaired")));
            }
        }
    }
    writer.take_out();
    let mut by_call: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    for (call, value) in results {
        let n = writer.index(call).ok_or_else(|| fail(call, Missing("no message there")))?;
        by_call.entry(n).or_default().push(value);
    }
    writer.put(by_call);
    if dialect.codec().alternates {
        writer.join_neighbours();
    }
    Ok(writer.entries.write(body))
}

/// The calls of a session, by place.
fn calls<'s>(session: &'s Session) -> BTreeMap<&'s Place, &'s Call> {
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    let call = |block: &'s crate::Block| match &block.content {
        Block::Call(call) => Some((&block.place, call)),
        _ => None,
    };
    blocks.filter_map(call).collect()
}

/// A result that is marked as not recorded.
fn not_recorded(dialect: Dialect, call: &Call) -> Value {
    (dialect.codec().result)(&call.failed(NOT_RECORDED))
}

/// Edits the entries of one body.
struct Writer<'b> {
    body: &'b [u8],
    dialect: Dialect,
    /// The pointer to the list.
    at: String,
    entries: Entries,
    /// The pointers of the values to remove.
    dropped: BTreeSet<String>,
}

impl Writer<'_> {
    /// The steps of a pointer below the list.
    fn steps<'p>(&self, pointer: &'p str) -> Vec<&'p str> {
        pointer.strip_prefix(self.at.as_str()).unwrap_or(pointer).split('/').skip(1).collect()
    }

    /// The index of the entry that contains a place.
    fn index(&self, place: &Place) -> Option<usize> {
        self.steps(&place.pointer).first()?.parse().ok()
    }

    /// The value at a place.
    fn value(&mut self, place: &Place) -> Option<Value> {
        let steps = self.steps(&place.pointer);
        let (first, rest) = steps.split_first()?;
        let pointer: String = rest.iter().map(|step| format!("/{step}")).collect();
        let entry = self.entries.get(self.body, first.parse().ok()?)?;
        entry.pointer(&pointer).cloned()
    }

    /// Removes the dropped values, and the messages that become empty.
    fn take_out(&mut self) {
        let mut by_entry: BTreeMap<usize, Vec<Vec<String>>> = BTreeMap::new();
        for pointer in std::mem::take(&mut self.dropped) {
            let steps = self.steps(&pointer);
            let Some(n) = steps.first().and_then(|step| step.parse().ok()) else { continue };
            let rest = steps[1..].iter().map(|step| (*step).to_owned()).collect();
            by_entry.entry(n).or_default().push(rest);
        }
        for (n, gone) in by_entry {
            let Some(entry) = self.entries.edit(self.body, n) else { continue };
            take_out_of(entry, &gone);
            if is_void(entry) {
                self.entries.drop_entry(n);
            }
        }
    }

    /// Joins two messages of the same role after everything between them was removed, for dialects in which
    /// roles must alternate.
    fn join_neighbours(&mut self) {
        let mut before: Option<usize> = None;
        for n in 0..self.entries.len() {
            let Some(message) = self.entries.get(self.body, n) else { continue };
            let (role, has_content) = (text(message, "role").to_owned(), has_list(message));
            let parted = before.filter(|before| before + 1 < n && !self.entries.has_after(*before));
            let is_same = |earlier: &&Value| has_list(earlier) && text(earlier, "role") == role;
            let has_earlier = parted.and_then(|at| self.entries.get(self.body, at)).filter(is_same).is_some();
            if let Some(at) = parted.filter(|_| has_content && has_earlier) {
                let own = self.entries.edit(self.body, n).and_then(|own| own.get_mut("content"));
                let mut own = own.and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default();
                let into = self.entries.edit(self.body, at).and_then(|earlier| earlier.get_mut("content"));
                if let Some(into) = into.and_then(Value::as_array_mut) {
                    into.append(&mut own);
                }
                self.entries.drop_entry(n);
                continue;
            }
            before = Some(n);
        }
    }

    /// Inserts results where the dialect expects them, after the messages with their calls. The keys are the
    /// indices of those messages.
    fn put(&mut self, by_call: BTreeMap<usize, Vec<Value>>) {
        match self.dialect.codec().placement {
            Placement::InMessage { blocks, with_words } => {
                by_call
                    .into_iter()
                    .for_each(|(n, results)| self.put_into_next(n, results, blocks, with_words));
            }
            Placement::Apart => self.put_after(by_call),
        }
    }

    /// For dialects in which results are blocks of the next user message.
    fn put_into_next(&mut self, n: usize, results: Vec<Value>, key: &str, with_words: bool) {
        let is_there = |entries: &mut Entries, n: &usize| entries.get(self.body, *n).is_some();
        let next = (n + 1..self.entries.len()).find(|n| is_there(&mut self.entries, n));
        let has_made = self.entries.has_after(n);
        let takes = |message: &&Value| takes_result(message, key, with_words);
        let next = next.filter(|at| !has_made && self.entries.get(self.body, *at).filter(takes).is_some());
        if let Some(message) = next.and_then(|at| self.entries.edit(self.body, at)) {
            if let Some(Value::String(words)) = message.get(key) {
                message[key] = json!([{ "type": "text", "text": words }]);
            }
            if let Some(blocks) = message.get_mut(key).and_then(Value::as_array_mut) {
                let n_results = blocks.iter().take_while(|block| is_result(block)).count();
                blocks.splice(n_results..n_results, results);
            }
            return;
        }
        let Some(after) = self.entries.after(n) else { return };
        match after.last_mut().and_then(|last| last.get_mut(key)).and_then(Value::as_array_mut) {
            Some(blocks) => blocks.extend(results),
            None => after.push(json!({ "role": "user", key: results })),
        }
    }

    /// For dialects in which results are separate entries: inserts them after the calls of the reply and its
    /// existing results.
    fn put_after(&mut self, by_call: BTreeMap<usize, Vec<Value>>) {
        let Some(first) = by_call.keys().next().copied() else { return };
        let homes = self.homes(first);
        for (n, results) in by_call {
            if let Some(after) = homes.get(n - first).and_then(|home| self.entries.after(*home)) {
                after.extend(results);
            }
        }
    }

    /// For each entry from this one on, the entry after which a result for one of its calls must be
    /// inserted.
    fn homes(&mut self, first: usize) -> Vec<usize> {
        let n_entries = self.entries.len();
        let mut homes: Vec<usize> = (first..n_entries).collect();
        // The index and the kind of the next entry.
        let mut next: Option<(usize, Kind)> = None;
        let mut last_result = n_entries;
        for n in (first..n_entries).rev() {
            homes[n - first] = match next {
                Some((_, Kind::Result)) => last_result,
                // The next reply follows the results.
                Some((at, Kind::Call)) => homes[at - first],
                Some((_, Kind::Other)) | None => n,
            };
            let Some(entry) = self.entries.get(self.body, n) else { continue };
            let kind = Kind::of(entry);
            if kind == Kind::Result && !matches!(next, Some((_, Kind::Result))) {
                last_result = n;
            }
            next = Some((n, kind));
        }
        homes
    }
}

/// The role of an entry in the search for the place where a result belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Result,
    Call,
    Other,
}

impl Kind {
    fn of(entry: &Value) -> Kind {
        match () {
            () if is_result(entry) => Kind::Result,
            () if is_call(entry) => Kind::Call,
            () => Kind::Other,
        }
    }
}

/// Removes the values at these steps from an entry.
fn take_out_of(entry: &mut Value, gone: &[Vec<String>]) {
    let mut items: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for steps in gone {
        match steps.as_slice() {
            [key, index] => {
                items.entry(key).or_default().extend(index.parse::<usize>());
            }
            [key] => entry[key.as_str()] = Value::Null,
            _ => *entry = Value::Null,
        }
    }
    for (key, gone) in items {
        if let Some(list) = entry.get_mut(key).and_then(Value::as_array_mut) {
            let mut n = 0;
            list.retain(|_| {
                n += 1;
                !gone.contains(&(n - 1))
            });
        }
    }
}

fn has_list(message: &Value) -> bool {
    message.get("content").is_some_and(Value::is_array)
}

/// Returns whether a result may be added to this message: it is a user message, and it has no text if results
/// and text may not share a message.
fn takes_result(message: &Value, key: &str, with_words: bool) -> bool {
    if text(message, "role") != "user" {
        return false;
    }
    let first = message.get(key).and_then(Value::as_array).and_then(|blocks| blocks.first());
    with_words || first.is_some_and(is_result)
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

/// Returns whether a message is empty. An empty list of calls is removed, too, since providers reject one.
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
