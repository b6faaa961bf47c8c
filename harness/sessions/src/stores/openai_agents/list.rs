//! The same items as a JSON list, which programs store from `result.history` of the JavaScript SDK, or in
//! their own session. The items have JavaScript names, such as `callId`, and `function_call_result` for an
//! output. Source: `@openai/agents-core` 0.20.0, `types/protocol`,
//! <https://github.com/openai/openai-agents-js>.
//!
//! The list does not show whether it goes through a session, which drops calls without a result, or is the
//! input of the next run, which sends them. It is judged as the input.

use brickbat_rules::Dialect;
use brickbat_rules::json::{Document, Json};
use serde_json::{Value, json};

use super::Reader;
use crate::EditError::{self, Missing, NoForm, NotJson};
use crate::json::{splice, text};
use crate::stores::json_changes::JsonChanges;
use crate::stores::list_reader::{place_of, session};
use crate::stores::list_writer::{index, raw};
use crate::stores::{Edit, ReadError, WriteError};
use crate::{Files, FormError, NOT_RECORDED, Place, Product, Session};

/// The value of [`Session::generation`] for this form.
pub(super) const GENERATION: &str = "JSON list";

/// The id that the SDK gives to items from an API other than Responses (`openaiItemIds.mjs`).
const FAKE_ID: &str = "FAKE_ID";

/// The type of a result.
const RESULT: &str = "function_call_result";

/// Returns whether the file is such a list: at least one item has JavaScript names.
pub(super) fn is_list_of_items(root: Json<'_, '_>) -> bool {
    let is_item = |item: Json<'_, '_>| {
        let [kind, role] = item.pick(["type", "role"]);
        kind.or(role).is_some_and(Json::is_str)
    };
    let is_own = |item: Json<'_, '_>| {
        let [kind, call, data] = item.pick(["type", "callId", "providerData"]);
        let kind = kind.and_then(Json::as_str).unwrap_or_default();
        call.is_some_and(Json::is_str) && kind.starts_with("function_call")
            || data.is_some() && kind == "message"
    };
    root.items().all(is_item) && root.items().any(is_own)
}

pub(super) fn read(files: &Files) -> Result<Vec<Session>, ReadError> {
    let Ok(document) = Document::parse(files.main()) else { return Err(ReadError::Unknown) };
    let mut session = session(Product::OpenaiAgents, GENERATION);
    session.n_records = document.root().len();
    let mut reader = Reader::default();
    let mut items = Vec::new();
    for (n, value) in document.root().items().enumerate() {
        let place = place_of(value, format!("/{n}"));
        let mut item = of_python(value.to_value());
        if !item.is_object() {
            return Err(FormError::Absent("item", place.to_string()).of(Product::OpenaiAgents));
        }
        session.dialect = session.dialect.or(dialect_of(&item));
        if text(&item, "id") == FAKE_ID
            && let Some(own) = item.as_object_mut()
        {
            own.shift_remove("id");
        }
        items.push((place, Some(item.to_string().into_bytes())));
    }
    session.messages = reader.messages(items);
    session.n_compactions = reader.n_compactions;
    session.unknown = reader.unknown.into_iter().collect();
    Ok(vec![session])
}

/// An item with Responses API names.
fn of_python(mut item: Value) -> Value {
    let kind = text(&item, "type").to_owned();
    let Some(own) = item.as_object_mut() else { return item };
    if let Some(id) = own.shift_remove("callId") {
        own.insert("call_id".to_owned(), id);
    }
    if kind == RESULT {
        own.insert("type".to_owned(), json!("function_call_output"));
        let output = match own.shift_remove("output").unwrap_or_default() {
            Value::Array(parts) => Value::Array(parts),
            Value::Object(part) => match part.get("text") {
                Some(text) => text.clone(),
                None => Value::Array(vec![Value::Object(part)]),
            },
            text => text,
        };
        own.insert("output".to_owned(), output);
    }
    own.shift_remove("providerData");
    item
}

/// The dialect of the API that made an item, by the item's id.
fn dialect_of(item: &Value) -> Option<Dialect> {
    match text(item, "id") {
        FAKE_ID => Some(Dialect::OpenaiChat),
        id if ["msg_", "fc_", "rs_"].iter().any(|kind| id.starts_with(kind)) => {
            Some(Dialect::OpenaiResponses)
        }
        _ => None,
    }
}

pub(super) fn write(files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
    let refusal = |place: &Place, cause: EditError| cause.at(Product::OpenaiAgents, place);
    let Ok(document) = Document::parse(files.main()) else {
        return Err(refusal(&Place::default(), NotJson));
    };
    let end = |place: &Place| end_of(session, place).ok_or_else(|| refusal(place, Missing("no such block")));
    let mut changes = JsonChanges::default();
    for edit in edits {
        match edit {
            Edit::Move { result, call, .. } => {
                changes.insert_after(&end(call)?, raw(files, result).to_owned());
                changes.remove(&result.pointer);
            }
            Edit::Synthesise { call, id } => {
                let after = end(call)?;
                changes.insert_after(&after, not_recorded(session, id).to_string());
            }
            Edit::Drop { block } => {
                end(block)?;
                // A model message with a single text is dropped as one item.
                let item = index(&block.pointer, 0).map(|n| document.root().item(n));
                let is_only = item.is_some_and(|item| item.field("content").len() <= 1);
                let whole = block.pointer.split('/').nth(1).map(|n| format!("/{n}")).unwrap_or_default();
                changes.remove(if is_only { &whole } else { &block.pointer });
            }
            Edit::Truncate { last } => {
                let last = index(&end(last)?, 0).ok_or_else(|| refusal(last, Missing("no such item")))?;
                (last + 1..document.root().len()).for_each(|n| changes.remove(&format!("/{n}")));
            }
            Edit::Discard { place } => return Err(refusal(place, NoForm("a list has no stretch to remove"))),
        }
    }
    let mut written = files.clone();
    if let Some(main) = written.files.first_mut() {
        main.bytes = splice(&main.bytes, changes.edits(document.root()));
    }
    Ok(written)
}

/// The pointer to the last item of the message that contains a block.
fn end_of(session: &Session, place: &Place) -> Option<String> {
    let holds = |message: &crate::Message| message.blocks.iter().any(|block| &block.place == place);
    let n = session.messages.iter().position(holds)?;
    let last = session.messages[n].blocks.last()?;
    // `/3` or `/3/content/0`.
    last.place.pointer.split('/').nth(1).map(|n| format!("/{n}"))
}

/// The replacement for a result that was never recorded.
fn not_recorded(session: &Session, id: &str) -> Value {
    let mut calls = session.messages.iter().flat_map(crate::Message::calls);
    let name = calls.find(|call| call.id == id).map_or("", |call| call.name.as_str());
    let output = json!({ "type": "text", "text": NOT_RECORDED });
    json!({ "type": RESULT, "name": name, "callId": id, "status": "completed", "output": output })
}
