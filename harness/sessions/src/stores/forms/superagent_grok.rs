//! Grok CLI, by superagent: the rows of `~/.grok/grok.db`.
//!
//! A row of `messages` has a `ModelMessage` of the AI SDK as JSON. After a compaction the messages from `first_kept_seq` on
//! are sent, behind the summary. Source: `src/storage/migrations.ts`, `src/storage/transcript.ts` and
//! `src/storage/transcript-view.test.ts` of <https://github.com/superagent-ai/grok-cli>.

use std::collections::BTreeMap;

use brickbat_rules::Dialect;
use serde_json::json;

use super::aider_desk::MODEL_PARTS;
use super::assembled::{Assembled, Assembly};
use super::rows::Table;
use super::{BASE, BY_ROLE, Form, Piece, Shape, Speaker};
use crate::sqlite::{Database, MAX_ROWS};
use crate::stores::rows::text_of;
use crate::{Files, FormError, Product};

pub(crate) const FORM: Form = Form {
    product: Product::SuperagentGrok,
    generation: "SQLite rows",
    other: Some(Assembly { owns: |look| look.database().is_some_and(is_grok), assemble }),
    shape: Shape::Speakers(&[Speaker {
        at: "/message_json",
        role: BY_ROLE,
        pieces: &[Piece::Parts("/content", "/type", MODEL_PARTS)],
    }]),
    // `@ai-sdk/xai` speaks Chat Completions.
    dialect: Some(Dialect::OpenaiChat),
    ..BASE
};

const MESSAGES: Table = Table {
    name: "messages",
    session: "session_id",
    order: "session_id, seq",
    only: None,
    texts: &[],
    json: "message_json",
};

fn is_grok(database: &Database) -> bool {
    MESSAGES.is_in(database)
        && database.has("messages", &["seq"])
        && database.has("tool_results", &["output_json"])
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let database = Database::open(files)?;
    let mut sessions = MESSAGES.sessions(&database, FORM.generation)?;
    let compactions = compactions(&database)?;
    for session in &mut sessions {
        let Some((n_before, summary)) = session.id.as_ref().and_then(|id| compactions.get(id)) else {
            continue;
        };
        let summary = json!({ "message_json": { "role": "system", "content": summary } });
        session.begin_with(*n_before, &summary);
    }
    Ok(sessions)
}

/// The number of messages before the newest compaction of each session, and its summary.
fn compactions(database: &Database) -> Result<BTreeMap<String, (usize, String)>, FormError> {
    if !database.has("compactions", &["session_id", "first_kept_seq", "summary"]) {
        return Ok(BTreeMap::new());
    }
    let query = format!(
        "SELECT session_id, summary, (SELECT COUNT(*) FROM messages AS own WHERE own.session_id = compactions.session_id \
         AND own.seq < first_kept_seq) FROM compactions ORDER BY id LIMIT {MAX_ROWS}"
    );
    let mut statement = database.connection().prepare(&query)?;
    let rows = statement.query_map([], |row| {
        let n_before = usize::try_from(row.get::<_, i64>(2)?).unwrap_or_default();
        Ok((text_of(row.get_ref(0)?), (n_before, text_of(row.get_ref(1)?))))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
