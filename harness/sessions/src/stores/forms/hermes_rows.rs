//! The rows of Hermes Agent. See [`hermes`](super::hermes) for their form and its source.

use std::collections::BTreeMap;

use serde_json::{Value, json};

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
    let models = models(&database)?;
    for session in &mut sessions {
        let model = session.id.as_ref().and_then(|id| models.get(id));
        session.own = model.map(|model| json!({ "model": model }).to_string());
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

/// The model of each session.
fn models(database: &Database) -> Result<BTreeMap<String, String>, FormError> {
    let query = format!("SELECT id, model FROM sessions WHERE model IS NOT NULL LIMIT {MAX_ROWS}");
    let mut statement = database.connection().prepare(&query)?;
    let rows = statement.query_map([], |row| Ok((text_of(row.get_ref(0)?), text_of(row.get_ref(1)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
