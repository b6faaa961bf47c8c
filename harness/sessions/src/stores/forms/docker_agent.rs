//! Docker Agent, formerly cagent: the rows of `~/.cagent/session.db`.
//!
//! A row of `session_items` has a message of Chat Completions as JSON, or a summary. After a summary, what follows it is
//! sent, from its first kept item on if it names one. Before it sends, the agent answers calls without a
//! result; it sends results without a call. Source: `pkg/session/migrations.go`, and `buildSessionSummaryMessages` and
//! `sanitizeToolCalls` in `pkg/session/session.go` of <https://github.com/docker/docker-agent>; a stored result
//! without its call is in <https://github.com/docker/docker-agent/issues/1676>.

use serde_json::json;

use super::assembled::{Assembled, Assembly};
use super::rows::Table;
use super::{BASE, Form, Sends, Shape, chat_at};
use crate::sqlite::{Database, MAX_ROWS};
use crate::stores::rows::text_of;
use crate::{Files, FormError, Product};

pub(crate) const FORM: Form = Form {
    product: Product::DockerAgent,
    generation: "SQLite rows",
    other: Some(Assembly { owns: |look| look.database().is_some_and(is_docker_agent), assemble }),
    shape: Shape::Speakers(&[chat_at("/message_json")]),
    model: &["/message_json/model"],
    sends: Sends::Fills("No result provided"),
    ..BASE
};

const ITEMS: Table = Table {
    name: "session_items",
    session: "session_id",
    order: "session_id, position",
    only: Some(("message_json", "message_json IS NOT NULL")),
    texts: &[],
    json: "message_json",
};

fn is_docker_agent(database: &Database) -> bool {
    ITEMS.is_in(database) && database.has(ITEMS.name, &["position", "item_type", "summary_text"])
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let database = Database::open(files)?;
    let mut sessions = ITEMS.sessions(&database, FORM.generation)?;
    for Summary { session, n_before, words } in summaries(&database)? {
        let own = sessions.iter_mut().find(|own| own.id.as_deref() == Some(session.as_str()));
        if let Some(own) = own {
            let message = json!({ "role": "user", "content": format!("Session Summary: {words}") });
            own.begin_with(n_before, &json!({ "message_json": message }));
        }
    }
    Ok(sessions)
}

/// The newest summary of a session.
struct Summary {
    session: String,
    /// The number of messages before the first one that is sent.
    n_before: usize,
    words: String,
}

fn summaries(database: &Database) -> Result<Vec<Summary>, FormError> {
    let kept = if database.has(ITEMS.name, &["first_kept_entry"]) { "first_kept_entry" } else { "0" };
    let query = format!(
        "SELECT session_id, summary_text, (SELECT COUNT(*) FROM session_items AS own \
         WHERE own.session_id = last.session_id AND own.message_json IS NOT NULL AND own.position < \
         CASE WHEN {kept} > 0 AND {kept} < last.position THEN {kept} ELSE last.position END) \
         FROM session_items AS last WHERE summary_text <> '' AND position = (SELECT MAX(position) \
         FROM session_items AS other WHERE other.session_id = last.session_id AND other.summary_text <> '') \
         ORDER BY session_id LIMIT {MAX_ROWS}"
    );
    let mut statement = database.connection().prepare(&query)?;
    let rows = statement.query_map([], |row| {
        let n_before = usize::try_from(row.get::<_, i64>(2)?).unwrap_or_default();
        Ok(Summary { session: text_of(row.get_ref(0)?), n_before, words: text_of(row.get_ref(1)?) })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
