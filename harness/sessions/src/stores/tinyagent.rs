//! tinyagent's messages, as tunacode stores them since 0.2: a JSON list of messages, each with a list of
//! blocks as its content.
//!
//! Roles are `user`, `assistant` and `tool_result`. A call is a block `tool_call {id, name, arguments}` of
//! the model, and each result is a message `{tool_call_id, tool_name, content, is_error}`. Source:
//! `tinyagent/agent_types.py` of tiny-agent-os 1.2.29 (<https://pypi.org/project/tiny-agent-os/1.2.29/>). Its
//! loop sends every message unchanged. It checks neither that a call has a result, nor how a reply ended.

use std::collections::BTreeMap;

use brickbat_rules::histories::{Block as Content, Call, CallResult, Role, Thinking};
use brickbat_rules::json::{Document, Json};
use serde_json::{Value, json};

use super::list_reader::{message, note, place_of, session};
use super::list_writer::{ListWriter, raw};
use super::{Edit, ReadError, WriteError};
use crate::json::{text, word};
use crate::{Block, Ending, Files, FormError, NOT_RECORDED, Place, Product, Session};

/// The value of [`Session::generation`] for this form, which the send model checks.
pub(super) const GENERATION: &str = "JSON file, tinyagent";

/// Returns whether a list has messages of tinyagent.
pub(super) fn is_list(list: Json<'_, '_>) -> bool {
    let is_message = |message: Json<'_, '_>| {
        let [role, content] = message.pick(["role", "content"]);
        role.is_some_and(Json::is_str) && content.is_some_and(Json::is_array)
    };
    !list.is_empty() && list.items().all(is_message)
}

/// The session in a list that is a separate file.
pub(super) fn read(product: Product, files: &Files) -> Result<Session, ReadError> {
    let document = Document::parse(files.main()).map_err(|_| ReadError::Unknown)?;
    let mut session = session(product, GENERATION);
    session.n_records = document.root().len();
    for (n, value) in document.root().items().enumerate() {
        let place = place_of(value, format!("/{n}"));
        read_message(&mut session, value, &place).map_err(|error| error.of(product))?;
    }
    Ok(session)
}

fn read_message(session: &mut Session, value: Json<'_, '_>, place: &Place) -> Result<(), FormError> {
    let own = value.to_value();
    let role = match text(&own, "role") {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool_result" => {
            let result = Content::Result(CallResult {
                is_error: own.get("is_error").and_then(Value::as_bool).unwrap_or_default(),
                ..CallResult::new(text(&own, "tool_call_id"), text(&own, "tool_name"), texts(&own))
            });
            let block = Block { place: place.clone(), content: result, state: None };
            session.messages.push(message(Role::Tool, vec![block], None, place));
            return Ok(());
        }
        role => return Err(FormError::RoleAt(word(role), place.to_string())),
    };
    let mut blocks = Vec::new();
    for (n, part) in value.field("content").items().enumerate() {
        let at = place_of(part, format!("{}/content/{n}", place.pointer));
        let part = part.to_value();
        let content = match text(&part, "type") {
            "text" => Content::Text(text(&part, "text").to_owned()),
            "thinking" => Content::Thinking(Thinking {
                text: text(&part, "thinking").to_owned(),
                signature: part.get("thinking_signature").and_then(Value::as_str).map(str::to_owned),
                id: None,
            }),
            "tool_call" => Content::Call(Call::new(
                text(&part, "id"),
                text(&part, "name"),
                part.get("arguments").map(Value::to_string).unwrap_or_default(),
            )),
            kind => {
                note(&mut session.unknown, format!("block {}", word(kind)));
                continue;
            }
        };
        blocks.push(Block { place: at, content, state: None });
    }
    let mut read = message(role, blocks, None, place);
    read.ending = match text(&own, "stop_reason") {
        "aborted" => Ending::Aborted,
        "error" => Ending::Failed,
        _ => Ending::Whole,
    };
    session.messages.push(read);
    Ok(())
}

fn texts(message: &Value) -> Vec<Content> {
    let parts = message.get("content").and_then(Value::as_array).into_iter().flatten();
    parts.filter_map(|part| Some(Content::Text(part.get("text")?.as_str()?.to_owned()))).collect()
}

/// Writes edits into a list that is a separate file. A new result comes after the existing ones of its batch.
pub(super) fn write(files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
    let mut writer = ListWriter::new(session);
    let mut homes: BTreeMap<usize, String> = BTreeMap::new();
    let names = names(session);
    for edit in edits {
        let (call, result) = match edit {
            Edit::Move { result, call, .. } => {
                writer.drop(result)?;
                (call, raw(files, result).to_owned())
            }
            Edit::Synthesise { call, id } => (call, not_recorded(&names, id).to_string()),
            Edit::Drop { block } => {
                writer.drop(block)?;
                continue;
            }
            Edit::Discard { place } => {
                writer.discard(place)?;
                continue;
            }
            Edit::Truncate { last } => {
                writer.truncate(last)?;
                continue;
            }
        };
        let message = writer.message_of(call)?;
        let home = homes.entry(message).or_insert_with(|| home(session, message));
        writer.changes.insert_after(home, result);
    }
    writer.finish(files)
}

/// The entry after which a result for one of a reply's calls is inserted.
fn home(session: &Session, message: usize) -> String {
    let after = session.messages[message + 1..].iter().take_while(|next| next.role == Role::Tool);
    let last = after.last().or(session.messages.get(message));
    last.map(|last| last.place.pointer.clone()).unwrap_or_default()
}

/// The tool name of each call, by call id. If an id occurs twice, the first name counts.
fn names(session: &Session) -> BTreeMap<&str, &str> {
    let mut names = BTreeMap::new();
    for call in session.messages.iter().flat_map(crate::Message::calls) {
        names.entry(call.id.as_str()).or_insert(call.name.as_str());
    }
    names
}

/// The replacement for a result that was never recorded.
fn not_recorded(names: &BTreeMap<&str, &str>, id: &str) -> Value {
    let name = names.get(id).copied().unwrap_or_default();
    json!({
        "role": "tool_result",
        "tool_call_id": id,
        "tool_name": name,
        "content": [{ "type": "text", "text": NOT_RECORDED }],
        "details": {},
        "is_error": true,
    })
}
