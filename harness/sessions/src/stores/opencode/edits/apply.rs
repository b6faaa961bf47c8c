//! Writes part changes into the bytes of each form.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use brickbat_rules::json::{Document, Json};

use super::Changes;
use crate::EditError::{Missing, Refused, Unreadable};
use crate::json::{span_of, splice};
use crate::sqlite::Database;
use crate::stores::opencode::forms::Form;
use crate::stores::records::ItemSpans;
use crate::{EditError, Files, Place, SqliteError};

/// Reads and replaces the parts of the files.
pub(super) struct Cells<'f> {
    form: Form,
    files: &'f Files,
    database: Option<Database>,
    /// The last cell that was read, with the byte ranges of its items. A message of events has all its parts
    /// in one cell.
    last: Option<(Place, Cell)>,
}

/// A cell of a row.
struct Cell {
    bytes: Vec<u8>,
    items: ItemSpans,
}

/// The cause if an edit names a row that does not exist.
const NO_ROW: EditError = Missing("there is no row at this place");

/// Byte ranges with their replacements.
type Splices = Vec<(Range<usize>, Vec<u8>)>;

impl<'f> Cells<'f> {
    pub(super) fn open(form: Form, files: &'f Files) -> Result<Cells<'f>, SqliteError> {
        let database = match form {
            Form::Database => Some(Database::open(files)?),
            _ => None,
        };
        Ok(Cells { form, files, database, last: None })
    }

    /// The JSON of the part at a place.
    pub(super) fn part(&mut self, place: &Place) -> Option<Vec<u8>> {
        if let Some(database) = &self.database {
            let row = Place { row: place.row.clone(), ..Place::default() };
            if self.last.as_ref().is_none_or(|(last, _)| *last != row) {
                let bytes = cell(database, place)?;
                self.last = Some((row, Cell { bytes, items: ItemSpans::default() }));
            }
            let (_, cell) = self.last.as_mut()?;
            let whole = 0..cell.bytes.len();
            let item = cell.items.find(&cell.bytes, &whole, &place.pointer);
            let part = item.or_else(|| span_of(&cell.bytes, &place.pointer))?;
            return Some(cell.bytes[part].to_vec());
        }
        let file = &self.files.files.get(place.file)?.bytes;
        let (start, end) = (usize::try_from(place.start).ok()?, usize::try_from(place.end).ok()?);
        let bytes = file.get(start..end)?;
        match self.form {
            Form::Rows => Some(data(bytes)?.1),
            _ => Some(bytes.to_vec()),
        }
    }

    /// The files after the changes.
    pub(super) fn apply(self, changes: Changes) -> Result<Files, EditError> {
        match (self.form, self.database) {
            (Form::Export, _) => main(self.files, export(self.files.main(), &changes)),
            (Form::Rows, _) => main(self.files, rows(self.files.main(), &changes)),
            (_, Some(database)) => {
                write_rows(&database, changes)?;
                Ok(database.into_files(self.files)?)
            }
            (_, None) => Ok(folder(self.files, changes)),
        }
    }
}

fn main(files: &Files, splices: Option<Splices>) -> Result<Files, EditError> {
    let splices = splices.ok_or(Unreadable("the file cannot be read"))?;
    let mut files = files.clone();
    if let Some(file) = files.files.first_mut() {
        file.bytes = splice(&file.bytes, splices);
    }
    Ok(files)
}

fn export(bytes: &[u8], changes: &Changes) -> Option<Splices> {
    let document = Document::parse(bytes).ok()?;
    let messages: Vec<Json> = document.root().field("messages").items().collect();
    let is_removed = |value: &Json, pointer: String| changes.removed.contains(&at(value, pointer));
    let gone: Vec<bool> = messages
        .iter()
        .enumerate()
        .map(|(n, message)| is_removed(message, format!("/messages/{n}")))
        .collect();
    let mut splices = cuts(&messages, &gone);
    for (n, message) in messages.iter().enumerate().filter(|(n, _)| !gone[*n]) {
        let parts: Vec<Json> = message.field("parts").items().collect();
        let pointer = |m: usize| format!("/messages/{n}/parts/{m}");
        let gone: Vec<bool> =
            parts.iter().enumerate().map(|(m, part)| is_removed(part, pointer(m))).collect();
        splices.extend(cuts(&parts, &gone));
        for (m, part) in parts.iter().enumerate().filter(|(m, _)| !gone[*m]) {
            if let Some(new) = changes.parts.get(&at(part, pointer(m))) {
                splices.push((part.span(), new.clone()));
            }
        }
    }
    Some(splices)
}

fn rows(bytes: &[u8], changes: &Changes) -> Option<Splices> {
    let document = Document::parse(bytes).ok()?;
    let mut splices = Vec::new();
    for table in ["message", "part"] {
        let rows: Vec<Json> = document.root().field(table).items().collect();
        let place = |n: usize| at(&rows[n], format!("/{table}/{n}"));
        let gone: Vec<bool> = (0..rows.len()).map(|n| changes.removed.contains(&place(n))).collect();
        splices.extend(cuts(&rows, &gone));
        for n in (0..rows.len()).filter(|n| !gone[*n]) {
            let Some(new) = changes.parts.get(&place(n)) else { continue };
            let cell = rows[n].field("data");
            let new = match cell.is_str() {
                true => serde_json::Value::from(String::from_utf8_lossy(new)).to_string().into_bytes(),
                false => new.clone(),
            };
            splices.push((cell.span(), new));
        }
    }
    Some(splices)
}

fn at(value: &Json, pointer: String) -> Place {
    let span = value.span();
    Place::in_file(span.start as u64..span.end as u64, pointer)
}

/// The cell `data` of a row: its byte range and its JSON.
fn data(row: &[u8]) -> Option<(Range<usize>, Vec<u8>)> {
    let document = Document::parse(row).ok()?;
    let cell = document.root().get("data")?;
    let json = match cell.as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => cell.raw().as_bytes().to_vec(),
    };
    Some((cell.span(), json))
}

/// The byte ranges to cut from a list in order to remove some of its items, each with one comma.
fn cuts(items: &[Json], gone: &[bool]) -> Splices {
    let mut cuts = Vec::new();
    let mut n = 0;
    while n < items.len() {
        if !gone[n] {
            n += 1;
            continue;
        }
        let end = (n..items.len()).find(|m| !gone[*m]).unwrap_or(items.len());
        let stretch = match (n, items.get(end)) {
            (_, Some(next)) => items[n].span().start..next.span().start,
            (0, None) => items[0].span().start..items[end - 1].span().end,
            (_, None) => items[n - 1].span().end..items[end - 1].span().end,
        };
        cuts.push((stretch, Vec::new()));
        n = end;
    }
    cuts
}

/// Applies changes to a folder. Each part is a file, and a removed file is no longer among the files.
fn folder(files: &Files, changes: Changes) -> Files {
    let mut out = Files::default();
    let removed: BTreeSet<usize> =
        changes.removed.iter().map(|place| place.file).filter(|n| *n > 0).collect();
    let mut new: BTreeMap<usize, Vec<u8>> =
        changes.parts.into_iter().map(|(place, bytes)| (place.file, bytes)).collect();
    for (n, file) in files.files.iter().enumerate().filter(|(n, _)| !removed.contains(n)) {
        let mut file = file.clone();
        if let Some(bytes) = new.remove(&n) {
            file.bytes = bytes;
        }
        out.files.push(file);
    }
    out
}

/// The `data` cell in a database row.
fn cell(database: &Database, place: &Place) -> Option<Vec<u8>> {
    let row = place.row.as_ref()?;
    let table = table(&row.table)?;
    let query = format!("SELECT CAST(data AS BLOB) FROM {table} WHERE rowid = ?1");
    database.connection().query_row(&query, [row.id], |row| row.get(0)).ok()
}

/// Maps a table name to a table that may be written.
fn table(name: &str) -> Option<&'static str> {
    ["message", "part", "session_message"].into_iter().find(|table| *table == name)
}

fn write_rows(database: &Database, changes: Changes) -> Result<(), EditError> {
    let execute = |query: String, values: &[&dyn rusqlite::ToSql]| {
        database.connection().execute(&query, values).map_err(Refused)
    };
    let mut cells: BTreeMap<Place, Vec<Place>> = BTreeMap::new();
    for place in changes.removed.iter().chain(changes.parts.keys()) {
        let row = Place { row: place.row.clone(), ..Place::default() };
        cells.entry(row).or_default().push(place.clone());
    }
    for (whole, places) in cells {
        let Some((table, id)) = whole.row.as_ref().and_then(|row| Some((table(&row.table)?, row.id))) else {
            return Err(NO_ROW);
        };
        if changes.removed.contains(&whole) {
            execute(format!("DELETE FROM {table} WHERE rowid = ?1"), &[&id])?;
            continue;
        }
        let bytes = cell(database, &whole).ok_or(NO_ROW)?;
        let new = in_cell(&bytes, &places, &changes).ok_or(Unreadable("the row cannot be read"))?;
        let text = String::from_utf8_lossy(&new).into_owned();
        execute(format!("UPDATE {table} SET data = ?1 WHERE rowid = ?2"), &[&text, &id])?;
    }
    Ok(())
}

/// A cell after the changes to the values inside it.
fn in_cell(bytes: &[u8], places: &[Place], changes: &Changes) -> Option<Vec<u8>> {
    let document = Document::parse(bytes).ok()?;
    let mut splices = Vec::new();
    let mut found = ItemSpans::default();
    for (list, key) in ["content", "files"].into_iter().map(|key| (document.root().field(key), key)) {
        let items: Vec<Json> = list.items().collect();
        let row = places.first()?.row.clone();
        let is_gone = |n: usize| {
            let pointer = format!("/{key}/{n}");
            changes.removed.contains(&Place { row: row.clone(), pointer, ..Place::default() })
        };
        let gone: Vec<bool> = (0..items.len()).map(is_gone).collect();
        splices.extend(cuts(&items, &gone));
    }
    for place in places {
        if let Some(new) = changes.parts.get(place).filter(|_| !changes.removed.contains(place)) {
            let item = found.find(bytes, &(0..bytes.len()), &place.pointer);
            splices.push((item.or_else(|| span_of(bytes, &place.pointer))?, new.clone()));
        }
    }
    Some(splice(bytes, splices))
}
