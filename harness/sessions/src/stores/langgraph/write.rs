//! Edits to the newest checkpoint: its blob is decoded, changed and encoded again.
//!
//! This happens only if decoding and encoding the unchanged blob yields the same bytes, so that only the edit
//! can change anything. Rows of `writes` stay: LangGraph drops pending ones at the next user message. Only a
//! program that resumes the step without a message would run its tools again.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::histories::Block as Content;
use rusqlite::params;
use sha2::{Digest, Sha256};

use super::msgpack::{Value, decode, encode};
use super::{CHECKPOINTS, WRITES, each, write_json};
use crate::EditError::{self, Missing, NoForm, Unreadable};
use crate::sqlite::Database;
use crate::stores::rows::{bytes_of, row_of, with_database};
use crate::stores::{Edit, WriteError};
use crate::{Files, NOT_RECORDED, Place, Product, Session};

pub(super) fn write(files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
    if edits.is_empty() {
        return Ok(files.clone());
    }
    let places = session.messages.iter().map(|message| &message.place);
    let whole = places.clone().next().cloned().unwrap_or_default();
    let refuse = |cause: EditError| refusal(&whole, cause);
    let row = row_of(&whole).ok_or_else(|| refuse(Unreadable("no readable checkpoint")))?;
    let database = Database::open(files).map_err(|error| refuse(error.into()))?;
    if write_json::is_json(&database, row) {
        return write_json::write(files, session, edits, database, row);
    }
    let mut checkpoint = blob(&database, CHECKPOINTS, "checkpoint", row).map_err(refuse)?;
    let plan = Plan::of(session, &database, edits)?;
    let list = checkpoint.get_mut("channel_values").and_then(|values| values.get_mut("messages"));
    let list = match list {
        Some(Value::Object(7, inner)) => Some(inner.as_mut()),
        list => list,
    };
    let Some(Value::List(messages)) = list else { return Err(refuse(Unreadable("no list of messages"))) };
    plan.carry_out(messages);
    let query = format!("UPDATE {CHECKPOINTS} SET checkpoint = ?2 WHERE rowid = ?1");
    let updated = database.connection().execute(&query, params![row, encode(&checkpoint)]);
    updated.map_err(|error| refuse(error.into()))?;
    with_database(files, database).map_err(|error| refuse(error.into()))
}

/// The value in a blob, if encoding it yields the same bytes.
fn blob(database: &Database, table: &str, column: &str, row: i64) -> Result<Value, EditError> {
    let query = format!("SELECT {column} FROM {table} WHERE rowid = ?1 AND type = 'msgpack'");
    let cell = database.connection().query_row(&query, [row], |row| Ok(bytes_of(row.get_ref(0)?)));
    let bytes = cell
        .map_err(|_| {
            NoForm("only values of type msgpack, and JSON of LangGraph for JavaScript, are written")
        })?
        .unwrap_or_default();
    let value = decode(&bytes)?;
    match encode(&value) == bytes {
        true => Ok(value),
        false => Err(NoForm("a value in a form of MessagePack that the SDK does not write")),
    }
}

/// The changes to the messages, by their index.
#[derive(Default)]
struct Plan {
    inserted: BTreeMap<usize, Vec<Value>>,
    /// Messages to move, as pairs: the message, and the one after which it is inserted.
    moved: Vec<(usize, usize)>,
    deleted: BTreeSet<usize>,
    /// Parts of messages to remove, by the pointer in their place.
    dropped: BTreeMap<usize, BTreeSet<(String, Option<usize>)>>,
    last: Option<usize>,
}

impl Plan {
    fn of(session: &Session, database: &Database, edits: &[Edit]) -> Result<Plan, WriteError> {
        let mut plan = Plan::default();
        let mut n_blocks: BTreeMap<usize, usize> = BTreeMap::new();
        let mut calls: BTreeMap<&Place, (&str, &str)> = BTreeMap::new();
        for block in session.messages.iter().flat_map(|message| &message.blocks) {
            if let Some((n, _)) = position(&block.place) {
                *n_blocks.entry(n).or_default() += 1;
            }
            if let Content::Call(call) = &block.content {
                calls.insert(&block.place, (&call.id, &call.name));
            }
        }
        let at = |place: &Place| {
            position(place).ok_or_else(|| refusal(place, Missing("not a place in the checkpoint")))
        };
        for edit in edits {
            match edit {
                Edit::Move { result, call, .. } => {
                    let (after, _) = at(call)?;
                    match position(result) {
                        Some((n, _)) => plan.moved.push((n, after)),
                        None => {
                            let message =
                                written(database, result).map_err(|cause| refusal(result, cause))?;
                            plan.inserted.entry(after).or_default().push(message);
                        }
                    }
                }
                Edit::Synthesise { call, id } => {
                    let found = calls.get(call).filter(|(found, _)| found == id);
                    let (_, name) = found.ok_or_else(|| refusal(call, Missing("no such call")))?;
                    plan.inserted.entry(at(call)?.0).or_default().push(made(id, name));
                }
                Edit::Drop { block } => match at(block)? {
                    (n, None) => drop(plan.deleted.insert(n)),
                    (n, Some(part)) => drop(plan.dropped.entry(n).or_default().insert(part)),
                },
                Edit::Discard { place } => {
                    return Err(refusal(place, NoForm("rows of a checkpoint cannot be taken out")));
                }
                Edit::Truncate { last } => plan.last = Some(at(last)?.0),
            }
        }
        let is_all = |n: &usize, parts: &BTreeSet<_>| n_blocks.get(n).is_none_or(|all| parts.len() >= *all);
        plan.deleted.extend(plan.dropped.iter().filter(|(n, parts)| is_all(n, parts)).map(|(n, _)| *n));
        Ok(plan)
    }

    fn carry_out(mut self, messages: &mut Vec<Value>) {
        for (from, after) in &self.moved {
            if let Some(message) = messages.get(*from) {
                self.inserted.entry(*after).or_default().push(message.clone());
                self.deleted.insert(*from);
            }
        }
        if let Some(last) = self.last {
            messages.truncate(last + 1);
        }
        for (n, mut message) in std::mem::take(messages).into_iter().enumerate() {
            if !self.deleted.contains(&n) {
                if let Some(parts) = self.dropped.get(&n) {
                    drop_parts(&mut message, parts);
                }
                messages.push(message);
            }
            messages.extend(self.inserted.remove(&n).unwrap_or_default());
        }
    }
}

/// Removes parts from a message.
fn drop_parts(message: &mut Value, parts: &BTreeSet<(String, Option<usize>)>) {
    let Value::Object(_, inner) = message else { return };
    let Value::List(items) = inner.as_mut() else { return };
    let Some(fields) = items.get_mut(2) else { return };
    let mut calls: BTreeSet<String> = BTreeSet::new();
    let mut items: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (name, n) in parts {
        match (fields.get_mut(name), n) {
            (Some(Value::List(_)), Some(n)) => drop(items.entry(name).or_default().insert(*n)),
            (Some(value), None) => *value = Value::Text(String::new()),
            _ => {}
        }
    }
    for (name, gone) in items {
        let Some(Value::List(list)) = fields.get_mut(name) else { continue };
        for (n, item) in std::mem::take(list).into_iter().enumerate() {
            if !gone.contains(&n) {
                list.push(item);
            } else if name != "content" {
                calls.extend(item.get("id").and_then(Value::as_str).map(str::to_owned));
            }
        }
    }
    // The other forms of the call in the message are removed, too: its block, and the form in which OpenAI
    // sent it.
    let is_taken =
        |value: &Value, id: &str| value.get(id).and_then(Value::as_str).is_some_and(|id| calls.contains(id));
    if let Some(Value::List(content)) = fields.get_mut("content") {
        content.retain(|block| match block.get("type").and_then(Value::as_str) {
            Some("function_call") => !is_taken(block, "call_id"),
            Some("tool_use" | "tool_call") => !is_taken(block, "id"),
            _ => true,
        });
    }
    let given = fields.get_mut("additional_kwargs").and_then(|fields| fields.get_mut("tool_calls"));
    if let Some(Value::List(given)) = given {
        given.retain(|call| !is_taken(call, "id"));
    }
}

/// The cause if an edit names a place outside `writes`.
const FOREIGN: EditError = Missing("not a place of this store");

/// The message in a row of `writes`.
fn written(database: &Database, place: &Place) -> Result<Value, EditError> {
    let row = place.row.as_ref().filter(|row| row.table == WRITES).ok_or(FOREIGN)?;
    let n: usize = place.pointer.trim_start_matches('/').parse().map_err(|_| FOREIGN)?;
    let value = blob(database, WRITES, "value", row.id)?;
    each(&value).get(n).cloned().ok_or(Missing("no such message"))
}

/// The id of a new message for the result of a call.
pub(super) fn made_id(call: &str) -> String {
    let digest = Sha256::digest(call.as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// A `ToolMessage` marked as not recorded, as pydantic dumps it.
fn made(call: &str, name: &str) -> Value {
    let text = |text: &str| Value::Text(text.to_owned());
    let id = made_id(call);
    let fields = [
        ("content", text(NOT_RECORDED)),
        ("additional_kwargs", Value::Map(Vec::new())),
        ("response_metadata", Value::Map(Vec::new())),
        ("type", text("tool")),
        ("name", text(name)),
        ("id", text(&id)),
        ("tool_call_id", text(call)),
        ("artifact", Value::Nil),
        ("status", text("error")),
    ];
    let fields = Value::Map(fields.into_iter().map(|(name, value)| (text(name), value)).collect());
    let parts =
        vec![text("langchain_core.messages.tool"), text("ToolMessage"), fields, text("model_validate_json")];
    Value::Object(5, Box::new(Value::List(parts)))
}

/// A field of a message, and optionally an index in it.
pub(super) type Part = (String, Option<usize>);

/// The index of the message at a place, and the part that the place refers to.
pub(super) fn position(place: &Place) -> Option<(usize, Option<Part>)> {
    place.row.as_ref().filter(|row| row.table == CHECKPOINTS)?;
    let mut steps = place.pointer.strip_prefix(super::MESSAGES)?.strip_prefix('/')?.split('/');
    let n = steps.next()?.parse().ok()?;
    let part = steps.next().map(|name| (name.to_owned(), steps.next().and_then(|n| n.parse().ok())));
    Some((n, part))
}

pub(super) fn refusal(place: &Place, cause: impl Into<EditError>) -> WriteError {
    cause.into().at(Product::Langgraph, place)
}
