//! The rows of the database of the Agent Development Kit: the events of its sessions as JSON.
//!
//! `SqliteSessionService` and the newer schema of `DatabaseSessionService` write `event_data`. An older schema has the
//! content in a column of its own, and is not read. Source: `src/google/adk/sessions/sqlite_session_service.py` and
//! `schemas/v1.py` of <https://github.com/google/adk-python>.

use brickbat_rules::Dialect;
use brickbat_rules::json::Document;

use super::assembled::{Assembled, Assembly};
use super::rows::Table;
use crate::sqlite::Database;
use crate::{Files, FormError};

pub(super) const ROWS: Assembly = Assembly { owns: |look| look.database().is_some_and(is_adk), assemble };

const EVENTS: Table = Table {
    name: "events",
    session: "session_id",
    order: "timestamp, rowid",
    only: None,
    texts: &[],
    json: "event_data",
};

fn is_adk(database: &Database) -> bool {
    EVENTS.is_in(database)
        && database.has("events", &["app_name", "user_id", "invocation_id", "timestamp"])
        && database.has("sessions", &["app_name", "user_id", "id", "state"])
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let mut sessions = EVENTS.sessions(&Database::open(files)?, "SQLite rows")?;
    for session in &mut sessions {
        for (place, record) in &mut session.records {
            let Ok(document) = Document::parse(record.as_bytes()) else { continue };
            let event = document.root().field(EVENTS.json);
            place.pointer = String::new();
            let model = event.field("model_version").as_str();
            session.dialect = model.and_then(|model| dialect_of(&model)).or(session.dialect);
            let own = event.raw().to_owned();
            drop(document);
            *record = own;
        }
    }
    Ok(sessions)
}

/// The dialect of a model. The kit reaches models of others than Google through LiteLLM.
fn dialect_of(model: &str) -> Option<Dialect> {
    let model = model.rsplit('/').next().unwrap_or(model);
    match model {
        _ if model.starts_with("claude") => Some(Dialect::AnthropicMessages),
        _ if model.starts_with("gpt") => Some(Dialect::OpenaiChat),
        _ => None,
    }
}
