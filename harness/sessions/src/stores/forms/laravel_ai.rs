//! Laravel's AI SDK: the rows of `agent_conversation_messages`, in SQLite.
//!
//! A reply is one row with the calls and results of all its steps, or since July 2026 a list of steps, in which a result is
//! part of its call; calls without a result are then left out unless they wait for an approval. Such calls are listed in the
//! column `approval_state`, before August 2026 in the field `pending_approvals` of `meta`. Source:
//! `DatabaseConversationStore::getLatestConversationMessages` in `src/Storage/DatabaseConversationStore.php` of
//! <https://github.com/laravel/ai>.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::Dialect;
use brickbat_rules::histories::Role;
use serde_json::{Value, json};

use super::assembled::{Assembled, Assembly};
use super::{BASE, CallAt, Form, Piece, ResultAt, Saying, Sends, Shape, Speaker};
use crate::sqlite::{Database, MAX_ROWS};
use crate::stores::rows::text_of;
use crate::{Files, FormError, Place, Product};

pub(crate) const FORM: Form = Form {
    product: Product::LaravelAi,
    generation: OF_ROWS,
    other: Some(Assembly { owns: |look| look.database().is_some_and(is_laravel), assemble }),
    shape: Shape::Speakers(&[
        Speaker {
            at: "",
            role: Saying::Named("/role", ROLES),
            pieces: &[Piece::Text("/content"), CALLS, RESULTS],
        },
        Speaker {
            at: "/steps/*",
            role: Saying::Is(Role::Assistant),
            pieces: &[Piece::Text("/content"), CALLS, Piece::Results("/tool_calls", RESULT)],
        },
    ]),
    model: &["/meta/model"],
    sends: Sends::LeavesOutIn(OF_STEPS),
    ..BASE
};

const OF_ROWS: &str = "SQLite rows";
const OF_STEPS: &str = "SQLite rows with steps";
/// Rows in which the last calls wait for an approval.
pub(super) const WAITING: &str = "SQLite rows, waiting for an approval";

const ROLES: &[(&str, Role)] = &[("user", Role::User), ("assistant", Role::Assistant)];
const CALLS: Piece =
    Piece::Calls("/tool_calls", CallAt { id: "/id", name: "/name", arguments: "/arguments" });
const RESULT: ResultAt =
    ResultAt { call: "/id", name: "/name", output: "/result", failed: Some(("/failed", "true")) };
const RESULTS: Piece = Piece::Results("/tool_results", RESULT);

const TABLE: &str = "agent_conversation_messages";

fn is_laravel(database: &Database) -> bool {
    database.has(TABLE, &["id", "conversation_id", "agent", "role", "content", "meta"])
        && (has_steps(database) || database.has(TABLE, &["tool_calls", "tool_results"]))
}

/// The dialect of the provider that a reply names (`src/Gateway` of the SDK: OpenAI by its Responses API).
fn dialect_of(meta: &Value) -> Option<Dialect> {
    Some(match meta.get("provider")?.as_str()? {
        "openai" => Dialect::OpenaiResponses,
        "anthropic" => Dialect::AnthropicMessages,
        "gemini" => Dialect::Gemini,
        "deepseek" | "groq" | "mistral" | "ollama" | "openrouter" => Dialect::OpenaiChat,
        _ => return None,
    })
}

fn has_steps(database: &Database) -> bool {
    database.has(TABLE, &["steps"])
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let database = Database::open(files)?;
    let is_of_steps = has_steps(&database);
    let columns = if is_of_steps { "steps, NULL" } else { "tool_calls, tool_results" };
    let approvals = if database.has(TABLE, &["approval_state"]) { "approval_state" } else { "NULL" };
    let query = format!(
        "SELECT rowid, conversation_id, role, content, meta, {columns}, {approvals} FROM {TABLE} ORDER BY id LIMIT {MAX_ROWS}"
    );
    let mut statement = database.connection().prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut sessions: BTreeMap<String, Assembled> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let text = |n: usize| row.get_ref(n).map(text_of);
        let id = text(1)?;
        let session = sessions.entry(id.clone()).or_insert_with(|| Assembled {
            id: Some(id),
            generation: if is_of_steps { OF_STEPS } else { OF_ROWS },
            ..Assembled::default()
        });
        let place = Place::in_row(TABLE, row.get(0)?, "");
        // A column that is not JSON is read as an empty list, as the SDK does.
        let list =
            |n: usize| Ok::<Value, rusqlite::Error>(serde_json::from_str(&text(n)?).unwrap_or_default());
        let (role, content, meta) = (text(2)?, text(3)?, list(4)?);
        session.dialect = dialect_of(&meta).or(session.dialect);
        let record = match is_of_steps && role == "assistant" {
            true => json!({ "meta": meta, "steps": steps(list(5)?, &content) }),
            false => json!({ "role": role, "content": content, "meta": meta, "tool_calls": list(5)?,
                "tool_results": list(6)? }),
        };
        if !is_of_steps {
            session.generation = if waits(&record, &list(7)?) { WAITING } else { OF_ROWS };
        }
        session.records.push((place, record.to_string()));
    }
    Ok(sessions.into_values().collect())
}

/// True if all calls of a row without a result wait for an approval, and there are such calls.
fn waits(row: &Value, approvals: &Value) -> bool {
    let ids = |list: &Value| -> BTreeSet<String> {
        let items = list.as_array().into_iter().flatten();
        items.filter_map(|item| Some(item.get("id")?.as_str()?.to_owned())).collect()
    };
    let (calls, results) = (ids(&row["tool_calls"]), ids(&row["tool_results"]));
    let in_meta = row["meta"]["pending_approvals"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let in_column = approvals["pending"].as_object().into_iter().flatten().map(|(id, _)| id.as_str());
    let waiting: BTreeSet<&str> = in_meta.chain(in_column).collect();
    let mut open = calls.difference(&results).peekable();
    open.peek().is_some() && open.all(|id| waiting.contains(id.as_str()))
}

/// The steps of a row. The last one has the content of the row if it has none of its own.
fn steps(mut steps: Value, content: &str) -> Value {
    if let Some(last) = steps.as_array_mut().and_then(|steps| steps.last_mut()).and_then(Value::as_object_mut)
    {
        last.entry("content").or_insert_with(|| json!(content));
    }
    steps
}
