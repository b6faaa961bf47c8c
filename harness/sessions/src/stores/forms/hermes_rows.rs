//! The rows of Hermes Agent. See [`hermes`](super::hermes) for their form and its source.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::assembled::{Assembled, Assembly};
use super::rows::Table;
use crate::sqlite::{Database, MAX_ROWS};
use crate::stores::rows::text_of;
use crate::{Files, FormError};

pub(super) const ROWS: Assembly = Assembly { owns: |look| look.database().is_some_and(is_hermes), assemble };

const MESSAGES: Table = Table {
    name: "messages",
    session: "session_id",
    order: "id",
    only: Some(("active", "active = 1")),
    texts: &["role", "content", "tool_call_id", "tool_name", "reasoning_content"],
    json: "tool_calls",
};

/// The beginning of a content that is JSON.
const JSON_MARK: &str = "\0json:";

fn is_hermes(database: &Database) -> bool {
    MESSAGES.is_in(database)
        && database.has("messages", &["tool_name", "finish_reason"])
        && database.has("sessions", &["source", "parent_session_id", "model"])
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let database = Database::open(files)?;
    let mut sessions = MESSAGES.sessions(&database, "SQLite rows")?;
    let providers = providers(&database)?;
    for session in &mut sessions {
        let own = session.id.as_ref().and_then(|id| providers.get(id));
        session.own = own.map(Value::to_string);
        for (_, record) in &mut session.records {
            if let Some(whole) = with_content(record) {
                *record = whole;
            }
        }
    }
    Ok(sessions)
}

/// The record with a content that was stored as JSON. `None` if it was stored as a text.
fn with_content(record: &str) -> Option<String> {
    let mut value: Value = serde_json::from_str(record).ok()?;
    let content = value.get("content")?.as_str()?.strip_prefix(JSON_MARK)?;
    let content: Value = serde_json::from_str(content).ok()?;
    value["content"] = content;
    Some(value.to_string())
}

/// The columns of a session that name its provider. Older databases have only the first.
const PROVIDER: [&str; 3] = ["model", "billing_provider", "billing_base_url"];

/// The provider of each session, as fields.
fn providers(database: &Database) -> Result<BTreeMap<String, Value>, FormError> {
    let own = database.columns("sessions");
    let names: Vec<&str> = PROVIDER.into_iter().filter(|name| own.iter().any(|own| own == name)).collect();
    let query = format!("SELECT id, {} FROM sessions LIMIT {MAX_ROWS}", names.join(", "));
    let mut statement = database.connection().prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut found = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let mut fields = Map::new();
        for (n, name) in names.iter().enumerate() {
            let text = row.get_ref(n + 1).map(text_of)?;
            if !text.is_empty() {
                fields.insert((*name).to_owned(), Value::String(text));
            }
        }
        found.insert(row.get_ref(0).map(text_of)?, Value::Object(fields));
    }
    Ok(found)
}
