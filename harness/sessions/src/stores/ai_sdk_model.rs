//! Vercel's AI SDK: a JSON list of `ModelMessage`s, as Pensar's Apex and other programs without a UI store
//! them.
//!
//! A message is `{role, content}`. Calls are parts of model messages, and results are parts of messages with
//! the role `tool`. A list without a call or a result looks like other products' lists, so it is not
//! recognised. <https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message>

use std::collections::BTreeMap;

use brickbat_rules::histories::{Block as Content, CallResult, Role};
use brickbat_rules::json::Json;
use serde_json::{Value, json};

use super::ai_sdk::parts::{call, dialect_of, file, kind_of, thinking, typed_output};
use super::ai_sdk::send::{send, waits};
use super::list_reader::{block, message, note, place_of, read_list, role_of, session};
use super::list_writer::{ListWriter, raw};
use super::{Edit, Look, ReadError, Store, WriteError};
use crate::json::{text, word};
use crate::session::{ASKED, DECLINED};
use crate::{Block, Files, FormError, NOT_APPROVED, NOT_RECORDED, Place, Product, Sent, Session};

pub(crate) struct AiSdkModel;

impl Store for AiSdkModel {
    fn owns(&self, look: &Look<'_>) -> bool {
        look.is_whole(is_list)
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        read_list(files, session(Product::AiSdkModelMessages, "JSON list"), |session, list| {
            let messages: Vec<Value> = list.items().map(Json::to_value).collect();
            session.dialect = messages.iter().rev().find_map(|message| {
                let parts = message.get("content")?.as_array()?;
                parts.iter().rev().find_map(dialect_of)
            });
            for (n, value) in list.items().enumerate() {
                read_message(session, n, value)?;
            }
            note_answers(session, messages.iter());
            Ok(())
        })
    }

    fn send(&self, session: &Session) -> Sent {
        send(session)
    }

    fn fills_open_tail(&self, session: &Session) -> Option<&'static str> {
        waits(session)
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        let mut writer = ListWriter::new(session);
        let mut results = Results::default();
        let blocks = session.messages.iter().flat_map(|message| &message.blocks);
        let calls: BTreeMap<&Place, &Block> = blocks.map(|block| (&block.place, block)).collect();
        for edit in edits {
            match edit {
                Edit::Move { result, call, .. } => {
                    let message = writer.message_of(call)?;
                    let from = writer.message_of(result)?;
                    if results.home(session, message) != Some(from) {
                        writer.drop(result)?;
                        results.add(message, raw(files, result).to_owned());
                    }
                }
                Edit::Synthesise { call, id } => {
                    let message = writer.message_of(call)?;
                    results.add(message, synthetic(calls.get(call).copied(), id));
                }
                Edit::Drop { block } => writer.drop(block)?,
                Edit::Discard { place } => writer.discard(place)?,
                Edit::Truncate { last } => writer.truncate(last)?,
            }
        }
        results.write(session, &mut writer);
        writer.finish(files)
    }
}

/// New results, to be written after the messages with their calls.
#[derive(Default)]
struct Results {
    /// Their JSON texts, by the index of the message with the call.
    after: BTreeMap<usize, Vec<String>>,
}

impl Results {
    fn add(&mut self, message: usize, text: String) {
        self.after.entry(message).or_default().push(text);
    }

    /// The index of the result message that directly follows.
    fn home(&self, session: &Session, message: usize) -> Option<usize> {
        let next = session.messages.get(message + 1)?;
        (next.role == Role::Tool && !next.blocks.is_empty()).then_some(message + 1)
    }

    /// Writes the results into the result message that follows, or into a new one.
    fn write(self, session: &Session, writer: &mut ListWriter<'_>) {
        let homes: Vec<(usize, Option<usize>)> =
            self.after.keys().map(|message| (*message, self.home(session, *message))).collect();
        for ((message, home), (_, texts)) in homes.into_iter().zip(self.after) {
            let last = home.and_then(|home| session.messages.get(home)?.blocks.last());
            match (home, last) {
                (Some(home), Some(last)) => {
                    writer.keep(home);
                    for text in texts {
                        writer.changes.insert_after(&last.place.pointer, text);
                    }
                }
                _ => {
                    let Some(own) = session.messages.get(message) else { continue };
                    let text = format!(r#"{{"role":"tool","content":[{}]}}"#, texts.join(","));
                    writer.changes.insert_after(&own.place.pointer, text);
                }
            }
        }
    }
}

/// The replacement for a result that was never recorded.
fn synthetic(call: Option<&Block>, id: &str) -> String {
    let name = match call.map(|block| &block.content) {
        Some(Content::Call(call)) => call.name.as_str(),
        _ => "",
    };
    let output = match call.and_then(|block| block.state.as_deref()) {
        Some(DECLINED) => json!({ "type": "execution-denied" }),
        Some(ASKED) => json!({ "type": "error-text", "value": NOT_APPROVED }),
        _ => json!({ "type": "error-text", "value": NOT_RECORDED }),
    };
    json!({ "type": "tool-result", "toolCallId": id, "toolName": name, "output": output }).to_string()
}

/// Returns whether a value is a list of model messages with at least one part that only the AI SDK writes.
fn is_list(root: Json<'_, '_>) -> bool {
    let mut has_own = false;
    for message in root.items() {
        let [role, content, parts] = message.pick(["role", "content", "parts"]);
        let role = role.and_then(Json::as_str).is_some_and(|role| role == "tool" || role_of(&role).is_some());
        let Some(content) = content.filter(|_| role && parts.is_none()) else { return false };
        if !content.is_str() && !content.is_array() {
            return false;
        }
        for part in content.items() {
            let [kind, id, name] = part.pick(["type", "toolCallId", "toolName"]);
            let Some(kind) = kind.and_then(Json::as_str) else { return false };
            if !PARTS.contains(&kind.as_ref()) {
                return false;
            }
            let is_tool = matches!(kind.as_ref(), "tool-call" | "tool-result");
            if is_tool && (id.is_none() || name.is_none()) {
                return false;
            }
            has_own |= is_tool;
        }
    }
    has_own
}

/// The parts in model messages. Other products use some of them, too.
const PARTS: [&str; 8] = [
    "text",
    "image",
    "file",
    "reasoning",
    "tool-call",
    "tool-result",
    "tool-approval-request",
    "tool-approval-response",
];

fn read_message(session: &mut Session, n: usize, value: Json<'_, '_>) -> Result<(), FormError> {
    let [role, content] = value.pick(["role", "content"]);
    let name = role.and_then(Json::as_str).unwrap_or_default();
    let role = match name.as_ref() {
        "tool" => Role::Tool,
        name => role_of(name).ok_or_else(|| FormError::Role(word(name)))?,
    };
    let place = place_of(value, format!("/{n}"));
    let Some(content) = content else {
        return Err(FormError::Lacks { whole: "message", place: place.to_string(), part: "content" });
    };
    let mut blocks = Vec::new();
    if let Some(words) = content.as_str() {
        let at = place_of(content, format!("/{n}/content"));
        blocks.push(block(&at, Content::Text(words.into_owned())));
    }
    let mut asked = Vec::new();
    for (k, part) in content.items().enumerate() {
        let at = place_of(part, format!("/{n}/content/{k}"));
        let part = part.to_value();
        if text(&part, "type") == "tool-approval-request" {
            asked.push(text(&part, "toolCallId").to_owned());
        }
        blocks.extend(read_part(session, role, &at, &part)?);
    }
    for block in &mut blocks {
        if let Content::Call(call) = &block.content
            && asked.contains(&call.id)
        {
            block.state = Some(ASKED.to_owned());
        }
    }
    session.messages.push(message(role, blocks, None, &place));
    Ok(())
}

/// Notes the user's answers to approval requests in model messages. The answers are in messages with the role
/// `tool`, and name the request.
fn note_answers<'v>(session: &mut Session, messages: impl Iterator<Item = &'v Value>) {
    let mut asked: BTreeMap<&str, &str> = BTreeMap::new();
    let mut answers: BTreeMap<&str, bool> = BTreeMap::new();
    for part in messages.filter_map(|message| message.get("content")?.as_array()).flatten() {
        match text(part, "type") {
            "tool-approval-request" => drop(asked.insert(text(part, "approvalId"), text(part, "toolCallId"))),
            "tool-approval-response" => {
                let approved = part.get("approved").and_then(Value::as_bool);
                if let (Some(call), Some(approved)) = (asked.get(text(part, "approvalId")), approved) {
                    answers.insert(call, approved);
                }
            }
            _ => {}
        }
    }
    for block in session.messages.iter_mut().flat_map(|message| &mut message.blocks) {
        let Content::Call(call) = &block.content else { continue };
        match answers.get(call.id.as_str()) {
            Some(true) => block.state = Some("approval-responded".to_owned()),
            Some(false) => block.state = Some(DECLINED.to_owned()),
            None => {}
        }
    }
}

fn read_part(
    session: &mut Session,
    role: Role,
    at: &Place,
    part: &Value,
) -> Result<Option<Block>, FormError> {
    let kind = text(part, "type");
    let media_type = text(part, "mediaType");
    let content = match kind {
        "text" => Content::Text(text(part, "text").to_owned()),
        "reasoning" => thinking(part, session.dialect),
        "image" | "file" => {
            let (media_type, key) = if kind == "image" { ("image/*", "image") } else { (media_type, "data") };
            match file(media_type, text(part, key)) {
                Some(content) => content,
                None => {
                    note(&mut session.unknown, kind_of(media_type));
                    return Ok(None);
                }
            }
        }
        "tool-call" if part.get("providerExecuted").and_then(Value::as_bool) == Some(true) => {
            note(&mut session.unknown, "tool of the provider".to_owned());
            return Ok(None);
        }
        "tool-call" if part.get("input").is_none() && part.get("args").is_some() => {
            return Err(FormError::AiSdk4(at.to_string()));
        }
        "tool-call" => Content::Call(call(part, text(part, "toolName"), part.get("input"), session.dialect)),
        // The results of provider tools are in the provider's own message.
        "tool-result" if role == Role::Assistant => {
            note(&mut session.unknown, "tool of the provider".to_owned());
            return Ok(None);
        }
        "tool-result" => {
            let output = part.get("output").and_then(typed_output);
            let (output, is_error) = output.ok_or_else(|| FormError::Output(at.to_string()))?;
            let (call, name) = (text(part, "toolCallId").to_owned(), text(part, "toolName").to_owned());
            Content::Result(CallResult { is_error, ..CallResult::new(call, name, output) })
        }
        _ => return Ok(None),
    };
    Ok(Some(block(at, content)))
}

#[cfg(test)]
mod tests;
