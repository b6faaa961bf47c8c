//! Twenty: an export of its agent chat tables.
//!
//! One JSON object `{agentChatThread, agentTurn, agentMessage, agentMessagePart}` of lists of rows, named
//! like Twenty's entities. A part is a row with the fields of a UI message part under different names.
//! Messages are sent in the order of `processedAt`, with their parts in the order of `orderIndex`, and then
//! in the same way as AI SDK messages (<https://github.com/twentyhq/twenty/pull/21276>).

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::json::{Document, Json};
use serde_json::{Value, json};

use super::ai_sdk::send::{send, waits};
use super::ai_sdk::ui::{UiMessage, read};
use super::json_changes::JsonChanges;
use super::list_reader::{place_of, role_of, session};
use super::list_writer::raw;
use super::{Edit, Look, ReadError, Store, WriteError};
use crate::EditError::{self, NoForm, NoPart, NotJson};
use crate::json::{splice, text, word};
use crate::place::Row;
use crate::session::ASKED;
use crate::{Files, FormError, NOT_APPROVED, NOT_RECORDED, Place, Product, Sent, Session};

/// The store of Twenty.
pub(crate) struct Twenty;

/// The tables of an export.
const TABLES: [&str; 4] = ["agentChatThread", "agentTurn", "agentMessage", "agentMessagePart"];

impl Store for Twenty {
    fn owns(&self, look: &Look<'_>) -> bool {
        look.is_object(is_export)
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let document = Document::parse(files.main()).map_err(|_| ReadError::Unknown)?;
        if !is_export(document.root()) {
            return Err(ReadError::Unknown);
        }
        let mut parts = parts(document.root());
        let mut threads = threads(document.root());
        for (key, row) in rows(document.root(), "agentMessage") {
            let role = text(&row, "role");
            // Queued messages are not sent yet.
            if text(&row, "status").eq_ignore_ascii_case("queued") {
                continue;
            }
            let Some(role) = role_of(role) else {
                return Err(FormError::Role(word(role)).of(Product::Twenty));
            };
            let id = text(&row, "id").to_owned();
            let parts = parts.remove(&id).unwrap_or_default();
            let message = UiMessage { role, id: Some(id), place: key, parts };
            let time = text(&row, "processedAt").to_owned();
            threads.entry(text(&row, "threadId").to_owned()).or_default().push((time, message));
        }
        let mut sessions = Vec::new();
        for (id, mut messages) in threads {
            let mut session = session(Product::Twenty, "rows of an export");
            session.id = Some(id).filter(|id| !id.is_empty());
            session.branch = "all messages by `processedAt`, their parts by `orderIndex`";
            messages.sort_by(|(a, _), (b, _)| a.cmp(b));
            session.n_records = messages.iter().map(|(_, message)| 1 + message.parts.len()).sum();
            let messages = messages.into_iter().map(|(_, message)| message).collect();
            read(&mut session, messages).map_err(|error| error.of(Product::Twenty))?;
            sessions.push(session);
        }
        Ok(sessions)
    }

    fn send(&self, session: &Session) -> Sent {
        send(session)
    }

    fn fills_open_tail(&self, session: &Session) -> Option<&'static str> {
        waits(session)
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        let refuse = |place: &Place, cause: EditError| cause.at(Product::Twenty, place);
        let Ok(document) = Document::parse(files.main()) else {
            return Err(refuse(&Place::default(), NotJson));
        };
        let mut rows = Rows::new(session);
        for edit in edits {
            let done = match edit {
                Edit::Move { result, call, .. } if result == call => rows.knows(call),
                Edit::Move { result, call, .. } => {
                    let from = Document::parse(raw(files, result).as_bytes()).unwrap_or_default();
                    for name in ["state", "toolOutput", "errorMessage"] {
                        rows.changes.set(&call.pointer, name, from.root().field(name).raw().to_owned());
                    }
                    rows.knows(call) && rows.drop(result)
                }
                Edit::Synthesise { call, .. } => {
                    rows.changes.set(&call.pointer, "state", json!("output-error").to_string());
                    let from = Document::parse(raw(files, call).as_bytes()).unwrap_or_default();
                    // Twenty stores the state of a call, but not the user's answer.
                    let words =
                        if from.root().field("state").is(ASKED) { NOT_APPROVED } else { NOT_RECORDED };
                    rows.changes.set(&call.pointer, "errorMessage", json!(words).to_string());
                    rows.knows(call)
                }
                Edit::Drop { block } => rows.drop(block),
                Edit::Truncate { last } => rows.truncate(document.root(), last),
                Edit::Discard { place } => {
                    return Err(refuse(place, NoForm("an export has no stretch to remove")));
                }
            };
            if !done {
                let (Edit::Move { call: place, .. }
                | Edit::Synthesise { call: place, .. }
                | Edit::Drop { block: place }
                | Edit::Truncate { last: place }
                | Edit::Discard { place }) = edit;
                return Err(refuse(place, NoPart));
            }
        }
        let changes = rows.finish();
        let mut written = files.clone();
        if let Some(first) = written.files.first_mut() {
            first.bytes = splice(files.main(), changes.edits(document.root()));
        }
        Ok(written)
    }
}

/// The changes to the rows.
struct Rows<'s> {
    session: &'s Session,
    /// The session's part rows, each with its message row and the index of the last message that contains
    /// it.
    parts: BTreeMap<&'s Place, (&'s str, usize)>,
    gone: BTreeSet<&'s Place>,
    changes: JsonChanges,
}

impl<'s> Rows<'s> {
    fn new(session: &'s Session) -> Rows<'s> {
        let mut parts = BTreeMap::new();
        for (n, message) in session.messages.iter().enumerate() {
            for block in &message.blocks {
                parts.insert(&block.place, (message.place.pointer.as_str(), n));
            }
        }
        Rows { session, parts, gone: BTreeSet::new(), changes: JsonChanges::default() }
    }

    fn knows(&self, place: &Place) -> bool {
        self.parts.contains_key(place)
    }

    fn drop(&mut self, place: &Place) -> bool {
        let own = self.parts.get_key_value(place).map(|(own, _)| *own);
        self.gone.extend(own);
        own.is_some()
    }

    /// Removes the rows of later messages, and the later parts of the message that contains the block.
    fn truncate(&mut self, root: Json<'_, '_>, last: &Place) -> bool {
        let Some((own, n)) = self.parts.get(last).copied() else { return false };
        let stays: BTreeSet<&str> =
            self.session.messages[..=n].iter().map(|message| message.place.pointer.as_str()).collect();
        let ids: BTreeSet<&str> = self.session.messages[n + 1..]
            .iter()
            .filter(|message| !stays.contains(message.place.pointer.as_str()))
            .filter_map(|message| message.id.as_deref())
            .collect();
        for message in &self.session.messages[n + 1..] {
            if !stays.contains(message.place.pointer.as_str()) {
                self.changes.remove(&message.place.pointer);
            }
        }
        let kept = self.session.messages[..=n].iter().filter(|message| message.place.pointer == own);
        let kept: BTreeSet<&str> =
            kept.flat_map(|message| &message.blocks).map(|block| block.place.pointer.as_str()).collect();
        let orders: BTreeMap<String, (String, f64)> = rows(root, "agentMessagePart")
            .map(|(place, row)| (place.pointer, (text(&row, "messageId").to_owned(), order(&row))))
            .collect();
        let until = kept
            .iter()
            .filter_map(|part| orders.get(*part).map(|(_, order)| *order))
            .fold(f64::MIN, f64::max);
        let owner = self.session.messages[n].id.as_deref().unwrap_or_default();
        for (pointer, (message, order)) in &orders {
            if ids.contains(message.as_str()) || (message == owner && *order > until) {
                self.changes.remove(pointer);
            }
        }
        true
    }

    fn finish(mut self) -> JsonChanges {
        let mut stays: BTreeMap<&str, bool> = BTreeMap::new();
        for (place, (message, _)) in &self.parts {
            *stays.entry(message).or_default() |= !self.gone.contains(*place);
        }
        for place in &self.gone {
            self.changes.remove(&place.pointer);
            if let Some((message, _)) = self.parts.get(*place)
                && stays.get(message) == Some(&false)
            {
                self.changes.remove(message);
            }
        }
        self.changes
    }
}

fn is_export(root: Json<'_, '_>) -> bool {
    let tables = root.pick(TABLES);
    let is_list = |table: &Option<Json<'_, '_>>| table.is_some_and(Json::is_array);
    // Messages and their parts are required. An export may omit the rest.
    is_list(&tables[2]) && is_list(&tables[3]) && (is_list(&tables[0]) || is_list(&tables[1]))
}

/// The rows of a table, with their places.
fn rows<'j>(root: Json<'j, 'j>, table: &'static str) -> impl Iterator<Item = (Place, Value)> + 'j {
    root.field(table).items().enumerate().map(move |(n, row)| {
        let mut place = place_of(row, format!("/{table}/{n}"));
        place.row = Some(Row { table: table.to_owned(), id: n as i64 + 1 });
        (place, row.to_value())
    })
}

/// The threads of the export, ordered by id. A thread without messages is a session, too.
fn threads(root: Json<'_, '_>) -> BTreeMap<String, Vec<(String, UiMessage)>> {
    let rows = rows(root, "agentChatThread");
    rows.map(|(_, row)| (text(&row, "id").to_owned(), Vec::new())).collect()
}

/// Each message's parts, in order, by message id.
fn parts(root: Json<'_, '_>) -> BTreeMap<String, Vec<(Place, Value)>> {
    let mut parts: BTreeMap<String, Vec<(f64, Place, Value)>> = BTreeMap::new();
    for (place, row) in rows(root, "agentMessagePart") {
        let part = part(&row);
        parts.entry(text(&row, "messageId").to_owned()).or_default().push((order(&row), place, part));
    }
    let sorted = parts.into_iter().map(|(message, mut parts)| {
        parts.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
        (message, parts.into_iter().map(|(_, place, part)| (place, part)).collect())
    });
    sorted.collect()
}

fn order(row: &Value) -> f64 {
    row.get("orderIndex").and_then(Value::as_f64).unwrap_or(f64::MAX)
}

/// A row, converted to a part by the rules of Twenty's mapper. A missing input becomes an empty object, a
/// missing error text an empty text.
fn part(row: &Value) -> Value {
    let given = |key: &str| row.get(key).filter(|value| !value.is_null()).cloned();
    let kind = text(row, "type");
    let metadata = given("providerMetadata");
    match kind {
        "text" => {
            json!({ "type": kind, "text": given("textContent").unwrap_or_default(), "providerMetadata": metadata })
        }
        "reasoning" => {
            json!({ "type": kind, "text": given("reasoningContent").unwrap_or_default(), "providerMetadata": metadata })
        }
        _ if kind == "dynamic-tool" || kind.starts_with("tool-") => json!({
            "type": kind,
            "toolName": row.get("toolName"),
            "toolCallId": row.get("toolCallId"),
            "state": row.get("state"),
            "input": given("toolInput").unwrap_or_else(|| json!({})),
            "output": row.get("toolOutput"),
            "errorText": given("errorMessage").unwrap_or_else(|| json!("")),
            "providerExecuted": row.get("providerExecuted"),
            "callProviderMetadata": metadata,
        }),
        kind => json!({ "type": kind }),
    }
}

#[cfg(test)]
mod tests;
