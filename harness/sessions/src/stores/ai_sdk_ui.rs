//! Vercel's AI SDK: a JSON list of `UIMessage`s, as `useChat` shows them and as applications store them.
//!
//! A message is `{id, role, parts}`. A tool part (`tool-<name>`, or `dynamic-tool`) contains the call, its
//! `state`, and its outcome, so a result without its call cannot be stored.
//! <https://ai-sdk.dev/docs/ai-sdk-ui/chatbot-message-persistence>

mod valid;

use brickbat_rules::histories::Role;
use brickbat_rules::json::{Document, Json};
use serde_json::json;

use super::ai_sdk::send::{send, waits};
use super::ai_sdk::ui::{STATES, UiMessage, is_declined, read};
use super::list_reader::{has_own_parts, place_of, read_list, role_of, session};
use super::list_writer::{ListWriter, raw};
use super::{Edit, Look, ReadError, Store, WriteError};
use crate::json::text;
use crate::session::ASKED;
use crate::{Files, FormError, NOT_APPROVED, NOT_RECORDED, Place, Product, Sent, Session};

pub(crate) struct AiSdkUi;

impl Store for AiSdkUi {
    fn owns(&self, look: &Look<'_>) -> bool {
        look.is_whole(is_list)
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        read_list(files, session(Product::AiSdkUiMessages, "JSON list"), |session, list| {
            let messages = list.items().enumerate().map(|(n, value)| ui_message(n, value));
            let messages: Option<Vec<UiMessage>> = messages.collect();
            let messages = messages.ok_or(FormError::Shape("a message has an unknown role"))?;
            let parts = messages.iter().flat_map(|message| &message.parts);
            session.troubles.extend(parts.filter_map(|(place, part)| valid::trouble(place, part)));
            read(session, messages)
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
        for edit in edits {
            match edit {
                Edit::Move { result, call, .. } if result == call => {}
                Edit::Move { result, call, .. } => {
                    writer.message_of(call)?;
                    writer.drop(result)?;
                    let from = Document::parse(raw(files, result).as_bytes()).unwrap_or_default();
                    leave_out_approval(&mut writer, files, call);
                    for name in ["state", "output", "errorText", "approval"] {
                        if let Some(value) = from.root().get(name) {
                            writer.changes.set(&call.pointer, name, value.raw().to_owned());
                        }
                    }
                }
                Edit::Synthesise { call, .. } => {
                    writer.message_of(call)?;
                    answer(&mut writer, files, call);
                }
                Edit::Drop { block } => writer.drop(block)?,
                // The torn end of the list has no pointer; a part has one.
                Edit::Discard { place } if !place.pointer.is_empty() => {
                    writer.changes.unset(&place.pointer, "approval");
                }
                Edit::Discard { place } => writer.discard(place)?,
                Edit::Truncate { last } => writer.truncate(last)?,
            }
        }
        writer.finish(files)
    }
}

/// Ends a call without a result in a form that `validateUIMessages` of the AI SDK 5, 6 and 7 accepts.
///
/// A declined call becomes `output-denied`, as in the SDK itself, which preserves the user's decision.
fn answer(writer: &mut ListWriter<'_>, files: &Files, call: &Place) {
    let document = Document::parse(raw(files, call).as_bytes()).unwrap_or_default();
    let part = document.root().to_value();
    let is_asked = text(&part, "state") == ASKED;
    if is_declined(&part) && part.get("input").is_some() && part.pointer("/approval/id").is_some() {
        writer.changes.set(&call.pointer, "state", json!("output-denied").to_string());
        return;
    }
    let words = match () {
        () if is_declined(&part) => crate::DECLINED,
        () if is_asked => NOT_APPROVED,
        () => NOT_RECORDED,
    };
    leave_out_approval(writer, files, call);
    writer.changes.set(&call.pointer, "state", json!("output-error").to_string());
    writer.changes.set(&call.pointer, "errorText", json!(words).to_string());
}

/// Removes the approval request from a call, unless the user has approved. If a result is beside an
/// unanswered request, `validateUIMessages` throws AI_TypeValidationError (assistant-ui/assistant-ui#4195).
fn leave_out_approval(writer: &mut ListWriter<'_>, files: &Files, call: &Place) {
    let document = Document::parse(raw(files, call).as_bytes()).unwrap_or_default();
    if document.root().field("approval").field("approved").as_bool() != Some(true) {
        writer.changes.unset(&call.pointer, "approval");
    }
}

/// Returns whether a value is a list of AI SDK UI messages. TanStack AI messages differ only in the fields
/// of their parts.
fn is_list(root: Json<'_, '_>) -> bool {
    has_own_parts(root, is_own)
}

/// Returns true if only the AI SDK writes such a part, false if the part does not decide, and `None` if the AI
/// SDK never writes it.
fn is_own(part: Json<'_, '_>) -> Option<bool> {
    let [kind, text, id, state, content] = part.pick(["type", "text", "toolCallId", "state", "content"]);
    let kind = kind.and_then(Json::as_str)?;
    let is_known = state.and_then(Json::as_str).is_some_and(|state| STATES.contains(&state.as_ref()));
    match kind.as_ref() {
        "text" | "reasoning" if text.is_some_and(Json::is_str) => Some(true),
        "text" | "thinking" | "tool-call" | "tool-result" if content.is_some() || !is_known => None,
        "step-start" => Some(true),
        "tool-invocation" if part.get("toolInvocation").is_some() => Some(true),
        kind if kind.starts_with("tool-") || kind == "dynamic-tool" => Some(id.is_some() && state.is_some()),
        _ => Some(false),
    }
}

/// One message of the list.
fn ui_message(n: usize, value: Json<'_, '_>) -> Option<UiMessage> {
    let [id, role, parts] = value.pick(["id", "role", "parts"]);
    let role: Role = role_of(&role?.as_str()?)?;
    let parts = parts?.items().enumerate();
    let part =
        |(k, part): (usize, Json<'_, '_>)| (place_of(part, format!("/{n}/parts/{k}")), part.to_value());
    Some(UiMessage {
        role,
        id: id.and_then(Json::as_str).map(|id| id.into_owned()),
        place: place_of(value, format!("/{n}")),
        parts: parts.map(part).collect(),
    })
}

#[cfg(test)]
mod tests;
