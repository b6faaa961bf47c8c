//! Request bodies and bare lists of messages, in all dialects. They are sent exactly as stored.

mod entries;
mod write;

use std::collections::BTreeMap;

use brickbat_rules::histories::{Block as Content, Entry, Role, list_in, read_entry};
use brickbat_rules::json::{Document, Json};
use brickbat_rules::{Dialect, detect, list_of, model_in};
use serde_json::{Value, json};

use super::{Edit, Look, ReadError, Store, WriteError};
use crate::{Block, Ending, Files, FormError, Message, Place, Product, Sent, Session};

pub(crate) struct Request;

impl Store for Request {
    fn owns(&self, look: &Look<'_>) -> bool {
        look.files.files.len() == 1 && detect(look.main()).is_some() && !is_stored(look.main())
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let dialect = detect(files.main()).ok_or(ReadError::Unknown)?;
        Ok(vec![session(files.main(), dialect)?])
    }

    fn send(&self, session: &Session) -> Sent {
        let mut sent = Sent::as_stored(session);
        items_sent_twice(&mut sent.messages);
        sent
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        let dialect = session.dialect.unwrap_or(Dialect::AnthropicMessages);
        let mut files = files.clone();
        if let Some(file) = files.files.first_mut() {
            file.bytes = write::write(&file.bytes, dialect, session, edits)?;
        }
        Ok(files)
    }
}

/// Returns whether an object has fields that no request has: a store of a product that keeps `messages` beside its own
/// copy of them would be repaired, and load the copy.
fn is_stored(body: &[u8]) -> bool {
    const FIELDS: [&str; 9] = [
        "schema_version",
        "schemaVersion",
        "journal",
        "sessionId",
        "session_id",
        "created_at",
        "createdAt",
        "updated_at",
        "updatedAt",
    ];
    let document = Document::parse(body);
    document.is_ok_and(|document| FIELDS.iter().any(|field| document.root().get(field).is_some()))
}

/// If several messages share an id, joins each one's parts into a single item. The provider rejects
/// the item, not one of its parts.
fn items_sent_twice(messages: &mut [Message]) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for id in messages.iter().filter_map(|message| message.id.clone()) {
        *counts.entry(id).or_default() += 1;
    }
    for message in messages {
        let Some(id) = message.id.as_deref().filter(|id| counts[*id] > 1) else { continue };
        let content: Vec<Value> = message.blocks.iter().map(|block| part(&block.content)).collect();
        let value = json!({ "type": "message", "id": id, "role": role(message.role), "content": content });
        let content = Content::Native { dialect: Dialect::OpenaiResponses, value };
        message.blocks = vec![Block { place: message.place.clone(), content, state: None }];
    }
}

/// The role of a message item.
fn role(role: Role) -> &'static str {
    match role {
        Role::System => "developer",
        Role::User | Role::Tool => "user",
        Role::Assistant => "assistant",
    }
}

/// A part in a message item.
fn part(block: &Content) -> Value {
    match block {
        Content::Text(words) => json!({ "text": words }),
        Content::Native { value, .. } => value.clone(),
        _ => Value::Null,
    }
}

/// The conversation in a body of a known dialect.
///
/// # Errors
///
/// The body is not JSON, or contains no conversation.
pub(crate) fn session(body: &[u8], dialect: Dialect) -> Result<Session, ReadError> {
    let document = Document::parse(body).map_err(|error| FormError::Json(error).of(Product::Request))?;
    let root = document.root();
    let list = list_in(dialect, root);
    let at = if root.is_array() { String::new() } else { format!("/{}", list_of(dialect)) };
    let messages = list.items().enumerate().map(|(n, entry)| message(dialect, entry, format!("{at}/{n}")));
    let messages = messages.collect();
    let model = model_in(root);
    Ok(Session {
        dialect: Some(dialect),
        model: model.map(|model| model.into_owned()),
        messages,
        n_records: list.items().count(),
        body: Some(body.to_vec()),
        ..Session::new(
            Product::Request,
            if root.is_array() { "list of messages" } else { "request body" },
            "the list",
        )
    })
}

/// The message in the entry at a pointer.
fn message(dialect: Dialect, entry: Json<'_, '_>, pointer: String) -> Message {
    let span = entry.span();
    let place = |pointer| Place::in_file(span.start as u64..span.end as u64, pointer);
    let Entry { role, id, blocks } = read_entry(dialect, entry, &pointer);
    let block = |(pointer, content)| Block { place: place(pointer), content, state: None };
    let blocks = blocks.into_iter().map(block).collect();
    Message { role, blocks, id, place: place(pointer), ending: Ending::Whole }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reason, Repair, RepairOptions, repair};

    fn mended(input: Value) -> Result<Repair, crate::RepairError> {
        let body = json!({ "model": "gpt-5", "input": input }).to_string();
        repair(&Files::one("body.json", body), 0, &RepairOptions::default())
    }

    fn said(role: &str, id: &str, words: &str) -> Value {
        let part = |words: &str| json!({ "type": if role == "assistant" { "output_text" } else { "input_text" }, "text": words });
        json!({ "type": "message", "id": id, "role": role, "content": [part(words), part("And more.")] })
    }

    #[test]
    fn a_store_with_a_journal_or_dates_is_not_a_request() {
        let body = r#""model":"claude-opus-4-5","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]"#;
        assert!(!is_stored(format!("{{{body}}}").as_bytes()));
        for field in ["journal", "schema_version", "created_at"] {
            assert!(is_stored(format!("{{{body},\"{field}\":[]}}").as_bytes()), "{field}");
        }
    }

    #[test]
    fn the_second_copy_of_a_responses_message_is_removed() {
        for role in ["user", "assistant", "developer"] {
            let (first, last) = (said(role, "msg_1", "Look."), said("user", "msg_2", "Well?"));
            let Ok(Repair::Mended(mended)) = mended(json!([first, first, last])) else { panic!("{role}") };
            let reasons: Vec<Reason> = mended.edits.iter().map(|edit| edit.reason).collect();
            assert_eq!(reasons, [Reason::DuplicateMessage]);
            let body: Value = serde_json::from_slice(mended.files.main()).unwrap();
            assert_eq!(body["input"], json!([first, last]));
        }
    }

    #[test]
    fn different_responses_messages_with_one_id_are_not_repaired() {
        let one = said("user", "msg_1", "Look.");
        assert!(matches!(mended(json!([one, said("user", "msg_1", "Look again.")])), Ok(Repair::Beyond(_))));
        assert!(matches!(mended(json!([one, said("user", "msg_2", "Look.")])), Ok(Repair::Healthy(_))));
    }
}
