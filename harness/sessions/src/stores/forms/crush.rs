//! Crush: the rows of `crush.db`.
//!
//! A row of `messages` has its parts as JSON. Before it sends, Crush answers calls without a result and drops results
//! without a call, and begins with the summary if there is one. Source: `internal/message/content.go`,
//! `internal/db/migrations` and `preparePrompt` in `internal/agent/agent.go` of
//! <https://github.com/charmbracelet/crush>; the answers came with
//! <https://github.com/charmbracelet/crush/pull/2622>.

use std::collections::BTreeMap;

use brickbat_rules::json::Document;

use super::assembled::{Assembled, Assembly};
use super::rows::Table;
use super::{BASE, BY_ROLE, CallAt, Form, Piece, ResultAt, Sends, Shape, Speaker};
use crate::names::dialect_of;
use crate::sqlite::{Database, MAX_ROWS};
use crate::stores::rows::text_of;
use crate::{Files, FormError, Product};

pub(crate) const FORM: Form = Form {
    product: Product::Crush,
    generation: "SQLite rows",
    other: Some(Assembly { owns: |look| look.database().is_some_and(is_crush), assemble }),
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: BY_ROLE,
        pieces: &[Piece::Parts("/parts", "/type", PARTS)],
    }]),
    model: &["/model"],
    sends: Sends::Restores("tool call was interrupted and did not produce a result"),
    ..BASE
};

const PARTS: &[(&str, Piece)] = &[
    ("text", Piece::Text("/data/text")),
    ("reasoning", Piece::Thinking("/data/thinking", "/data/signature")),
    ("binary", Piece::Image("/data/Data", "/data/MIMEType")),
    ("image_url", Piece::Skip),
    ("shell_command", Piece::Text("/data/command")),
    ("finish", Piece::Skip),
    ("tool_call", Piece::Call(CallAt { id: "/data/id", name: "/data/name", arguments: "/data/input" })),
    (
        "tool_result",
        Piece::Result(ResultAt {
            call: "/data/tool_call_id",
            name: "/data/name",
            output: "/data/content",
            failed: Some(("/data/is_error", "true")),
        }),
    ),
];

const MESSAGES: Table = Table {
    name: "messages",
    session: "session_id",
    order: "created_at, rowid",
    only: None,
    texts: &["id", "role", "model", "provider"],
    json: "parts",
};

fn is_crush(database: &Database) -> bool {
    MESSAGES.is_in(database) && database.has("sessions", &["id", "prompt_tokens", "message_count"])
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let database = Database::open(files)?;
    let mut sessions = MESSAGES.sessions(&database, FORM.generation)?;
    let summaries = summaries(&database)?;
    for session in &mut sessions {
        let field = |text: &str, name: &str| {
            let document = Document::parse(text.as_bytes()).ok()?;
            document.root().field(name).as_str().map(|found| found.into_owned())
        };
        let summary = session.id.as_ref().and_then(|id| summaries.get(id));
        let at = summary.and_then(|id| {
            session.records.iter().position(|(_, text)| field(text, "id").as_deref() == Some(id.as_str()))
        });
        if let Some(at) = at {
            let sent = session.records.split_off(at);
            session.before = std::mem::replace(&mut session.records, sent);
            // The summary is sent as a message of the user.
            if let Some((_, text)) = session.records.first_mut() {
                *text = text.replacen("\"role\":\"assistant\"", "\"role\":\"user\"", 1);
            }
        }
        let last = session.records.iter().rev().find_map(|(_, text)| {
            let provider = field(text, "provider").filter(|provider| !provider.is_empty())?;
            Some((provider, field(text, "model").unwrap_or_default()))
        });
        // The names are those of models.dev, or are not known.
        session.dialect =
            last.and_then(|(provider, model)| dialect_of(|names| names.opencode, &provider, &model));
    }
    Ok(sessions)
}

/// The message with the summary of each session that has one.
fn summaries(database: &Database) -> Result<BTreeMap<String, String>, FormError> {
    if !database.has("sessions", &["id", "summary_message_id"]) {
        return Ok(BTreeMap::new());
    }
    let query = format!("SELECT id, summary_message_id FROM sessions LIMIT {MAX_ROWS}");
    let mut statement = database.connection().prepare(&query)?;
    let rows = statement.query_map([], |row| Ok((text_of(row.get_ref(0)?), text_of(row.get_ref(1)?))))?;
    let all: Vec<(String, String)> = rows.collect::<Result<_, _>>()?;
    Ok(all.into_iter().filter(|(_, summary)| !summary.is_empty()).collect())
}
