//! The third generation: rows of `session_message`, one per event, in the order of `seq`.
//!
//! The same table exists empty or partly filled beside the rows of the second generation. Its rows are the
//! conversation only if there is a `session_v2`. Their form and the messages sent for them are taken from the
//! released program 1.18.33, which already has both. A version with `session_v2` was not available.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::histories::{self, Call, CallResult, Image, Role, Thinking};
use serde_json::{Value, json};

use super::blocks::OF_ANOTHER_MODEL;
use super::raw::{Raw, RawMessage, RawPart};
use crate::json::{parse, text, trouble};
use crate::names;
use crate::sqlite::Database;
use crate::{Block, Ending, FormError, Lost, Message, Place, Product, Sent, Session, SqliteError, Trouble};

/// The value of [`Session::generation`] for this form.
pub(super) const GENERATION: &str = "SQLite rows of events";

/// Rows that add nothing to the conversation.
const SILENT: [&str; 3] = ["agent-switched", "location-switched", "model-switched"];

#[derive(Debug)]
pub(super) struct Event {
    /// The column `type`.
    kind: String,
    seq: i64,
    session: String,
    /// Its record, with the parts that can be edited separately.
    message: Result<RawMessage, Trouble>,
}

/// The rows of the table.
///
/// # Errors
///
/// The table cannot be read to its end.
pub(super) fn read(database: &Database) -> Result<Vec<Event>, SqliteError> {
    let found = database.rows(TABLE, &["id", "session_id", "type", "seq", "data"]);
    if let Some(error) = found.stopped {
        return Err(error);
    }
    let events = found.rows.into_iter().map(|row| {
        let session = row.cells[1].text();
        let bytes = row.cells[4].bytes();
        let message = match parse(bytes).filter(Value::is_object) {
            Some(info) => Ok(RawMessage {
                id: row.cells[0].text(),
                session: session.clone(),
                created: row.cells[3].number(),
                parts: parts(&info, row.id),
                info,
                place: Place::in_row(TABLE, row.id, ""),
            }),
            None => Err(Trouble {
                place: Place::in_row(TABLE, row.id, ""),
                words: trouble(bytes).to_string(),
                loses: Some(Lost::Data("a message")),
            }),
        };
        Event { kind: row.cells[2].text(), seq: row.cells[3].number(), session, message }
    });
    let mut events: Vec<Event> = events.collect();
    events.sort_by_key(|event| event.seq);
    Ok(events)
}

pub(super) const TABLE: &str = "session_message";

/// The parts of a row that have their own places: the items of a reply, otherwise the text and the files.
fn parts(info: &Value, row: i64) -> Vec<RawPart> {
    let list = |key: &str| info.get(key).and_then(Value::as_array).into_iter().flatten().enumerate();
    let part = |pointer: String, value: Value| RawPart {
        id: String::new(),
        message: String::new(),
        value,
        place: Place::in_row(TABLE, row, pointer),
    };
    if info.get("content").is_some_and(Value::is_array) {
        return list("content").map(|(n, item)| part(format!("/content/{n}"), item.clone())).collect();
    }
    let words = match text(info, "command") {
        "" if info.get("summary").is_some() => {
            format!("{}\n\n{}", text(info, "summary"), text(info, "recent"))
        }
        "" => text(info, "text").to_owned(),
        command => format!("Shell command: {command}\n\n{}", text(info, "output")),
    };
    let words = part("/text".to_owned(), json!({ "type": "text", "text": words }));
    let files = list("files").map(|(n, file)| {
        let value = json!({ "type": "file", "mime": text(file, "mime"), "url": text(file, "uri") });
        part(format!("/files/{n}"), value)
    });
    std::iter::once(words).chain(files).collect()
}

/// The rows as sessions, messages and parts, for edits.
pub(super) fn raws(events: Vec<Event>) -> Vec<Raw> {
    let mut raws: BTreeMap<String, Raw> = BTreeMap::new();
    for event in events {
        let id = event.session.clone();
        let raw = raws.entry(id.clone()).or_insert_with(|| Raw { id, ..Raw::default() });
        match event.message {
            Ok(message) => raw.messages.push(message),
            Err(trouble) => raw.troubles.push(trouble),
        }
    }
    raws.into_values().collect()
}

/// The sessions in the rows.
///
/// # Errors
///
/// A row has an unknown type, so the next request is unknown.
pub(super) fn sessions(events: Vec<Event>) -> Result<Vec<Session>, FormError> {
    let mut grouped: BTreeMap<String, Vec<Event>> = BTreeMap::new();
    for event in events {
        grouped.entry(event.session.clone()).or_default().push(event);
    }
    grouped.into_iter().map(|(id, events)| session(id, events)).collect()
}

fn session(id: String, events: Vec<Event>) -> Result<Session, FormError> {
    let n_records = events.len();
    let n_compactions = events.iter().filter(|event| event.kind == "compaction").count();
    let infos = events.iter().rev().filter_map(|event| event.message.as_ref().ok());
    let model =
        infos.filter_map(|message| message.info.get("model")).find(|model| !text(model, "id").is_empty());
    let (provider, model) = model.map_or((String::new(), String::new()), |model| {
        (text(model, "providerID").to_owned(), text(model, "id").to_owned())
    });
    let start = events.iter().rposition(|event| event.kind == "compaction").unwrap_or_default();
    let (mut messages, mut off_branch, mut troubles) = (Vec::new(), Vec::new(), Vec::new());
    let mut unknown = BTreeSet::new();
    for (n, event) in events.into_iter().enumerate() {
        let into = if n < start { &mut off_branch } else { &mut messages };
        match (event.kind.as_str(), event.message) {
            (_, Err(trouble)) => troubles.push(trouble),
            (kind, _) if SILENT.contains(&kind) => {}
            ("assistant", Ok(raw)) => into.extend(reply(&raw, &provider, &model, &mut unknown)),
            ("system", Ok(raw)) => into.extend(said(&raw, Role::System)),
            ("user" | "synthetic" | "shell" | "compaction" | "skill", Ok(raw)) => {
                into.extend(said(&raw, Role::User))
            }
            _ => return Err(FormError::Shape("a row of session_message has an unknown type")),
        }
    }
    Ok(Session {
        id: Some(id).filter(|id| !id.is_empty()),
        dialect: names::dialect_of(|names| names.opencode, &provider, &model),
        model: Some(model).filter(|model| !model.is_empty()),
        is_excerpt: messages.first().is_some_and(|first: &Message| first.role == Role::Assistant),
        messages,
        off_branch,
        n_records,
        n_compactions,
        troubles,
        unknown: unknown.into_iter().collect(),
        ..Session::new(Product::Opencode, GENERATION, "all rows by their number, from the last compaction on")
    })
}

fn said(raw: &RawMessage, role: Role) -> Option<Message> {
    let blocks = raw.parts.iter().map(|part| {
        let url = text(&part.value, "url");
        let mime = text(&part.value, "mime");
        let data = url.strip_prefix("data:").and_then(|rest| Some(rest.split_once(',')?.1));
        let content = match data {
            Some(data) if mime.starts_with("image/") => {
                histories::Block::Image(Image { media_type: mime.to_owned(), data: data.to_owned() })
            }
            _ if text(&part.value, "type") == "file" => histories::Block::Text(format!("[Attached {mime}]")),
            _ => histories::Block::Text(text(&part.value, "text").to_owned()),
        };
        Block { place: part.place.clone(), content, state: None }
    });
    message(raw, role, blocks.collect(), Ending::Whole)
}

/// A reply row is one step, followed by its results.
fn reply(raw: &RawMessage, provider: &str, model: &str, unknown: &mut BTreeSet<String>) -> Vec<Message> {
    let own = raw.info.get("model").unwrap_or(&Value::Null);
    let is_other = text(own, "providerID") != provider || text(own, "id") != model;
    let failed = raw.info.get("error").is_some_and(|error| !error.is_null());
    let ending = if failed { Ending::Failed } else { Ending::Whole };
    let mut blocks = Vec::new();
    let mut results = Vec::new();
    for part in &raw.parts {
        let block = |content, state| Block { place: part.place.clone(), content, state };
        match text(&part.value, "type") {
            "text" => blocks.push(block(histories::Block::Text(text(&part.value, "text").to_owned()), None)),
            "reasoning" => {
                let words = text(&part.value, "text").to_owned();
                // A signature is sent only to the same model, and never for a failed reply.
                let signed =
                    part.value.get("providerMetadata").and_then(Value::as_object).filter(|_| !failed);
                let signature =
                    signed.and_then(|own| own.values().find_map(|own| own.get("signature")?.as_str()));
                let thinking = Thinking { text: words, signature: signature.map(str::to_owned), id: None };
                let state = is_other.then(|| OF_ANOTHER_MODEL.to_owned());
                blocks.push(block(histories::Block::Thinking(thinking), state));
            }
            "tool" if part.value.pointer("/provider/executed") == Some(&Value::Bool(true)) => {
                unknown.insert("a call that the provider ran itself".to_owned());
            }
            "tool" => {
                blocks.push(call(part));
                results.extend(result(part));
            }
            _ => {
                unknown.insert("an item of a reply".to_owned());
            }
        }
    }
    let said = message(raw, Role::Assistant, blocks, ending);
    said.into_iter().chain(message(raw, Role::Tool, results, Ending::Whole)).collect()
}

fn message(raw: &RawMessage, role: Role, blocks: Vec<Block>, ending: Ending) -> Option<Message> {
    let place = blocks.first()?.place.clone();
    Some(Message { role, blocks, id: Some(raw.id.clone()), place, ending })
}

fn call(part: &RawPart) -> Block {
    let state = part.value.get("state").unwrap_or(&Value::Null);
    let arguments = match state.get("input") {
        // The arguments of an unfinished call are a text.
        Some(Value::String(written)) => written.clone(),
        Some(input) => input.to_string(),
        None => Value::Null.to_string(),
    };
    let (id, name) = (text(&part.value, "id").to_owned(), text(&part.value, "name").to_owned());
    let content = histories::Block::Call(Call::new(id, name, arguments));
    Block { place: part.place.clone(), content, state: Some(text(state, "status").to_owned()) }
}

fn result(part: &RawPart) -> Option<Block> {
    let state = part.value.get("state")?;
    let is_error = match text(state, "status") {
        "completed" => false,
        "error" => true,
        _ => return None,
    };
    let items = state.get("content").and_then(Value::as_array).into_iter().flatten();
    let mut words: Vec<String> = items.map(|item| text(item, "text").to_owned()).collect();
    words.extend(state.pointer("/error/message").and_then(Value::as_str).map(str::to_owned));
    words.retain(|words| !words.is_empty());
    let output = words.into_iter().map(histories::Block::Text).collect();
    let (call, name) = (text(&part.value, "id").to_owned(), text(&part.value, "name").to_owned());
    let content = histories::Block::Result(CallResult { is_error, ..CallResult::new(call, name, output) });
    Some(Block { place: part.place.clone(), content, state: None })
}

/// The send model: `toLLMMessages` of `session/runner` in 1.18.33. An open call is sent unchanged.
pub(super) fn send(session: &Session) -> Sent {
    let mut n_empty = 0;
    let mut n_thoughts = 0;
    let mut words = |block: &Block| {
        let is_empty = match &block.content {
            histories::Block::Text(text) => text.is_empty(),
            histories::Block::Thinking(thinking) => thinking.text.is_empty() && thinking.signature.is_none(),
            _ => false,
        };
        if is_empty {
            n_empty += 1;
            return None;
        }
        match &block.content {
            histories::Block::Thinking(thinking) if block.state.is_some() => {
                n_thoughts += 1;
                Some(Block { content: histories::Block::Text(thinking.text.clone()), ..block.clone() })
            }
            _ => Some(block.clone()),
        }
    };
    let messages = session.messages.iter().filter_map(|message| {
        let blocks: Vec<Block> = message.blocks.iter().filter_map(&mut words).collect();
        (!blocks.is_empty()).then(|| Message { blocks, ..message.clone() })
    });
    let messages = messages.collect();
    let mended =
        [("leaves out empty texts", n_empty), ("sends thoughts of another model as text", n_thoughts)];
    Sent { messages, mended: mended.into_iter().filter(|(_, n)| *n > 0).collect(), gives_up: None }
}
