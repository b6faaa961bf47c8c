//! OpenAI Agents SDK: `SQLiteSession`, a database with one row per item of the Responses API. In the
//! JavaScript SDK, a JSON list of items.
//!
//! The tables are `agent_sessions(session_id, created_at, updated_at)` and `agent_messages(id, session_id,
//! message_data, created_at)`, ordered by `id`. `AdvancedSQLiteSession` adds `message_structure(message_id,
//! branch_id, sequence_number)` and starts on the branch `main`. `EncryptedSession` stores envelopes, which
//! cannot be judged. Source: the package openai-agents 0.24.0, `agents/memory/sqlite_session.py` and
//! `agents/extensions/memory`, <https://github.com/openai/openai-agents-python>. A program may choose other
//! table names; those stores are not recognised.
//!
//! `SQLAlchemySession` has the same tables with `session_id VARCHAR`, and reads them by `created_at`, then `id`
//! (`agents/extensions/memory/sqlalchemy_session.py` of openai-agents 0.24.0).

mod item;
mod list;
mod send;
#[cfg(test)]
mod tests;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::Dialect;
use brickbat_rules::histories::{Block as Content, Role};
use serde_json::Value;

use super::rows::{bytes_of, name_of, text_of};
use super::{Edit, Look, ReadError, Store, WriteError};
use crate::sqlite::{Database, MAX_ROWS, is_database};
use crate::{Ending, Files, FormError, Lost, Message, Place, Product, Sent, Session, Trouble, json};

pub(crate) struct OpenaiAgents;

const TABLE: &str = "agent_messages";

/// The table with the branches of the items, in `AdvancedSQLiteSession`.
const BRANCHES: &str = "message_structure";

/// The id that the SDK gives to items from an API other than Responses (`agents/models/fake_id.py`).
const FAKE_ID: &str = "__fake_id__";

impl Store for OpenaiAgents {
    fn owns(&self, look: &Look<'_>) -> bool {
        if !is_database(look.main()) {
            return look.is_list(list::is_list_of_items);
        }
        let Some(database) = look.database() else { return false };
        let Ok(tables) = database.tables() else { return false };
        let columns = database.columns(TABLE);
        let has = |name: &str| columns.iter().any(|column| column == name);
        ["agent_sessions", TABLE].iter().all(|name| tables.iter().any(|table| table == name))
            && has("id")
            && has("session_id")
            && has("message_data")
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        if !is_database(files.main()) {
            return list::read(files);
        }
        let form = |error: FormError| error.of(Product::OpenaiAgents);
        let database = Database::open(files).map_err(|error| form(error.into()))?;
        let main = main_branch(&database).map_err(form)?;
        let order = order(&database);
        let sessions = sessions(&database, order).map_err(|error| form(error.into()))?;
        let branch = match main {
            Some(_) => "the rows of the branch `main`",
            None if order == BY_TIME => "all rows, in the order of their times and ids",
            None => "all rows, in the order of their ids",
        };
        Ok(sessions.into_iter().map(|(id, rows)| session(id, rows, main.as_ref(), branch)).collect())
    }

    fn send(&self, session: &Session) -> Sent {
        match session.generation {
            list::GENERATION => send::send_list(session),
            _ => send::send(session),
        }
    }

    fn fills_open_tail(&self, session: &Session) -> Option<&'static str> {
        let is_list = session.generation == list::GENERATION;
        (!is_list).then_some("drops calls without a result, and the reasoning before them")
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        match session.generation {
            list::GENERATION => list::write(files, session, edits),
            _ => write::write(files, session, edits),
        }
    }
}

/// A row as read: its id, and the bytes of its item, if any.
type Found = (i64, Option<Vec<u8>>);

/// The order in which `SQLAlchemySession` reads its rows.
const BY_TIME: &str = "created_at, rowid";

/// The order in which the session class that created the table reads the rows.
fn order(database: &Database) -> &'static str {
    let query = "SELECT type FROM pragma_table_info(?1) WHERE name = 'session_id'";
    let kind = database.connection().query_row(query, [TABLE], |row| row.get::<_, String>(0));
    let is_sqlalchemy = kind.is_ok_and(|kind| kind.to_ascii_uppercase().starts_with("VARCHAR"))
        && database.has(TABLE, &["created_at"]);
    if is_sqlalchemy { BY_TIME } else { "rowid" }
}

/// Each session's rows, in this order.
fn sessions(database: &Database, order: &str) -> Result<BTreeMap<String, Vec<Found>>, rusqlite::Error> {
    let query =
        format!("SELECT rowid, session_id, message_data FROM {TABLE} ORDER BY {order} LIMIT {MAX_ROWS}");
    let mut statement = database.connection().prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut sessions: BTreeMap<String, Vec<Found>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let session = text_of(row.get_ref(1)?);
        let item = bytes_of(row.get_ref(2)?);
        sessions.entry(session).or_default().push((row.get(0)?, item));
    }
    Ok(sessions)
}

/// Each row's position on the branch `main`. `None` if the store has no branches.
fn main_branch(database: &Database) -> Result<Option<BTreeMap<i64, i64>>, FormError> {
    if !database.tables()?.iter().any(|table| table == BRANCHES) {
        return Ok(None);
    }
    let query = format!(
        "SELECT message_id, sequence_number FROM {BRANCHES} WHERE branch_id = 'main' \
         AND typeof(message_id) = 'integer' AND typeof(sequence_number) = 'integer' LIMIT {MAX_ROWS}"
    );
    let mut statement = database.connection().prepare(&query)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Some(rows.collect::<Result<_, _>>()?))
}

fn session(
    id: String,
    mut rows: Vec<Found>,
    main: Option<&BTreeMap<i64, i64>>,
    branch: &'static str,
) -> Session {
    let n_records = rows.len();
    let mut others = Vec::new();
    if let Some(main) = main {
        (rows, others) = rows.into_iter().partition(|(id, _)| main.contains_key(id));
        rows.sort_by_key(|(id, _)| (main.get(id).copied(), *id));
    }
    let mut reader = Reader::default();
    let placed = |rows: Vec<Found>| -> Vec<(Place, Option<Vec<u8>>)> {
        rows.into_iter().map(|(row, item)| (Place::in_row(TABLE, row, ""), item)).collect()
    };
    let messages = reader.messages(placed(rows));
    let off_branch = reader.messages(placed(others));
    let dialect = if reader.is_fake { Dialect::OpenaiChat } else { Dialect::OpenaiResponses };
    Session {
        id: Some(id),
        dialect: Some(dialect),
        // If items are encrypted, the next request is unknown.
        messages: if reader.is_encrypted { Vec::new() } else { messages },
        n_forks: usize::from(!off_branch.is_empty()),
        off_branch,
        n_records,
        n_compactions: reader.n_compactions,
        troubles: reader.troubles,
        unknown: reader.unknown.into_iter().collect(),
        ..Session::new(Product::OpenaiAgents, "SQLite rows", branch)
    }
}

/// Facts collected while rows are read.
#[derive(Default)]
struct Reader {
    troubles: Vec<Trouble>,
    unknown: BTreeSet<String>,
    n_compactions: usize,
    is_fake: bool,
    is_encrypted: bool,
    /// The tool name of each call.
    names: BTreeMap<String, String>,
}

impl Reader {
    /// Consecutive items of the model form one message, and so do consecutive results.
    fn messages(&mut self, items: Vec<(Place, Option<Vec<u8>>)>) -> Vec<Message> {
        let mut messages: Vec<Message> = Vec::new();
        for (place, bytes) in items {
            let value = match bytes.as_deref().map(|bytes| (bytes, json::parse(bytes))) {
                Some((_, Some(value @ Value::Object(_)))) => value,
                found => {
                    let words =
                        found.map_or("no text".to_owned(), |(bytes, _)| json::trouble(bytes).to_string());
                    self.troubles.push(Trouble { place, words, loses: Some(Lost::Data("one item")) });
                    continue;
                }
            };
            let Some(message) = self.message(&value, place) else { continue };
            match messages.last_mut() {
                Some(last) if is_one_go(last, &message) => {
                    last.blocks.extend(message.blocks);
                    last.id = last.id.take().or(message.id);
                }
                _ => messages.push(message),
            }
        }
        messages
    }

    fn message(&mut self, value: &Value, place: Place) -> Option<Message> {
        if value.get("__enc__").is_some() {
            self.is_encrypted = true;
            self.troubles.push(Trouble { place, words: "an encrypted item".to_owned(), loses: None });
            return None;
        }
        let kind = item::kind(value);
        if !item::is_known(kind) {
            self.unknown.insert(name_of(kind));
        }
        self.is_fake |= json::text(value, "id") == FAKE_ID;
        self.n_compactions += usize::from(kind.starts_with("compaction"));
        let (role, blocks) = item::blocks(value, &place, &mut self.names);
        let id = item::said_id(value, &blocks);
        Some(Message { role, blocks, id, place, ending: Ending::Whole })
    }
}

/// Returns whether an item continues the message before it. A message has only one text's id, so a
/// second text begins another message.
fn is_one_go(last: &Message, next: &Message) -> bool {
    let says =
        |message: &Message| message.blocks.iter().any(|block| matches!(block.content, Content::Text(_)));
    match next.role {
        Role::Assistant => last.role == Role::Assistant && !(says(next) && says(last)),
        Role::Tool => last.role == Role::Tool,
        Role::User | Role::System => false,
    }
}
