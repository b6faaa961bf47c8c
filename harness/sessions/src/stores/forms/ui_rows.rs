//! Rows with the UI messages of the AI SDK: Cloudflare's `AIChatAgent`, and VoltAgent's memory.
//!
//! Both treat calls without a result before they send, so the parts are read here and not as an application sends them.

use std::collections::BTreeMap;

use brickbat_rules::histories::Role;
use brickbat_rules::json::{Document, Json};
use serde_json::{Value, json};

use super::assembled::{Assembled, Assembly};
use super::{BASE, CallAt, Form, Piece, ResultAt, Saying, Sends, Shape, Speaker};
use crate::sqlite::{Database, MAX_ROWS};
use crate::stores::ai_sdk::parts::dialect_of;
use crate::stores::rows::{bytes_of, text_of};
use crate::{Files, FormError, Place, Product};

/// The SQLite of a Durable Object with an `AIChatAgent`.
///
/// Before each turn, the SDK ends calls that no client can answer any more, and stores that. Source:
/// `_repairInterruptedToolsBeforeTurn` in `@cloudflare/ai-chat` 0.12.2, and
/// <https://github.com/cloudflare/agents/pull/1794>; older versions send the call, on which the AI SDK throws
/// AI_MissingToolResultsError.
pub(crate) const CLOUDFLARE_AGENTS: Form = Form {
    product: Product::CloudflareAgents,
    other: Some(Assembly { owns: |look| look.database().is_some_and(is_cloudflare), assemble: cloudflare }),
    sends: Sends::Fills("The tool call was interrupted before a result was recorded."),
    ..FORM
};

/// The tables `<prefix>_messages` and `<prefix>_conversations` of VoltAgent in LibSQL.
///
/// VoltAgent leaves out calls without a result when it sends. Source: `LibSQLMemoryAdapter` of `@voltagent/libsql` 2.1.2,
/// which wrote a stored session, and `filterIncompleteToolCallsForModel` of `@voltagent/core`.
pub(crate) const VOLTAGENT: Form = Form {
    product: Product::Voltagent,
    other: Some(Assembly { owns: |look| look.database().is_some_and(is_voltagent), assemble: voltagent }),
    sends: Sends::LeavesOutCalls,
    ..FORM
};

const FORM: Form = Form {
    product: Product::Voltagent,
    generation: "SQLite rows",
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named(
            "/role",
            &[("system", Role::System), ("user", Role::User), ("assistant", Role::Assistant)],
        ),
        pieces: &[Piece::Parts("/parts", "/type", PARTS)],
    }]),
    ..BASE
};

const CALL: CallAt = CallAt { id: "/id", name: "/name", arguments: "/input" };

const PARTS: &[(&str, Piece)] = &[
    ("text", Piece::Text("/text")),
    ("reasoning", Piece::Thinking("/text", "/signature")),
    (
        "done",
        Piece::Both(
            CALL,
            ResultAt { call: "/id", name: "/name", output: "/output", failed: Some(("/failed", "true")) },
        ),
    ),
    ("call", Piece::Call(CALL)),
    ("skip", Piece::Skip),
];

const CLOUDFLARE: &str = "cf_ai_chat_agent_messages";

fn is_cloudflare(database: &Database) -> bool {
    database.has(CLOUDFLARE, &["id", "message"])
}

fn cloudflare(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let database = Database::open(files)?;
    let order = if database.has(CLOUDFLARE, &["created_at"]) { "created_at, rowid" } else { "rowid" };
    let query = format!("SELECT rowid, message FROM {CLOUDFLARE} ORDER BY {order} LIMIT {MAX_ROWS}");
    let mut statement = database.connection().prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut session = Assembled { generation: FORM.generation, ..Assembled::default() };
    while let Some(row) = rows.next()? {
        let place = Place::in_row(CLOUDFLARE, row.get(0)?, "");
        session.add(place, &bytes_of(row.get_ref(1)?).unwrap_or_default());
    }
    Ok(vec![read(session)])
}

/// The ends of the names of the two tables. An application may choose what is before them.
const MESSAGES: &str = "_messages";
const CONVERSATIONS: &str = "_conversations";

/// The columns of a message that other products do not have together.
const COLUMNS: [&str; 5] = ["conversation_id", "message_id", "role", "parts", "format_version"];

/// The table with the messages.
fn messages_of(database: &Database) -> Option<String> {
    let tables = database.tables().ok()?;
    let has_owner =
        |prefix: &str| tables.iter().any(|table| table.strip_suffix(CONVERSATIONS) == Some(prefix));
    let is_safe = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_it = |table: &&String| {
        let prefix = table.strip_suffix(MESSAGES);
        prefix.is_some_and(|prefix| has_owner(prefix) || prefix == DEFAULT)
            && is_safe(table)
            && database.has(table, &COLUMNS)
    };
    tables.iter().find(is_it).cloned()
}

/// The prefix that VoltAgent gives to its tables. An export has only one of them.
const DEFAULT: &str = "voltagent_memory";

fn is_voltagent(database: &Database) -> bool {
    messages_of(database).is_some()
}

fn voltagent(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let database = Database::open(files)?;
    let table = messages_of(&database).ok_or(FormError::Shape("it has no list of messages"))?;
    let query = format!(
        "SELECT rowid, conversation_id, role, parts FROM {table} ORDER BY conversation_id, created_at, rowid LIMIT {MAX_ROWS}"
    );
    let mut statement = database.connection().prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut sessions: BTreeMap<String, Assembled> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let id = row.get_ref(1).map(text_of)?;
        let session = sessions.entry(id.clone()).or_insert_with(|| Assembled {
            id: Some(id),
            generation: FORM.generation,
            ..Assembled::default()
        });
        let place = Place::in_row(&table, row.get(0)?, "");
        let parts = bytes_of(row.get_ref(3)?).unwrap_or_default();
        let role = json!(row.get_ref(2).map(text_of)?);
        match std::str::from_utf8(&parts).ok().filter(|_| Document::parse(&parts).is_ok()) {
            Some(parts) => session.add(place, format!("{{\"role\":{role},\"parts\":{parts}}}").as_bytes()),
            None => session.lose(place, crate::json::trouble(&parts).to_string()),
        }
    }
    Ok(sessions.into_values().map(read).collect())
}

/// The session with its parts in the form that the description reads.
fn read(mut session: Assembled) -> Assembled {
    for (_, record) in &mut session.records {
        let Ok(document) = Document::parse(record.as_bytes()) else { continue };
        let message = document.root();
        let parts: Vec<Json<'_, '_>> = message.field("parts").items().collect();
        let own = parts.iter().rev().find_map(|part| dialect_of(&part.to_value()));
        let read = json!({
            "role": message.field("role").to_value(), "parts": parts.into_iter().map(part).collect::<Vec<Value>>(),
        });
        *record = read.to_string();
        session.dialect = own.or(session.dialect);
    }
    session
}

fn part(part: Json<'_, '_>) -> Value {
    let value = |name: &str| part.field(name).to_value();
    let kind = part.field("type").as_str().unwrap_or_default();
    let name = match kind.as_ref() {
        "text" => return json!({ "type": "text", "text": value("text") }),
        "reasoning" => {
            let signature = part.pointer("/providerMetadata/anthropic/signature").to_value();
            return json!({ "type": "reasoning", "text": value("text"), "signature": signature });
        }
        "dynamic-tool" => value("toolName"),
        kind => match kind.strip_prefix("tool-") {
            Some(name) => json!(name),
            None => return json!({ "type": "skip" }),
        },
    };
    let state = part.field("state").as_str().unwrap_or_default();
    let (id, input) = (value("toolCallId"), value("input"));
    match state.as_ref() {
        // The AI SDK does not send a call that was cut off.
        "input-streaming" => json!({ "type": "skip" }),
        "output-available" => {
            json!({ "type": "done", "id": id, "name": name, "input": input, "output": value("output") })
        }
        "output-error" | "output-denied" => json!({
            "type": "done", "id": id, "name": name, "input": input, "output": value("errorText"), "failed": true,
        }),
        _ => json!({ "type": "call", "id": id, "name": name, "input": input }),
    }
}
