//! Vercel's AI SDK: a JSON list of the chunks in one UI message stream, recorded for replay.
//!
//! The chunks form one model message, as in `readUIMessageStream` (`processUIMessageStream` of `ai` 6.0.326,
//! <https://github.com/vercel/ai/blob/main/packages/ai/src/ui/process-ui-message-stream.ts>). The place of a
//! part is the chunk that began it. Such a file does not contain user messages.

mod fold;

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::histories::Role;
use brickbat_rules::json::{Document, Json};
use serde_json::json;

use super::ai_sdk::send::{send, waits};
use super::ai_sdk::ui::{UiMessage, is_declined, read};
use super::json_changes::JsonChanges;
use super::json_text::whole;
use super::list_reader::{place_of, read_list};
use super::{Edit, Look, ReadError, Store, WriteError};
use crate::EditError::{self, Missing, NoForm, NoPart, NotJson};
use crate::json::{splice, text};
use crate::session::ASKED;
use crate::{Files, NOT_APPROVED, NOT_RECORDED, Place, Product, Sent, Session};

pub(crate) struct AiSdkChunks;

impl Store for AiSdkChunks {
    fn owns(&self, look: &Look<'_>) -> bool {
        look.is_whole(is_list)
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let branch = "the chunks in the order of the list";
        let session = Session::new(Product::AiSdkUiChunks, "JSON list of chunks", branch);
        read_list(files, session, |session, list| {
            let folded = fold::fold(list);
            session.troubles.extend(folded.trouble);
            session.is_excerpt = true;
            let parts = folded.parts.into_iter().map(|part| (part.place, part.value)).collect();
            let place = place_of(list, String::new());
            read(session, vec![UiMessage { role: Role::Assistant, id: folded.id, place, parts }])
        })
    }

    fn send(&self, session: &Session) -> Sent {
        send(session)
    }

    fn fills_open_tail(&self, session: &Session) -> Option<&'static str> {
        waits(session)
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        let refuse = |place: &Place, cause: EditError| cause.at(Product::AiSdkUiChunks, place);
        let nowhere = Place::default();
        let whole = whole(files.main()).ok_or_else(|| refuse(&nowhere, NotJson))?;
        let document = Document::parse(&whole.text).map_err(|_| refuse(&nowhere, NotJson))?;
        let folded = fold::fold(document.root());
        let parts: BTreeMap<&Place, &fold::Part> =
            folded.parts.iter().map(|part| (&part.place, part)).collect();
        let part = |place: &Place| parts.get(place).copied().ok_or_else(|| refuse(place, NoPart));
        let own = |place: &Place| part(place).map(|part| part.chunks.as_slice());
        let kinds: Vec<Json<'_, '_>> = document.root().items().map(|chunk| chunk.field("type")).collect();
        let (mut changes, mut gone, mut closing) = (JsonChanges::default(), BTreeSet::<usize>::new(), None);
        for edit in edits {
            match edit {
                Edit::Move { result, call, .. } if result == call => {}
                Edit::Move { result, .. } => {
                    return Err(refuse(
                        result,
                        NoForm("chunks of two parts with one id cannot be told apart"),
                    ));
                }
                Edit::Synthesise { call, id } => {
                    let part = part(call)?;
                    let last = part.chunks.last().copied().unwrap_or_default();
                    let is_asked = text(&part.value, "state") == ASKED;
                    let words = if is_asked { NOT_APPROVED } else { NOT_RECORDED };
                    let chunk = match is_declined(&part.value) {
                        true => json!({ "type": "tool-output-denied", "toolCallId": id }),
                        false => json!({ "type": "tool-output-error", "toolCallId": id, "errorText": words }),
                    };
                    changes.insert_after(&format!("/{last}"), chunk.to_string());
                    // The SDK keeps an unanswered question beside the error, and then rejects the two
                    // together.
                    let asks = |chunk: &&usize| kinds[**chunk].is("tool-approval-request");
                    gone.extend(part.chunks.iter().filter(asks).filter(|_| is_asked));
                }
                Edit::Drop { block } => gone.extend(own(block)?),
                Edit::Truncate { last } => {
                    own(last)?;
                    let is_last =
                        |message: &&crate::Message| message.blocks.iter().any(|block| block.place == *last);
                    let messages = session.messages.iter().rev().take_while(|message| !is_last(message));
                    for block in messages.flat_map(|message| &message.blocks) {
                        gone.extend(own(&block.place)?);
                    }
                }
                Edit::Discard { place } => {
                    let is_known = session.troubles.iter().any(|t| t.place == *place && t.loses.is_some());
                    closing = whole.closing().filter(|_| is_known);
                    if closing.is_none() {
                        return Err(refuse(place, Missing("nothing there that can be taken out")));
                    }
                }
            }
        }
        for chunk in gone {
            changes.remove(&format!("/{chunk}"));
        }
        let mut edits = changes.edits(document.root());
        edits.extend(closing);
        let mut written = files.clone();
        if let Some(first) = written.files.first_mut() {
            first.bytes = splice(files.main(), edits);
        }
        Ok(written)
    }
}

/// Returns whether a value is a list of chunks: every chunk has a known kind, and at least one begins a
/// call, a text or a step.
fn is_list(root: Json<'_, '_>) -> bool {
    let mut has_own = false;
    for chunk in root.items() {
        let [kind, role, call, id] = chunk.pick(["type", "role", "toolCallId", "id"]);
        let Some(kind) = kind.and_then(Json::as_str) else { return false };
        if role.is_some() || !(KINDS.contains(&kind.as_ref()) || kind.starts_with("data-")) {
            return false;
        }
        has_own |= match kind.as_ref() {
            "tool-input-start" | "tool-input-available" => call.is_some_and(Json::is_str),
            "text-start" | "reasoning-start" => id.is_some_and(Json::is_str),
            "start-step" => true,
            _ => false,
        };
    }
    has_own
}

/// The kinds of chunks (`ui-message-chunks.ts`).
const KINDS: [&str; 27] = [
    "start",
    "start-step",
    "finish-step",
    "finish",
    "abort",
    "error",
    "message-metadata",
    "text-start",
    "text-delta",
    "text-end",
    "reasoning-start",
    "reasoning-delta",
    "reasoning-end",
    "tool-input-start",
    "tool-input-delta",
    "tool-input-available",
    "tool-input-error",
    "tool-approval-request",
    "tool-approval-response",
    "tool-output-available",
    "tool-output-error",
    "tool-output-denied",
    "source-url",
    "source-document",
    "file",
    "reasoning-file",
    "custom",
];

#[cfg(test)]
mod tests;
