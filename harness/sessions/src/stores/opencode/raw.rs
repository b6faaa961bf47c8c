//! The raw records: sessions with their messages, and messages with their parts.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::json::{parse, text};
use crate::{Lost, Place, SqliteError, Trouble};

/// A stored session.
#[derive(Debug, Default)]
pub(super) struct Raw {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) version: Option<String>,
    /// The message from which everything is reverted, and its part if only the later parts are reverted.
    pub(super) revert: Option<(String, Option<String>)>,
    /// The messages, in the order in which the product reads them.
    pub(super) messages: Vec<RawMessage>,
    pub(super) troubles: Vec<Trouble>,
}

/// A stored message.
#[derive(Debug)]
pub(super) struct RawMessage {
    pub(super) id: String,
    pub(super) session: String,
    /// The creation time in milliseconds.
    pub(super) created: i64,
    pub(super) info: Value,
    pub(super) place: Place,
    /// The parts, ordered by id.
    pub(super) parts: Vec<RawPart>,
}

/// A stored message part.
#[derive(Debug)]
pub(super) struct RawPart {
    pub(super) id: String,
    pub(super) message: String,
    pub(super) value: Value,
    pub(super) place: Place,
}

/// Rows or files before they are assembled.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    pub(super) sessions: Vec<Raw>,
    pub(super) messages: Vec<RawMessage>,
    pub(super) parts: Vec<RawPart>,
    /// The unreadable records, with the id of their session, if it is known.
    pub(super) troubles: Vec<(Option<String>, Trouble)>,
    /// Tables that could not be read to their end, by their last readable row. Any session may have lost rows.
    pub(super) cut: Vec<(Place, SqliteError)>,
}

impl Raw {
    /// A session from its record: an export, a file, or the columns of a row.
    pub(super) fn of_info(info: &Value) -> Raw {
        let name = |key: &str| Some(text(info, key)).filter(|text| !text.is_empty()).map(str::to_owned);
        Raw {
            id: text(info, "id").to_owned(),
            parent: name("parentID").or_else(|| name("parent_id")),
            version: name("version"),
            revert: info.get("revert").and_then(revert_of),
            ..Raw::default()
        }
    }
}

/// The message and the part from which a session is reverted.
///
/// The column stores them as a text.
pub(super) fn revert_of(revert: &Value) -> Option<(String, Option<String>)> {
    let parsed = revert.as_str().and_then(|text| parse(text.as_bytes()));
    let revert = parsed.as_ref().unwrap_or(revert);
    let message = revert.get("messageID")?.as_str()?.to_owned();
    let part = revert.get("partID").and_then(Value::as_str).map(str::to_owned);
    Some((message, part))
}

impl Pieces {
    /// Assembles the sessions with their messages and parts in the product's order: messages by time and id,
    /// parts by id.
    pub(super) fn assemble(self) -> Vec<Raw> {
        let mut raws: BTreeMap<String, Raw> = BTreeMap::new();
        for raw in self.sessions {
            raws.insert(raw.id.clone(), raw);
        }
        let mut parts: BTreeMap<String, Vec<RawPart>> = BTreeMap::new();
        for part in self.parts {
            parts.entry(part.message.clone()).or_default().push(part);
        }
        let mut messages = self.messages;
        messages.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
        for mut message in messages {
            message.parts = parts.remove(&message.id).unwrap_or_default();
            message.parts.sort_by(|a, b| a.id.cmp(&b.id));
            let id = message.session.clone();
            let raw = raws.entry(id.clone()).or_insert_with(|| Raw { id, ..Raw::default() });
            raw.messages.push(message);
        }
        // The product never reads the parts of a missing message.
        for part in parts.into_values().flatten() {
            let session = text(&part.value, "sessionID");
            let words = "a part whose message is missing".to_owned();
            let trouble =
                Trouble { place: part.place, words, loses: Some(Lost::Data("a part that is never sent")) };
            if let Some(raw) = owner(&mut raws, Some(session)) {
                raw.troubles.push(trouble);
            }
        }
        for (session, trouble) in self.troubles {
            if let Some(raw) = owner(&mut raws, session.as_deref()) {
                raw.troubles.push(trouble);
            }
        }
        for (place, error) in self.cut {
            let trouble = Trouble { place, words: error.to_string(), loses: None };
            raws.values_mut().for_each(|raw| raw.troubles.push(trouble.clone()));
        }
        raws.into_values().collect()
    }
}

/// The session of a trouble: the named one, or the only one.
fn owner<'r>(raws: &'r mut BTreeMap<String, Raw>, session: Option<&str>) -> Option<&'r mut Raw> {
    match session.filter(|id| raws.contains_key(*id)) {
        Some(id) => raws.get_mut(id),
        None => raws.values_mut().next(),
    }
}
