//! AG-UI: the messages of a thread, as in a `MESSAGES_SNAPSHOT` or the input of a run.
//!
//! A JSON list of `{id, role, content, toolCalls, toolCallId}`. Each result is a separate message.
//! <https://docs.ag-ui.com/concepts/messages>

use std::collections::BTreeMap;

use brickbat_rules::histories::{Block as Content, Call, CallResult, Image, Role, Thinking};
use brickbat_rules::json::Json;
use serde_json::{Value, json};

use super::list_reader::{block, message, note, place_of, read_list, session};
use super::list_writer::{ListWriter, raw};
use super::{Edit, Look, ReadError, Store, WriteError};
use crate::json::{text, word};
use crate::{Block, Files, FormError, Message, NOT_RECORDED, Place, Product, Sent, Session};

pub(crate) struct AgUiMessages;

const ROLES: [&str; 7] = ["developer", "system", "assistant", "user", "tool", "activity", "reasoning"];

impl Store for AgUiMessages {
    fn owns(&self, look: &Look<'_>) -> bool {
        look.is_whole(is_list)
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        read_list(files, session(Product::AgUiMessages, "JSON list"), |session, list| {
            for (n, value) in list.items().enumerate() {
                session.messages.extend(read_message(&mut session.unknown, &format!("/{n}"), value)?);
            }
            Ok(())
        })
    }

    fn send(&self, session: &Session) -> Sent {
        send(session)
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        let mut writer = ListWriter::new(session);
        let mut homes: BTreeMap<usize, String> = BTreeMap::new();
        for edit in edits {
            match edit {
                Edit::Move { result, call, .. } => {
                    let message = writer.message_of(call)?;
                    let after = homes.entry(message).or_insert_with(|| home(session, message));
                    writer.drop(result)?;
                    writer.changes.insert_after(after, raw(files, result).to_owned());
                }
                Edit::Synthesise { call, id } => {
                    let message = writer.message_of(call)?;
                    let after = homes.entry(message).or_insert_with(|| home(session, message));
                    writer.changes.insert_after(after, synthetic(id));
                }
                Edit::Drop { block } => writer.drop(block)?,
                Edit::Discard { place } => writer.discard(place)?,
                Edit::Truncate { last } => writer.truncate(last)?,
            }
        }
        writer.finish(files)
    }
}

/// The replacement for a result that was never recorded.
pub(crate) fn synthetic(id: &str) -> String {
    let result = json!({
        "id": format!("result-{id}"),
        "role": "tool",
        "toolCallId": id,
        "content": NOT_RECORDED,
        "error": NOT_RECORDED,
    });
    result.to_string()
}

/// The message after which a result for a call of this one must be inserted: the message itself, or the last
/// result message after it.
fn home(session: &Session, message: usize) -> String {
    let after = session.messages.get(message + 1..).unwrap_or_default();
    let n_results = after.iter().take_while(|message| message.role == Role::Tool).count();
    session.messages.get(message + n_results).map_or_else(String::new, |last| last.place.pointer.clone())
}

/// Returns whether a value is a list of AG-UI messages with at least one call or result. A list without any
/// could be of any product.
fn is_list(root: Json<'_, '_>) -> bool {
    let mut has_own = false;
    for message in root.items() {
        let [id, role, calls, call, parts] = message.pick(["id", "role", "toolCalls", "toolCallId", "parts"]);
        let Some(role) = role.and_then(Json::as_str) else { return false };
        if !id.is_some_and(Json::is_str) || parts.is_some() || !ROLES.contains(&role.as_ref()) {
            return false;
        }
        has_own |= match role.as_ref() {
            "tool" if call.is_some_and(Json::is_str) => true,
            "tool" => return false,
            _ => calls.is_some_and(|calls| calls.items().any(|call| call.field("function").is_object())),
        };
    }
    has_own
}

/// The messages that an agent sends. The client passes its messages on unchanged, except for activities
/// (`prepareRunAgentInput`), and each agent passes them to its own SDK. No agent is required to send earlier
/// thoughts or messages without content, so neither is treated as a fault in the session.
pub(crate) fn send(session: &Session) -> Sent {
    let mut sent = Sent::as_stored(session);
    for message in &mut sent.messages {
        message.blocks.retain(|block| !matches!(block.content, Content::Thinking(_)));
    }
    sent.messages.retain(|message| message.role == Role::User || !message.blocks.is_empty());
    sent
}

/// One message at a pointer. `None` for an activity, which is shown but not sent.
///
/// # Errors
///
/// Describes an unknown form of the message.
pub(crate) fn read_message(
    unknown: &mut Vec<String>,
    pointer: &str,
    value: Json<'_, '_>,
) -> Result<Option<Message>, FormError> {
    let place = place_of(value, pointer.to_owned());
    let [id, role, content, calls] = value.pick(["id", "role", "content", "toolCalls"]);
    let name = role.and_then(Json::as_str).unwrap_or_default();
    let role = match name.as_ref() {
        "activity" => return Ok(None),
        "developer" | "system" => Role::System,
        "user" => Role::User,
        "assistant" | "reasoning" => Role::Assistant,
        "tool" => Role::Tool,
        name => return Err(FormError::Role(word(name))),
    };
    let mut blocks = Vec::new();
    if role == Role::Tool {
        blocks.push(block(&place, Content::Result(result(&value.to_value()))));
    } else if let Some(content) = content {
        let at = place_of(content, format!("{pointer}/content"));
        match content.as_str().filter(|text| !text.is_empty()) {
            Some(text) if name == "reasoning" => {
                let text = text.into_owned();
                blocks.push(block(&at, Content::Thinking(Thinking { text, ..Thinking::default() })));
            }
            Some(text) => blocks.push(block(&at, Content::Text(text.into_owned()))),
            None => {}
        }
        for (k, part) in content.items().enumerate() {
            let at = place_of(part, format!("{pointer}/content/{k}"));
            blocks.extend(part_of(unknown, &at, &part.to_value()));
        }
    }
    for (k, call) in calls.into_iter().flat_map(Json::items).enumerate() {
        let at = place_of(call, format!("{pointer}/toolCalls/{k}"));
        blocks.push(block(&at, Content::Call(call_of(&call.to_value()))));
    }
    Ok(Some(message(role, blocks, id.and_then(Json::as_str).as_deref(), &place)))
}

/// Converts a message with the role `tool` into a result.
pub(crate) fn result(message: &Value) -> CallResult {
    let output = match message.get("content") {
        // Results are plain strings. Unlike text blocks, they may be blank.
        Some(Value::String(text)) if !text.trim().is_empty() => vec![Content::Text(text.clone())],
        _ => Vec::new(),
    };
    let is_error = message.get("error").is_some_and(|error| !error.is_null());
    let call = text(message, "toolCallId").to_owned();
    CallResult { is_error, ..CallResult::new(call, "", output) }
}

/// An entry of `toolCalls`.
fn call_of(call: &Value) -> Call {
    let function = call.get("function").cloned().unwrap_or_default();
    Call::new(text(call, "id"), text(&function, "name"), text(&function, "arguments"))
}

/// A part of a user message.
fn part_of(unknown: &mut Vec<String>, at: &Place, part: &Value) -> Option<Block> {
    let source = part.get("source").cloned().unwrap_or_default();
    let content = match text(part, "type") {
        "text" => Content::Text(text(part, "text").to_owned()),
        "image" if text(&source, "type") == "data" => {
            let media_type = text(&source, "mimeType").to_owned();
            Content::Image(Image { media_type, data: text(&source, "value").to_owned() })
        }
        kind => {
            note(unknown, format!("part {}", word(kind)));
            return None;
        }
    };
    Some(block(at, content))
}

#[cfg(test)]
mod tests;
