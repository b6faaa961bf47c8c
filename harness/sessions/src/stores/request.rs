//! Request bodies and bare lists of messages, in all dialects: what is stored is what is sent.

mod entries;
mod read;
mod write;

use brickbat_rules::json::Document;
use brickbat_rules::{Dialect, detect, list_of};
use serde_json::Value;

use super::{Edit, ReadError, Store, WriteError};
use crate::{Files, Message, Product, Sent, Session};

/// Request bodies.
pub(crate) struct Request;

impl Store for Request {
    fn product(&self) -> Product {
        Product::Request
    }

    fn recognises(&self, files: &Files) -> bool {
        files.files.len() == 1 && detect(files.main()).is_some()
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let dialect = detect(files.main()).ok_or(ReadError::Unknown)?;
        Ok(vec![session(files.main(), dialect)?])
    }

    fn send(&self, session: &Session) -> Sent {
        Sent::as_stored(session)
    }

    fn fills_open_tail(&self, _: &Session) -> Option<&'static str> {
        None
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

/// The messages of a body that is a value already, and so has no places in bytes.
pub(crate) fn messages(body: &Value, dialect: Dialect) -> Vec<Message> {
    let list = if body.is_array() { Some(body) } else { body.get(list_of(dialect)) };
    let entries = list.and_then(Value::as_array).into_iter().flatten();
    read::messages(dialect, entries.map(|entry| (entry, 0..0)), "")
}

/// The conversation of a body whose dialect is known.
///
/// # Errors
///
/// It is not JSON, or holds no conversation.
pub(crate) fn session(body: &[u8], dialect: Dialect) -> Result<Session, ReadError> {
    let unread = |words: &str| ReadError::Form { product: Product::Request, words: words.to_owned() };
    let document = Document::parse(body).map_err(|error| unread(&format!("not JSON: {error}")))?;
    let root = document.root();
    let (list, at) = match root.is_array() {
        true => (root, String::new()),
        false => (root.field(list_of(dialect)), format!("/{}", list_of(dialect))),
    };
    let entries: Vec<(Value, std::ops::Range<usize>)> =
        list.items().map(|item| (item.to_value(), item.span())).collect();
    let messages = read::messages(dialect, entries.iter().map(|(value, span)| (value, span.clone())), &at);
    let model = root.get("model").or_else(|| root.get("modelId")).and_then(|model| model.as_str());
    Ok(Session {
        product: Product::Request,
        version: None,
        generation: if root.is_array() { "list of messages" } else { "request body" },
        id: None,
        dialect: Some(dialect),
        model: model.map(|model| model.into_owned()),
        messages,
        off_branch: Vec::new(),
        branch: "the list",
        n_records: entries.len(),
        n_compactions: 0,
        n_forks: 0,
        troubles: Vec::new(),
        unknown: Vec::new(),
        is_excerpt: false,
        cut: None,
        body: Some(body.to_vec()),
    })
}
