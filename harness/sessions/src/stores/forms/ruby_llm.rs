//! RubyLLM: the tables `chats`, `messages` and `tool_calls` that `acts_as_chat` uses, in SQLite.
//!
//! A result is a message of the role `tool` with the row of its call. RubyLLM sends the messages of a chat by their time, as
//! they are stored. Source: `lib/ruby_llm/active_record/acts_as.rb` and the generated migrations in
//! `lib/generators/ruby_llm/install/templates` of <https://github.com/crmne/ruby_llm>, and
//! <https://github.com/crmne/ruby_llm/issues/269>.

use std::collections::BTreeMap;

use brickbat_rules::histories::Role;
use serde_json::{Value, json};

use super::assembled::{Assembled, Assembly};
use super::{BASE, CallAt, Form, Piece, ResultAt, Saying, Shape, Speaker};
use crate::names::note_provider_of_model;
use crate::sqlite::{Database, MAX_ROWS};
use crate::stores::rows::text_of;
use crate::{Files, FormError, Place, Product};

pub(crate) const FORM: Form = Form {
    product: Product::RubyLlm,
    generation: "SQLite rows",
    other: Some(Assembly { owns: |look| look.database().is_some_and(is_ruby_llm), assemble }),
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named(
            "/role",
            &[
                ("system", Role::System),
                ("developer", Role::System),
                ("user", Role::User),
                ("assistant", Role::Assistant),
                ("tool", Role::Tool),
            ],
        ),
        pieces: &[
            Piece::Result(ResultAt { call: "/answers", name: "/none", output: "/content", failed: None }),
            Piece::Text("/content"),
            Piece::Calls("/calls", CallAt { id: "/id", name: "/name", arguments: "/arguments" }),
        ],
    }]),
    model: &["/model"],
    finish: Some(note_provider_of_model),
    ..BASE
};

const MESSAGES: &str = "messages";
const CALLS: &str = "tool_calls";

fn is_ruby_llm(database: &Database) -> bool {
    database.has(MESSAGES, &["id", "chat_id", "role", "content", "tool_call_id", "created_at"])
        && database.has(CALLS, &["id", "message_id", "tool_call_id", "name", "arguments"])
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let database = Database::open(files)?;
    let mut calls: BTreeMap<i64, Vec<Value>> = BTreeMap::new();
    let mut ids: BTreeMap<i64, String> = BTreeMap::new();
    let query = format!(
        "SELECT id, message_id, tool_call_id, name, arguments FROM {CALLS} ORDER BY id LIMIT {MAX_ROWS}"
    );
    let mut statement = database.connection().prepare(&query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id = row.get_ref(2).map(text_of)?;
        let call = json!({
            "id": id, "name": row.get_ref(3).map(text_of)?, "arguments": row.get_ref(4).map(text_of)?,
        });
        calls.entry(number(row.get_ref(1)?)).or_default().push(call);
        ids.insert(number(row.get_ref(0)?), id);
    }
    let model = if database.has(MESSAGES, &["model_id"]) { "model_id" } else { "NULL" };
    let query = format!(
        "SELECT id, chat_id, role, content, tool_call_id, {model} FROM {MESSAGES} \
         ORDER BY chat_id, created_at, id LIMIT {MAX_ROWS}"
    );
    let mut statement = database.connection().prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut sessions: BTreeMap<i64, Assembled> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (id, chat) = (number(row.get_ref(0)?), number(row.get_ref(1)?));
        let session = sessions.entry(chat).or_insert_with(|| Assembled {
            id: Some(chat.to_string()),
            generation: FORM.generation,
            ..Assembled::default()
        });
        let model = Some(row.get_ref(5).map(text_of)?).filter(|model| !model.is_empty());
        let record = json!({
            "role": row.get_ref(2).map(text_of)?, "content": row.get_ref(3).map(text_of)?,
            "answers": ids.get(&number(row.get_ref(4)?)), "calls": calls.remove(&id).unwrap_or_default(),
            "model": model,
        });
        session.records.push((Place::in_row(MESSAGES, id, ""), record.to_string()));
    }
    Ok(sessions.into_values().collect())
}

/// The number in a cell; 0 if there is none.
fn number(cell: rusqlite::types::ValueRef<'_>) -> i64 {
    cell.as_i64().unwrap_or_default()
}
