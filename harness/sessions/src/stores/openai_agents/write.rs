//! Edits to the rows.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::histories::Block as Content;
use brickbat_rules::json::Document;
use rusqlite::types::Value;
use serde_json::json;

use super::{BRANCHES, TABLE};
use crate::EditError::{self, Missing, NoForm, Unreadable};
use crate::sqlite::Database;
use crate::stores::list::Changes;
use crate::stores::rows::{Rows, row_of, with_database};
use crate::stores::{Edit, WriteError};
use crate::{Files, NOT_RECORDED, Place, Product, Session, json as text};

pub(super) fn write(files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
    if edits.is_empty() {
        return Ok(files.clone());
    }
    let whole = Place::default();
    let database = Database::open(files).map_err(|error| refusal(&whole, error))?;
    let tables = database.tables().map_err(|error| refusal(&whole, error))?;
    if tables.iter().any(|table| table == BRANCHES) {
        return Err(refusal(&whole, NoForm("rows that are on several branches cannot be rewritten")));
    }
    let id = session.id.as_deref().unwrap_or_default();
    let order = super::order(&database);
    let mut rows = Rows::load(&database, TABLE, order, id).map_err(|error| refusal(&whole, error))?;
    let ends = ends(session);
    let calls = calls(session);
    let mut dropped: BTreeMap<i64, BTreeSet<&str>> = BTreeMap::new();
    for edit in edits {
        match edit {
            Edit::Move { result, call, .. } => {
                let cells = row_of(result).and_then(|row| rows.cells(row).zip(Some(row)));
                let (cells, row) = cells.ok_or_else(|| refusal(result, Missing("no such row")))?;
                let end = ends.get(call).ok_or_else(|| refusal(call, Missing("no such call")))?;
                rows.delete(row);
                let cells = at_time_of(&rows, *end, cells);
                rows.insert(*end, cells);
            }
            Edit::Synthesise { call, id } => {
                let cells =
                    row_of(call).filter(|_| calls.contains(&(call, id))).and_then(|row| rows.cells(row));
                let cells =
                    cells.ok_or_else(|| refusal(call, NoForm("only calls of functions can be answered")))?;
                let end = ends.get(call).ok_or_else(|| refusal(call, Missing("no such call")))?;
                let item = json!({ "type": "function_call_output", "call_id": id, "output": NOT_RECORDED });
                let cells = rows.with(cells, "message_data", Value::Text(item.to_string()));
                let cells = at_time_of(&rows, *end, cells);
                rows.insert(*end, cells);
            }
            Edit::Drop { block } => {
                let row = row_of(block).ok_or_else(|| refusal(block, Missing("no such row")))?;
                dropped.entry(row).or_default().insert(&block.pointer);
            }
            Edit::Discard { place } => {
                rows.delete(row_of(place).ok_or_else(|| refusal(place, Missing("no such row")))?);
            }
            Edit::Truncate { last } => {
                rows.truncate(*ends.get(last).ok_or_else(|| refusal(last, Missing("no such block")))?);
            }
        }
    }
    for (row, pointers) in dropped {
        drop_parts(&mut rows, row, &pointers)
            .map_err(|error| refusal(&Place::in_row(TABLE, row, ""), error))?;
    }
    rows.write(&database).map_err(|error| refusal(&whole, error))?;
    with_database(files, database).map_err(|error| refusal(&whole, error))
}

/// The cells with the time of another row, after which a session that is ordered by time reads them.
fn at_time_of(rows: &Rows, end: i64, cells: Vec<Value>) -> Vec<Value> {
    match rows.cell(end, "created_at") {
        Some(time) => rows.with(cells, "created_at", time),
        None => cells,
    }
}

/// The last row of each block's message.
fn ends(session: &Session) -> BTreeMap<&Place, i64> {
    let mut ends = BTreeMap::new();
    for message in session.messages.iter() {
        let Some(end) = message.blocks.last().and_then(|block| row_of(&block.place)) else { continue };
        ends.extend(message.blocks.iter().map(|block| (&block.place, end)));
    }
    ends
}

/// The calls, with their places and ids.
fn calls(session: &Session) -> BTreeSet<(&Place, &str)> {
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    let calls = blocks.filter_map(|block| match &block.content {
        Content::Call(call) => Some((&block.place, call.id.as_str())),
        _ => None,
    });
    calls.collect()
}

/// Removes parts from a message, or the row if no part would remain.
fn drop_parts(rows: &mut Rows, row: i64, pointers: &BTreeSet<&str>) -> Result<(), EditError> {
    let item = rows.text(row, "message_data").ok_or(Missing("no such row"))?;
    let n_parts = text::parse(item.as_bytes())
        .and_then(|value| value.get("content").and_then(|content| content.as_array().map(Vec::len)));
    if pointers.contains("") || n_parts.is_none_or(|n| n <= pointers.len()) {
        rows.delete(row);
        return Ok(());
    }
    let index = |pointer: &&str| pointer.rsplit('/').next().and_then(|n| n.parse::<usize>().ok());
    let gone = pointers.iter().filter_map(index).collect();
    let changes = Changes { gone, ..Changes::default() };
    let document = Document::parse(item.as_bytes()).map_err(|_| Missing("no such part"))?;
    let content = document.root().field("content");
    if changes.gone.iter().any(|n| *n >= content.len()) {
        return Err(Missing("no such part"));
    }
    let bytes = text::splice(item.as_bytes(), changes.edits(content));
    let item = String::from_utf8(bytes).map_err(|_| Unreadable("no text"))?;
    rows.replace(row, "message_data", item);
    Ok(())
}

fn refusal(place: &Place, cause: impl Into<EditError>) -> WriteError {
    cause.into().at(Product::OpenaiAgents, place)
}
