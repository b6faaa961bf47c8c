//! The lists of objects in a file that may be messages: in JSON, on lines, and in the rows and cells of a database.

#[cfg(feature = "sqlite")]
use std::collections::BTreeMap;

use brickbat_rules::json::{Document, Json};
use serde_json::Value;
#[cfg(feature = "sqlite")]
use serde_json::{Map, json};

use super::said;
use crate::json::lines;
#[cfg(feature = "sqlite")]
use crate::sqlite::{Cell, Database, TableRow, is_database};
use crate::stores::forms::read::listed;
use crate::{Files, Place};

/// A list of objects.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// The id of its session.
    pub(super) id: Option<String>,
    pub(super) items: Vec<(Place, Value)>,
}

/// How deep lists are looked for, and how many of them are read.
const MAX_DEPTH: usize = 12;
const MAX_LISTS: usize = 1000;

/// The lists in the first file.
pub(super) fn of(files: &Files) -> Vec<Gathered> {
    let bytes = files.main();
    #[cfg(feature = "sqlite")]
    if is_database(bytes) {
        return Database::open(files).map(|database| of_tables(&database)).unwrap_or_default();
    }
    if let Ok(document) = Document::parse(bytes) {
        let place = |value: Json<'_, '_>, at: &str| {
            let span = value.span();
            Place::in_file(span.start as u64..span.end as u64, at)
        };
        let mut found = Vec::new();
        in_value(document.root(), "", MAX_DEPTH, &place, &mut found);
        return found;
    }
    of_lines(bytes)
}

/// The lists of objects with a speaker in a value, and in the JSON texts of it.
fn in_value(
    value: Json<'_, '_>,
    at: &str,
    depth: usize,
    place: &dyn Fn(Json<'_, '_>, &str) -> Place,
    found: &mut Vec<Gathered>,
) {
    if depth == 0 || found.len() >= MAX_LISTS {
        return;
    }
    if let Some(text) = value.as_str().filter(|text| may_be_json(text.as_bytes())) {
        if let Ok(inner) = Document::parse(text.as_bytes()) {
            let whole = place(value, at);
            in_value(
                inner.root(),
                at,
                depth - 1,
                &|_, at| Place { pointer: at.to_owned(), ..whole.clone() },
                found,
            );
        }
        return;
    }
    let items = listed(value, at);
    if value.is_array() {
        let objects = items.iter().filter_map(|(at, item)| Some((place(*item, at), object(*item)?)));
        let objects: Vec<(Place, Value)> = objects.collect();
        let n_said = objects.iter().filter(|(_, item)| said::has_speaker(item)).count();
        if n_said >= 2 && 2 * n_said >= items.len() {
            found.push(Gathered { id: None, items: objects });
            return;
        }
    }
    for (at, item) in items {
        in_value(item, &at, depth - 1, place, found);
    }
}

/// An object of a list. A value that is nested more deeply than any message is none.
fn object(item: Json<'_, '_>) -> Option<Value> {
    item.is_object().then(|| serde_json::from_str(item.raw()).ok()).flatten()
}

fn may_be_json(bytes: &[u8]) -> bool {
    bytes.len() > 2 && matches!(bytes.trim_ascii_start().first(), Some(b'[' | b'{'))
}

/// The lines of a file: each is a message, or has one in a field, or is a session with a list.
fn of_lines(bytes: &[u8]) -> Vec<Gathered> {
    let mut messages = Gathered::default();
    let mut lists = Vec::new();
    for line in lines(bytes) {
        if !may_be_json(line.bytes) {
            continue;
        }
        let Ok(document) = Document::parse(line.bytes) else { continue };
        match object(document.root()).filter(said::has_speaker) {
            Some(item) => messages.items.push((Place::in_line(line.n, line.span(), ""), item)),
            None => {
                let place = |_: Json<'_, '_>, at: &str| Place::in_line(line.n, line.span(), at);
                in_value(document.root(), "", MAX_DEPTH, &place, &mut lists);
            }
        }
    }
    if messages.items.len() > 1 {
        lists.insert(0, messages);
    }
    lists
}

/// Columns with the id of a session, with the order of the rows, and of rows that were deleted.
#[cfg(feature = "sqlite")]
const SESSIONS: [&str; 8] =
    ["sessionid", "threadid", "conversationid", "chatid", "topicid", "conversation", "session", "dialogid"];
#[cfg(feature = "sqlite")]
const ORDERS: [&str; 9] = [
    "seq",
    "sequence",
    "position",
    "idx",
    "messageindex",
    "orderindex",
    "createdat",
    "timestamp",
    "createtime",
];
#[cfg(feature = "sqlite")]
const DELETED: [&str; 4] = ["deleted", "isdeleted", "deletedat", "archived"];

/// The rows of each table that are messages, by session, or else the lists in the cells.
#[cfg(feature = "sqlite")]
fn of_tables(database: &Database) -> Vec<Gathered> {
    let mut found = Vec::new();
    for table in database.tables().unwrap_or_default() {
        let columns = database.columns(&table);
        let named = |names: &[&str]| {
            names.iter().find_map(|name| columns.iter().position(|column| said::plain(column) == *name))
        };
        let (session, order, deleted) = (named(&SESSIONS), named(&ORDERS), named(&DELETED));
        let wanted: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut rows = database.rows(&table, &wanted).rows;
        if let Some(order) = order {
            rows.sort_by_key(|row| key_of(&row.cells[order]));
        }
        let mut sessions: BTreeMap<String, Gathered> = BTreeMap::new();
        let mut lists = Vec::new();
        for row in rows {
            if deleted.is_some_and(|n| is_set(&row.cells[n])) {
                continue;
            }
            let item = fields_of(&columns, &row);
            if said::has_speaker(&item) {
                let id = session.map(|n| words(&row.cells[n])).unwrap_or_default();
                let list = sessions.entry(id.clone()).or_default();
                list.id = Some(id).filter(|id| !id.is_empty());
                list.items.push((Place::in_row(&table, row.id, ""), item));
                continue;
            }
            let before = lists.len();
            for cell in row.cells.iter().filter(|cell| may_be_json(cell.bytes())) {
                let Ok(document) = Document::parse(cell.bytes()) else { continue };
                let place = |_: Json<'_, '_>, at: &str| Place::in_row(&table, row.id, at);
                in_value(document.root(), "", MAX_DEPTH, &place, &mut lists);
            }
            let id = row.cells.first().map(words).filter(|id| !id.is_empty() && id.len() <= 64);
            lists[before..].iter_mut().for_each(|list| list.id = id.clone());
        }
        found.extend(sessions.into_values().chain(lists));
    }
    found.truncate(MAX_LISTS);
    found
}

/// A row as an object. JSON texts become values.
#[cfg(feature = "sqlite")]
fn fields_of(columns: &[String], row: &TableRow) -> Value {
    let value = |cell: &Cell| match cell {
        Cell::Bytes(bytes) if may_be_json(bytes) => {
            serde_json::from_slice(bytes).unwrap_or_else(|_| json!(cell.text()))
        }
        Cell::Bytes(_) => json!(cell.text()),
        Cell::Number(number) => json!(number),
        _ => Value::Null,
    };
    let cells = columns.iter().zip(&row.cells).map(|(name, cell)| (name.clone(), value(cell)));
    Value::Object(cells.collect::<Map<_, _>>())
}

/// The place of a row in its order: numbers by size, texts such as dates by their letters.
#[cfg(feature = "sqlite")]
fn key_of(cell: &Cell) -> (i64, Vec<u8>) {
    (cell.number(), cell.bytes().to_vec())
}

/// The text or the number of a cell.
#[cfg(feature = "sqlite")]
fn words(cell: &Cell) -> String {
    match cell {
        Cell::Number(number) => number.to_string(),
        _ => cell.text(),
    }
}

#[cfg(feature = "sqlite")]
fn is_set(cell: &Cell) -> bool {
    cell.number() != 0 || !cell.bytes().is_empty() && !matches!(cell.bytes(), b"0" | b"false")
}
