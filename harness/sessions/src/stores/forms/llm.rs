//! Simon Willison's `llm`: the rows of `logs.db`.
//!
//! A thread names its last message, and each message the one before it. The parts of a message are rows. Older versions
//! have a row in `responses` for each request, with its calls and the results that it sent. Source: `llm/logs.py` and
//! `llm/migrations.py` of llm 0.36 (<https://github.com/simonw/llm>).

use std::collections::BTreeMap;

use brickbat_rules::Dialect;
use serde_json::{Value, json};

use super::assembled::{Assembled, Assembly};
use super::{BASE, BY_ROLE, CallAt, Form, Piece, ResultAt, Shape, Speaker};
use crate::sqlite::{Database, MAX_ROWS};
use crate::stores::rows::text_of;
use crate::{Files, FormError, Place, Product};

pub(crate) const FORM: Form = Form {
    product: Product::Llm,
    generation: "SQLite rows",
    other: Some(Assembly {
        owns: |look| look.database().is_some_and(|database| is_new(database) || is_old(database)),
        assemble,
    }),
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: BY_ROLE,
        pieces: &[Piece::Parts(
            "/parts",
            "/type",
            &[
                ("text", Piece::Text("/text")),
                ("reasoning", Piece::Skip),
                ("attachment", Piece::Skip),
                (
                    "tool_call",
                    Piece::Call(CallAt { id: "/tool_call_id", name: "/name", arguments: "/arguments" }),
                ),
                (
                    "tool_result",
                    Piece::Result(ResultAt {
                        call: "/tool_call_id",
                        name: "/name",
                        output: "/output",
                        failed: None,
                    }),
                ),
            ],
        )],
    }]),
    model: &["/model"],
    ..BASE
};

/// The largest number of messages of a thread. A chain of hashes has no cycle, but a damaged one may.
const MAX_MESSAGES: usize = 100_000;

fn is_new(database: &Database) -> bool {
    database.has("threads", &["id", "tip_message_hash"])
        && database.has("messages", &["hash", "parent_hash", "role"])
        && database.has("parts", &["message_hash", "position", "type", "text", "payload"])
}

fn is_old(database: &Database) -> bool {
    database.has("_llm_migrations", &["name"])
        && database.has("responses", &["id", "prompt", "response", "conversation_id"])
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let database = Database::open(files)?;
    let mut found = if is_new(&database) { threads(&database)? } else { Vec::new() };
    // Conversations that were not taken over into threads.
    if is_old(&database) {
        let known: Vec<Option<String>> = found.iter().map(|thread| thread.id.clone()).collect();
        let old = conversations(&database)?;
        found.extend(old.into_iter().filter(|own| !known.contains(&own.id)));
    }
    Ok(found)
}

/// The rows of a query, each with its number and the texts of the other columns.
fn rows(database: &Database, query: &str, n_columns: usize) -> Result<Vec<(i64, Vec<String>)>, FormError> {
    let mut statement = database.connection().prepare(&format!("{query} LIMIT {MAX_ROWS}"))?;
    let rows = statement.query_map([], |row| {
        let texts: Result<Vec<String>, _> = (1..=n_columns).map(|n| row.get_ref(n).map(text_of)).collect();
        Ok((row.get(0)?, texts?))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn threads(database: &Database) -> Result<Vec<Assembled>, FormError> {
    let mut parts: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let query = "SELECT rowid, message_hash, type, text, payload FROM parts ORDER BY message_hash, position";
    for (_, row) in rows(database, query, 4)? {
        let [hash, kind, text, payload] = row.as_slice() else { continue };
        let mut part: Value = serde_json::from_str(payload).unwrap_or_else(|_| json!({}));
        if part.is_object() {
            part["type"] = json!(kind);
            part["text"] = json!(text);
            parts.entry(hash.clone()).or_default().push(part);
        }
    }
    let messages: BTreeMap<String, (i64, String, String)> =
        rows(database, "SELECT rowid, hash, parent_hash, role FROM messages", 3)?
            .into_iter()
            .filter_map(|(id, row)| {
                let [hash, parent, role] = <[String; 3]>::try_from(row).ok()?;
                Some((hash, (id, parent, role)))
            })
            .collect();
    let models: BTreeMap<String, String> =
        rows(database, "SELECT rowid, thread_id, model FROM turns ORDER BY datetime_utc", 2)?
            .into_iter()
            .filter_map(|(_, row)| <[String; 2]>::try_from(row).ok().map(|[thread, model]| (thread, model)))
            .collect();
    let mut found = Vec::new();
    for (_, row) in rows(database, "SELECT rowid, id, tip_message_hash FROM threads ORDER BY id", 2)? {
        let [id, tip] = row.as_slice() else { continue };
        let mut thread = session(id, models.get(id).map(String::as_str).unwrap_or_default());
        let mut next = messages.get_key_value(tip);
        while let Some((hash, (n, parent, role))) = next.filter(|_| thread.records.len() < MAX_MESSAGES) {
            let own = parts.get(hash).cloned().unwrap_or_default();
            let record = json!({ "role": role, "parts": own });
            thread.records.push((Place::in_row("messages", *n, ""), record.to_string()));
            next = messages.get_key_value(parent);
        }
        thread.records.reverse();
        found.push(thread);
    }
    Ok(found)
}

fn conversations(database: &Database) -> Result<Vec<Assembled>, FormError> {
    let has_tools = database.has("tool_calls", &["response_id", "name", "arguments", "tool_call_id"])
        && database.has("tool_results", &["response_id", "name", "output", "tool_call_id"]);
    let tools = |query: &str, kind: &str, field: &str| -> Result<BTreeMap<String, Vec<Value>>, FormError> {
        let mut found: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (_, row) in if has_tools { rows(database, query, 4)? } else { Vec::new() } {
            let [response, name, said, id] = row.as_slice() else { continue };
            let part = json!({ "type": kind, "name": name, field: said, "tool_call_id": id });
            found.entry(response.clone()).or_default().push(part);
        }
        Ok(found)
    };
    let query = "SELECT id, response_id, name, arguments, tool_call_id FROM tool_calls ORDER BY id";
    let mut calls = tools(query, "tool_call", "arguments")?;
    let query = "SELECT id, response_id, name, output, tool_call_id FROM tool_results ORDER BY id";
    let mut results = tools(query, "tool_result", "output")?;
    let mut found: BTreeMap<String, Assembled> = BTreeMap::new();
    let query = "SELECT rowid, conversation_id, id, model, prompt, response FROM responses ORDER BY id";
    for (n, row) in rows(database, query, 5)? {
        let [conversation, id, model, prompt, response] = row.as_slice() else { continue };
        let own = found.entry(conversation.clone()).or_insert_with(|| session(conversation, model));
        let text = |text: &str| json!({ "type": "text", "text": text });
        let mut add = |role: &str, field: &str, parts: Vec<Value>| {
            let record = json!({ "role": role, "parts": parts });
            own.records.push((Place::in_row("responses", n, field), record.to_string()));
        };
        add("tool", "/tool_results", results.remove(id).unwrap_or_default());
        add("user", "/prompt", vec![text(prompt)]);
        let mut said = vec![text(response)];
        said.extend(calls.remove(id).unwrap_or_default());
        add("assistant", "/response", said);
    }
    Ok(found.into_values().collect())
}

/// A session without messages. The name of a model shows its plugin, and with it the dialect.
fn session(id: &str, model: &str) -> Assembled {
    let begins = |starts: &[&str]| starts.iter().any(|start| model.starts_with(start));
    let dialect = match () {
        () if begins(&["anthropic/", "claude-"]) => Some(Dialect::AnthropicMessages),
        () if begins(&["gemini", "gemini/"]) => Some(Dialect::Gemini),
        () if begins(&["mistral/"]) => Some(Dialect::Mistral),
        () if begins(&["gpt-", "chatgpt", "o1", "o3", "o4", "openrouter/", "groq/"]) => {
            Some(Dialect::OpenaiChat)
        }
        () => None,
    };
    let own = Some(json!({ "model": model.strip_prefix("anthropic/").unwrap_or(model) }).to_string());
    Assembled { id: Some(id.to_owned()), dialect, own, generation: FORM.generation, ..Assembled::default() }
}
