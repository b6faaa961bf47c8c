//! The forms of the records, all read into the same structures.

use brickbat_rules::json::{Document, Json};
use serde_json::Value;

use super::events::{self, Event};
use super::raw::{Pieces, Raw, RawMessage, RawPart, revert_of};
use crate::json::{parse, text, trouble};
use crate::sqlite::{self, Database, Rows};
use crate::stores::Look;
use crate::{Files, FormError, Lost, Place, RecordError, Trouble};

/// The form of the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `opencode export`: one session with its messages and parts.
    Export,
    /// The rows of `message` and `part`, as lists in a JSON file.
    Rows,
    /// The file of a session. Its messages and parts are companions.
    Folder,
    /// `opencode.db`.
    Database,
}

impl Form {
    /// The value of [`Session::generation`](crate::Session::generation) for this form.
    pub(super) fn generation(self) -> &'static str {
        match self {
            Form::Export => "export",
            Form::Rows => "SQLite rows as JSON",
            Form::Folder => "JSON files",
            Form::Database => "SQLite rows",
        }
    }
}

/// The form of these files. `None` if opencode did not write them.
pub(super) fn form_of(look: &Look<'_>) -> Option<Form> {
    if sqlite::is_database(look.main()) {
        let database = Database::open(look.files).ok()?;
        return (has_parts(&database) || has_events(&database)).then_some(Form::Database);
    }
    let root = look.document()?.root();
    if is_id(root.field("info").field("id"), "ses") && root.field("messages").is_array() {
        let are_messages = root.field("messages").items().all(|message| {
            is_id(message.field("info").field("id"), "msg") && message.field("parts").is_array()
        });
        return are_messages.then_some(Form::Export);
    }
    if root.field("message").is_array() && root.field("part").is_array() {
        let is_row = |row: Json, id: &str| {
            is_id(row.field("id"), id) && is_id(row.field("session_id"), "ses") && row.get("data").is_some()
        };
        let are_rows = root.field("message").items().all(|row| is_row(row, "msg"))
            && root
                .field("part")
                .items()
                .all(|row| is_row(row, "prt") && is_id(row.field("message_id"), "msg"));
        return (are_rows && !root.field("message").is_empty()).then_some(Form::Rows);
    }
    let is_session = is_id(root.field("id"), "ses")
        && root.field("directory").is_str()
        && root.field("time").field("created").as_number().is_some();
    is_session.then_some(Form::Folder)
}

fn is_id(value: Json, prefix: &str) -> bool {
    value.as_str().is_some_and(|id| id.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('_')))
}

/// The sessions of the first two generations, and the rows of the third.
pub(super) fn read(form: Form, files: &Files) -> Result<(Vec<Raw>, Vec<Event>), FormError> {
    match form {
        Form::Export => Ok((export(files.main()), Vec::new())),
        Form::Rows => Ok((rows(files.main()).assemble(), Vec::new())),
        Form::Folder => Ok((folder(files).assemble(), Vec::new())),
        Form::Database => {
            let database = Database::open(files)?;
            let mut raws = Vec::new();
            if has_parts(&database) {
                let pieces = database_rows(&database);
                let cut = pieces.cut.first().map(|(_, error)| *error);
                raws = pieces.assemble();
                if let (true, Some(error)) = (raws.is_empty(), cut) {
                    return Err(error.into());
                }
            }
            let events = if has_events(&database) { events::read(&database)? } else { Vec::new() };
            Ok((raws, events))
        }
    }
}

/// An export. Messages and parts keep their order in the file.
fn export(bytes: &[u8]) -> Vec<Raw> {
    let Ok(document) = Document::parse(bytes) else { return Vec::new() };
    let mut raw = Raw::of_info(&document.root().field("info").to_value());
    for (n, message) in document.root().field("messages").items().enumerate() {
        let pointer = format!("/messages/{n}");
        let info = message.field("info").to_value();
        let parts = message.field("parts").items().enumerate().map(|(m, part)| {
            let value = part.to_value();
            RawPart {
                id: text(&value, "id").to_owned(),
                message: text(&info, "id").to_owned(),
                place: in_file(part, format!("{pointer}/parts/{m}")),
                value,
            }
        });
        let parts = parts.collect();
        raw.messages.push(RawMessage {
            id: text(&info, "id").to_owned(),
            session: raw.id.clone(),
            created: 0,
            place: in_file(message, pointer),
            info,
            parts,
        });
    }
    vec![raw]
}

fn in_file(value: Json, pointer: String) -> Place {
    let span = value.span();
    Place::in_file(span.start as u64..span.end as u64, pointer)
}

/// Rows exported from the database. `data` is a text or the object itself.
fn rows(bytes: &[u8]) -> Pieces {
    let mut pieces = Pieces::default();
    let Ok(document) = Document::parse(bytes) else { return pieces };
    let root = document.root();
    for row in root.field("session").items() {
        pieces.sessions.push(Raw::of_info(&row.to_value()));
    }
    let word = |row: Json, key: &str| row.field(key).as_str().unwrap_or_default().into_owned();
    for (n, row) in root.field("message").items().enumerate() {
        let place = in_file(row, format!("/message/{n}"));
        let session = word(row, "session_id");
        match data(row) {
            Ok(info) => pieces.messages.push(RawMessage {
                id: word(row, "id"),
                session,
                created: number(row.field("time_created")),
                info,
                place,
                parts: Vec::new(),
            }),
            Err(error) => pieces.troubles.push((Some(session), lost(place, &error, "a message"))),
        }
    }
    for (n, row) in root.field("part").items().enumerate() {
        let place = in_file(row, format!("/part/{n}"));
        match data(row) {
            Ok(value) => pieces.parts.push(RawPart {
                id: word(row, "id"),
                message: word(row, "message_id"),
                value,
                place,
            }),
            Err(error) => {
                pieces.troubles.push((Some(word(row, "session_id")), lost(place, &error, "a part")))
            }
        }
    }
    pieces
}

fn data(row: Json) -> Result<Value, RecordError> {
    match row.field("data").as_str() {
        Some(text) => object(text.as_bytes()),
        None if row.field("data").is_object() => Ok(row.field("data").to_value()),
        None => Err(RecordError::NotObject),
    }
}

fn object(bytes: &[u8]) -> Result<Value, RecordError> {
    match parse(bytes) {
        Some(value) if value.is_object() => Ok(value),
        Some(_) => Err(RecordError::NotObject),
        None => Err(trouble(bytes)),
    }
}

fn number(value: Json) -> i64 {
    value.as_number().map_or(0, |number| number.as_f64().unwrap_or_default() as i64)
}

fn lost(place: Place, error: &RecordError, loses: &'static str) -> Trouble {
    Trouble { place, words: error.to_string(), loses: Some(Lost::Data(loses)) }
}

/// The losses if a file that cannot be read is removed.
const PART: &str = "the part in the file";
const MESSAGE: &str = "the message in the file";

/// Returns whether a trouble is a file of a folder that cannot be read. opencode parses each file of the session, and does
/// not open the session if one of them is not JSON (<https://github.com/anomalyco/opencode/issues/7607>).
pub(super) fn is_of_file(trouble: &Trouble) -> bool {
    matches!(trouble.loses, Some(Lost::Data(PART | MESSAGE)))
}

/// `storage/session/<project>/<ses>.json`, `storage/message/<ses>/<msg>.json`,
/// `storage/part/<msg>/<prt>.json`.
///
/// A companion is identified by its keys, or by its folder if it cannot be read.
fn folder(files: &Files) -> Pieces {
    let mut pieces = Pieces::default();
    for (n, file) in files.files.iter().enumerate() {
        let place = Place { file: n, end: file.bytes.len() as u64, ..Place::default() };
        let value = match object(&file.bytes) {
            Ok(value) => value,
            Err(error) if file.name.contains("part/") => {
                pieces.troubles.push((None, lost(place, &error, PART)));
                continue;
            }
            Err(error) if file.name.contains("message/") => {
                pieces.troubles.push((None, lost(place, &error, MESSAGE)));
                continue;
            }
            Err(_) => continue,
        };
        let word = |key: &str| text(&value, key).to_owned();
        if !word("messageID").is_empty() && !word("type").is_empty() {
            pieces.parts.push(RawPart { id: word("id"), message: word("messageID"), place, value });
        } else if !word("sessionID").is_empty() && !word("role").is_empty() {
            let (id, session) = (word("id"), word("sessionID"));
            // Before 1.2, messages are ordered only by id.
            pieces.messages.push(RawMessage {
                id,
                session,
                created: 0,
                info: value,
                place,
                parts: Vec::new(),
            });
        } else if word("id").starts_with("ses_") {
            pieces.sessions.push(Raw::of_info(&value));
        }
    }
    pieces
}

fn has_parts(database: &Database) -> bool {
    database.has("message", &["id", "session_id", "time_created", "data"])
        && database.has("part", &["id", "message_id", "session_id", "data"])
        && database.has("session", &["id", "version"])
}

fn has_events(database: &Database) -> bool {
    database.has("session_message", &["id", "session_id", "type", "seq", "data"])
        && database.columns("session_v2").iter().any(|column| column == "id")
}

fn database_rows(database: &Database) -> Pieces {
    let mut pieces = Pieces::default();
    let mut columns = vec!["id", "version"];
    let optional = ["parent_id", "revert"].into_iter().filter(|column| database.has("session", &[column]));
    columns.extend(optional);
    let take = |table: &str, rows: Rows, pieces: &mut Pieces| {
        if let Some(error) = rows.stopped {
            let place = Place::in_row(table, rows.rows.last().map_or(0, |row| row.id), "");
            pieces.cut.push((place, error));
        }
        rows.rows
    };
    for row in take("session", database.rows("session", &columns), &mut pieces) {
        let cell = |name: &str| {
            let at = columns.iter().position(|column| *column == name)?;
            Some(row.cells[at].text()).filter(|text| !text.is_empty())
        };
        pieces.sessions.push(Raw {
            id: cell("id").unwrap_or_default(),
            parent: cell("parent_id"),
            version: cell("version"),
            revert: cell("revert").and_then(|text| revert_of(&Value::from(text))),
            ..Raw::default()
        });
    }
    let columns = ["id", "session_id", "time_created", "data"];
    for row in take("message", database.rows("message", &columns), &mut pieces) {
        let place = Place::in_row("message", row.id, "");
        let session = row.cells[1].text();
        match object(row.cells[3].bytes()) {
            Ok(info) => pieces.messages.push(RawMessage {
                id: row.cells[0].text(),
                session,
                created: row.cells[2].number(),
                info,
                place,
                parts: Vec::new(),
            }),
            Err(error) => pieces.troubles.push((Some(session), lost(place, &error, "a message"))),
        }
    }
    let columns = ["id", "message_id", "session_id", "data"];
    for row in take("part", database.rows("part", &columns), &mut pieces) {
        let place = Place::in_row("part", row.id, "");
        match object(row.cells[3].bytes()) {
            Ok(value) => {
                let (id, message) = (row.cells[0].text(), row.cells[1].text());
                pieces.parts.push(RawPart { id, message, value, place });
            }
            Err(error) => pieces.troubles.push((Some(row.cells[2].text()), lost(place, &error, "a part"))),
        }
    }
    pieces
}
