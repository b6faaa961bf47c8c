//! Edits to the newest checkpoint of type `json`, as LangGraph for JavaScript writes it: a message is a constructor of
//! LangChain, and the rest of the text stays as it is.
//!
//! Source: `JsonPlusSerializer` of `@langchain/langgraph-checkpoint`, which read the repaired checkpoints back with
//! `@langchain/langgraph` 1.7.3.

use std::collections::BTreeMap;

use brickbat_rules::histories::Block as Content;
use brickbat_rules::json::Document;
use rusqlite::params;
use rusqlite::types::Value as Cell;
use serde_json::json;

use super::write::{made_id, position, refusal};
use super::{CHECKPOINTS, MESSAGES, WRITES};
use crate::EditError::{self, Missing, NoForm, NotJson};
use crate::json::splice;
use crate::sqlite::Database;
use crate::stores::json_changes::JsonChanges;
use crate::stores::rows::{bytes_of, with_database};
use crate::stores::{Edit, WriteError};
use crate::{Files, NOT_RECORDED, Place, Session};

const PARTS: EditError = NoForm(
    "parts of a message in a checkpoint of type json are not written; `updateState` of the graph can replace it",
);

/// Returns whether the checkpoint in this row is JSON of LangGraph for JavaScript. Python wrote another form.
pub(super) fn is_json(database: &Database, row: i64) -> bool {
    let query = format!("SELECT checkpoint FROM {CHECKPOINTS} WHERE rowid = ?1 AND type = 'json'");
    let cell = database.connection().query_row(&query, [row], |row| Ok(bytes_of(row.get_ref(0)?)));
    let bytes = cell.ok().flatten().unwrap_or_default();
    Document::parse(&bytes).is_ok_and(|document| {
        let mut messages = document.root().pointer(MESSAGES).items().peekable();
        messages.peek().is_some() && messages.all(|message| message.pointer("/id/0").is("langchain_core"))
    })
}

/// The files after the edits to the checkpoint in this row.
pub(super) fn write(
    files: &Files,
    session: &Session,
    edits: &[Edit],
    database: Database,
    row: i64,
) -> Result<Files, WriteError> {
    let whole = Place::in_row(CHECKPOINTS, row, "");
    let refuse = |cause: EditError| refusal(&whole, cause);
    let query = format!("SELECT checkpoint FROM {CHECKPOINTS} WHERE rowid = ?1");
    let cell: Result<Cell, _> = database.connection().query_row(&query, [row], |row| row.get(0));
    let (text, is_blob) = match cell.map_err(|error| refuse(error.into()))? {
        Cell::Blob(bytes) => (bytes, true),
        Cell::Text(text) => (text.into_bytes(), false),
        _ => return Err(refuse(NotJson)),
    };
    let document = Document::parse(&text).map_err(|_| refuse(NotJson))?;
    let changes = changes(session, &database, document.root(), edits)?;
    let text = splice(&text, changes.edits(document.root()));
    let cell = match (is_blob, String::from_utf8(text)) {
        (true, text) => Cell::Blob(text.map_or_else(|error| error.into_bytes(), String::into_bytes)),
        (false, Ok(text)) => Cell::Text(text),
        (false, Err(_)) => return Err(refuse(NotJson)),
    };
    let query = format!("UPDATE {CHECKPOINTS} SET checkpoint = ?2 WHERE rowid = ?1");
    let updated = database.connection().execute(&query, params![row, cell]);
    updated.map_err(|error| refuse(error.into()))?;
    with_database(files, database).map_err(|error| refuse(error.into()))
}

fn changes(
    session: &Session,
    database: &Database,
    root: brickbat_rules::json::Json<'_, '_>,
    edits: &[Edit],
) -> Result<JsonChanges, WriteError> {
    let mut calls: BTreeMap<&Place, (&str, &str)> = BTreeMap::new();
    for block in session.messages.iter().flat_map(|message| &message.blocks) {
        if let Content::Call(call) = &block.content {
            calls.insert(&block.place, (&call.id, &call.name));
        }
    }
    let item = |n: usize| format!("{MESSAGES}/{n}");
    let at = |place: &Place| {
        position(place)
            .map(|(n, _)| n)
            .ok_or_else(|| refusal(place, Missing("not a place in the checkpoint")))
    };
    let mut changes = JsonChanges::default();
    for edit in edits {
        match edit {
            Edit::Synthesise { call, id } => {
                let found = calls.get(call).filter(|(found, _)| found == id);
                let (_, name) = found.ok_or_else(|| refusal(call, Missing("no such call")))?;
                changes.insert_after(&item(at(call)?), made(id, name));
            }
            Edit::Move { result, call, .. } => {
                let after = item(at(call)?);
                match position(result) {
                    Some((n, None)) => {
                        changes.insert_after(&after, root.pointer(&item(n)).raw().to_owned());
                        changes.remove(&item(n));
                    }
                    Some((_, Some(_))) => return Err(refusal(result, PARTS)),
                    None => {
                        let text = written(database, result).map_err(|cause| refusal(result, cause))?;
                        changes.insert_after(&after, text);
                    }
                }
            }
            Edit::Drop { block } => {
                let n = at(block)?;
                let own = session
                    .messages
                    .iter()
                    .filter(|message| position(&message.place).is_some_and(|(own, _)| own == n));
                let n_blocks: usize = own.map(|message| message.blocks.len()).sum();
                if n_blocks > 1 {
                    return Err(refusal(block, PARTS));
                }
                changes.remove(&item(n));
            }
            Edit::Discard { place } => {
                return Err(refusal(place, NoForm("rows of a checkpoint cannot be taken out")));
            }
            Edit::Truncate { last } => {
                for n in at(last)? + 1..root.pointer(MESSAGES).len() {
                    changes.remove(&item(n));
                }
            }
        }
    }
    Ok(changes)
}

/// The message in a row of `writes`, as JSON.
fn written(database: &Database, place: &Place) -> Result<String, EditError> {
    const FOREIGN: EditError = Missing("not a place of this store");
    let row = place.row.as_ref().filter(|row| row.table == WRITES).ok_or(FOREIGN)?;
    let query = format!("SELECT value FROM {WRITES} WHERE rowid = ?1 AND type = 'json'");
    let cell = database.connection().query_row(&query, [row.id], |row| Ok(bytes_of(row.get_ref(0)?)));
    let bytes = cell.map_err(|_| FOREIGN)?.unwrap_or_default();
    let document = Document::parse(&bytes).map_err(|_| FOREIGN)?;
    let message = document.root().pointer(&place.pointer);
    if message.is_object() { Ok(message.raw().to_owned()) } else { Err(FOREIGN) }
}

/// A `ToolMessage` marked as not recorded.
fn made(call: &str, name: &str) -> String {
    let fields = json!({
        "status": "error", "content": NOT_RECORDED, "tool_call_id": call, "name": name, "id": made_id(call),
        "additional_kwargs": {}, "response_metadata": {},
    });
    let class = ["langchain_core", "messages", "ToolMessage"];
    json!({ "lc": 1, "type": "constructor", "id": class, "kwargs": fields }).to_string()
}
