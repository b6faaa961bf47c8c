//! TanStack AI: a JSON list of `UIMessage`s, or the object `{messages}` that its client passes to
//! `persistence`.
//!
//! A message is `{id, role, parts}`. Texts have `content`. A call is a part `tool-call` with its `arguments`
//! as text and a `state`. Its outcome is a part `tool-result`, the `output` of the call, or both. Source:
//! `@tanstack/ai` 0.58.0 (<https://github.com/TanStack/ai>, `activities/chat/messages.ts`).

mod parts;
mod send;

use std::collections::BTreeMap;

use brickbat_rules::histories::Role;
use brickbat_rules::json::{Document, Json};
use serde_json::json;

use super::list_reader::{has_own_parts, message, place_of, read_list, role_of, session};
use super::list_writer::{ListWriter, index, raw};
use super::{Edit, Look, ReadError, Store, WriteError};
use crate::session::ASKED;
use crate::{Files, FormError, NOT_APPROVED, NOT_RECORDED, Product, Sent, Session};

use parts::Reply;

pub(crate) struct Tanstack;

/// The value of [`Session::generation`] for the client's own persistence.
pub(crate) const PERSISTED: &str = "JSON of the client";

impl Store for Tanstack {
    fn owns(&self, look: &Look<'_>) -> bool {
        look.is_whole(is_list)
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        read_list(files, session(Product::Tanstack, "JSON list"), |session, list| {
            list.items().enumerate().try_for_each(|(n, value)| read_message(session, n, value))
        })
    }

    fn send(&self, session: &Session) -> Sent {
        send::send(session)
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        let mut writer = ListWriter::new(session);
        let mut homes: BTreeMap<usize, String> = BTreeMap::new();
        for edit in edits {
            match edit {
                Edit::Move { result, call, .. } if result == call => {}
                Edit::Move { result, call, .. } => {
                    let message = writer.message_of(call)?;
                    let after = homes.entry(message).or_insert_with(|| home(session, message));
                    writer.drop(result)?;
                    writer.changes.insert_after(after, raw(files, result).to_owned());
                }
                Edit::Synthesise { call, id } => {
                    let message = writer.message_of(call)?;
                    let after = homes.entry(message).or_insert_with(|| home(session, message));
                    let own = Document::parse(raw(files, call).as_bytes()).unwrap_or_default();
                    let words = if own.root().field("state").is(ASKED) { NOT_APPROVED } else { NOT_RECORDED };
                    let part = json!({
                        "type": "tool-result",
                        "toolCallId": id,
                        "content": words,
                        "state": "error",
                        "error": words,
                    });
                    writer.changes.insert_after(after, part.to_string());
                    writer.changes.set(&call.pointer, "state", json!("error").to_string());
                }
                Edit::Drop { block } => writer.drop(block)?,
                Edit::Discard { place } => writer.discard(place)?,
                Edit::Truncate { last } => writer.truncate(last)?,
            }
        }
        writer.finish(files)
    }
}

/// The part after which the result of a call must be inserted.
///
/// A result ends the model message that is being built, so the results of one batch follow one another after
/// its last part.
fn home(session: &Session, message: usize) -> String {
    let own = session.messages.get(message);
    let results = session.messages.get(message + 1).filter(|next| {
        let is_same = own.is_some_and(|own| own.place == next.place);
        is_same && next.role == Role::Tool
    });
    let results = results.into_iter().flat_map(|results| &results.blocks);
    let said = own.into_iter().flat_map(|own| &own.blocks);
    // An output has the place of its own call, which does not show the order.
    let parts = said.chain(results).map(|block| &block.place.pointer);
    parts.max_by_key(|pointer| index(pointer, 2)).cloned().unwrap_or_default()
}

/// Returns whether a value is a list of TanStack AI UI messages, which have `content` where the AI SDK has
/// `text`, and calls with `arguments`.
fn is_list(root: Json<'_, '_>) -> bool {
    has_own_parts(root, |part| {
        let [kind, content, id, arguments] = part.pick(["type", "content", "toolCallId", "arguments"]);
        match kind.and_then(Json::as_str)?.as_ref() {
            "text" | "thinking" if content.is_some_and(Json::is_str) => Some(true),
            "tool-call" if arguments.is_some_and(Json::is_str) => Some(true),
            "tool-result" if content.is_some() && id.is_some() => Some(true),
            "text" | "thinking" | "tool-call" | "tool-result" | "reasoning" | "step-start" => None,
            _ => Some(false),
        }
    })
}

fn read_message(session: &mut Session, n: usize, value: Json<'_, '_>) -> Result<(), FormError> {
    let [id, role, list] = value.pick(["id", "role", "parts"]);
    let place = place_of(value, format!("/{n}"));
    let role = role.and_then(Json::as_str).and_then(|role| role_of(&role));
    let (Some(role), Some(list)) = (role, list) else {
        return Err(FormError::Absent("message", place.to_string()));
    };
    let id = id.and_then(Json::as_str);
    let mut reply = Reply::new(list);
    for (k, part) in list.items().enumerate() {
        let at = place_of(part, format!("/{n}/parts/{k}"));
        reply.part(session, at, part)?;
    }
    let messages = match role {
        Role::Assistant => reply.end(),
        role => vec![(role, reply.said())],
    };
    for (role, blocks) in messages {
        session.messages.push(message(role, blocks, id.as_deref(), &place));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
