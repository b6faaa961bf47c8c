//! goose: SQLite rows, the JSON of an export, and the JSONL of versions before the database.
//!
//! The table is
//! `messages(id, message_id, session_id, role, content_json, created_timestamp, …, metadata_json)`.
//! Messages are ordered by `created_timestamp`, and by `id` within a second (`get_conversation` in
//! `crates/goose/src/session/session_manager.rs`). An export is one object with `conversation`. A
//! JSONL file contains the session on its first line and one message on each later line
//! (`session/legacy.rs`). A message is
//! `{id, role, created, content: […], metadata: {userVisible, agentVisible}}`. Source:
//! <https://github.com/block/goose>, now `aaif-goose/goose`, up to schema 17.

mod message;
mod send;
#[cfg(test)]
mod tests;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use brickbat_rules::Dialect;
use brickbat_rules::histories::Role;
use brickbat_rules::json::{Document, Json};
use serde_json::Value;

use super::rows::{bytes_of, name_of, text_of};
use super::{Edit, Look, ReadError, Store, WriteError};
use crate::json::{self, Line, text};
use crate::names;
use crate::sqlite::{Database, MAX_ROWS, is_database};
use crate::{Files, FormError, Lost, Message, Place, Product, Sent, Session, Trouble};
use message::Read;

pub(crate) struct Goose;

const TABLE: &str = "messages";

/// The values of [`Session::generation`] for a database, an export and lines.
const ROWS: &str = "SQLite rows";
const EXPORT: &str = "JSON export";
const LINES: &str = "JSONL";

/// The newest known schema: `CURRENT_SCHEMA_VERSION` in `session_manager.rs`.
const NEWEST_SCHEMA: u64 = 17;

impl Store for Goose {
    fn owns(&self, look: &Look<'_>) -> bool {
        match is_database(look.main()) {
            true => look.database().is_some_and(has_its_tables),
            false => {
                let is_headed = || look.is_headed(is_header) && is_lines(look.main());
                look.is_object(is_export) || is_headed() || is_bare(look)
            }
        }
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let form = |error: FormError| error.of(Product::Goose);
        if is_database(files.main()) {
            let database = Database::open(files).map_err(|error| form(error.into()))?;
            return read_rows(&database).map_err(form);
        }
        match Look::of(files).is_object(is_export) {
            true => Ok(vec![read_export(files.main()).ok_or_else(|| form(FormError::Shape("no JSON")))?]),
            false => Ok(vec![read_lines(files.main())]),
        }
    }

    fn send(&self, session: &Session) -> Sent {
        send::send(session)
    }

    fn fills_open_tail(&self, _: &Session) -> Option<&'static str> {
        Some("drops calls without a result")
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        write::write(files, session, edits)
    }
}

fn has_its_tables(database: &Database) -> bool {
    let Ok(tables) = database.tables() else { return false };
    let columns = database.columns(TABLE);
    let needed = ["id", "session_id", "role", "content_json", "created_timestamp"];
    ["messages", "schema_version", "sessions"].iter().all(|name| tables.iter().any(|table| table == name))
        && needed.iter().all(|name| columns.iter().any(|column| column == name))
}

/// Returns whether the file is an object with a conversation in goose's form, and with the folder that every
/// session has.
fn is_export(root: Json<'_, '_>) -> bool {
    let [folder, list] = root.pick(["working_dir", "conversation"]);
    let Some(list) = list.filter(|list| list.is_array()) else { return false };
    folder.is_some_and(Json::is_str) && list.items().next().is_some_and(is_message)
}

/// Returns whether the first line is a session and the second a message in goose's form.
fn is_lines(bytes: &[u8]) -> bool {
    let mut lines = json::lines(bytes);
    let Some(first) = lines.next().and_then(|line| Document::parse(line.bytes).ok()) else { return false };
    let second = lines.find_map(|line| Document::parse(line.bytes).ok());
    is_header(first.root()) && second.is_some_and(|document| is_message(document.root()))
}

/// Returns whether a file has the lines of a session without their header, as people copy them.
fn is_bare(look: &Look<'_>) -> bool {
    let lines = look.head();
    let is_call = |part: Json<'_, '_>| {
        let kind = part.field("type");
        kind.is("toolRequest") || kind.is("toolResponse")
    };
    let has_calls = |line: &Document<'_>| line.root().field("content").items().any(is_call);
    lines.iter().all(|line| is_message(line.root())) && lines.iter().any(has_calls)
}

/// Returns whether the lines begin with a header. Lines that people copied may lack it.
fn has_header(bytes: &[u8]) -> bool {
    let first = json::lines(bytes).next().and_then(|line| Document::parse(line.bytes).ok());
    // A torn first line is the header's.
    first.is_none_or(|first| !is_message(first.root()))
}

fn is_header(line: Json<'_, '_>) -> bool {
    let [folder, count, role] = line.pick(["working_dir", "message_count", "role"]);
    folder.is_some_and(Json::is_str) && count.is_some() && role.is_none()
}

fn is_message(message: Json<'_, '_>) -> bool {
    let [role, created, content] = message.pick(["role", "created", "content"]);
    let has_role = role.is_some_and(|role| role.is("user") || role.is("assistant"));
    let is_content = |content: Json<'_, '_>| {
        content.is_array() && content.items().all(|item| item.is_object() && item.field("type").is_str())
    };
    has_role && created.is_some_and(|at| at.as_number().is_some()) && content.is_some_and(is_content)
}

fn read_rows(database: &Database) -> Result<Vec<Session>, FormError> {
    let schema = "SELECT max(version) FROM schema_version";
    let schema: Option<i64> = database.connection().query_row(schema, [], |row| row.get(0))?;
    let schema = u64::try_from(schema.unwrap_or_default()).unwrap_or_default();
    if schema > NEWEST_SCHEMA {
        return Err(FormError::Newer { unit: "schema", found: schema, newest: NEWEST_SCHEMA });
    }
    let columns = database.columns(TABLE);
    let optional =
        |name: &'static str| if columns.iter().any(|column| column == name) { name } else { "NULL" };
    let query = format!(
        "SELECT rowid, session_id, role, content_json, {}, {} FROM {TABLE} \
         ORDER BY created_timestamp, rowid LIMIT {MAX_ROWS}",
        optional("metadata_json"),
        optional("message_id"),
    );
    let mut statement = database.connection().prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut readers: BTreeMap<String, Reader> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let cell = |n| row.get_ref(n).map(|cell| bytes_of(cell).unwrap_or_default());
        let text = |n| row.get_ref(n).map(text_of);
        let place = Place::in_row(TABLE, row.get(0)?, "");
        let reader = readers.entry(text(1)?).or_default();
        reader.n_records += 1;
        let content = cell(3)?;
        let Some(Value::Array(content)) = json::parse(&content) else {
            let words = json::trouble(&content).to_string();
            reader.troubles.push(Trouble { place, words, loses: Some(Lost::Data("one message")) });
            continue;
        };
        let metadata = json::parse(&cell(4)?).unwrap_or_default();
        let id = Some(text(5)?).filter(|id| !id.is_empty());
        let role = text(2)?;
        // goose skips rows with other roles.
        if !matches!(role.as_str(), "user" | "assistant") {
            reader.unknown.insert("a role that is neither the user's nor the model's".to_owned());
            continue;
        }
        let at = |n: usize| Place { pointer: format!("/{n}"), ..place.clone() };
        reader.take(message::read(&role, id, &content, &metadata, &place, at));
    }
    let mut providers = providers(database);
    let session = |(id, reader): (String, Reader)| {
        let (provider, model) = providers.remove(&id).unwrap_or_default();
        reader.session(ROWS, Some(id), &provider, model)
    };
    Ok(readers.into_iter().map(session).collect())
}

/// Each session's provider and model, as far as its row contains them.
fn providers(database: &Database) -> BTreeMap<String, (String, Option<String>)> {
    let mut providers = BTreeMap::new();
    // Databases before schema 6 lack these columns.
    let query = format!("SELECT id, provider_name, model_config_json FROM sessions LIMIT {MAX_ROWS}");
    let Ok(mut statement) = database.connection().prepare(&query) else { return providers };
    let rows = statement.query_map([], |row| {
        let config = bytes_of(row.get_ref(2)?).and_then(|config| json::parse(&config));
        let model = config.map(|config| text(&config, "model_name").to_owned());
        let provider = text_of(row.get_ref(1)?);
        Ok((text_of(row.get_ref(0)?), (provider, model.filter(|model| !model.is_empty()))))
    });
    if let Ok(rows) = rows {
        providers.extend(rows.map_while(Result::ok));
    }
    providers
}

fn read_export(bytes: &[u8]) -> Option<Session> {
    let document = Document::parse(bytes).ok()?;
    let root = document.root();
    let mut reader = Reader::default();
    for (n, found) in root.field("conversation").items().enumerate() {
        reader.n_records += 1;
        let place = Place::in_file(span(found, 0), format!("/conversation/{n}"));
        reader.object(found, &place, 0);
    }
    let word = |json: Json<'_, '_>| json.as_str().map(|text| text.into_owned());
    let provider = word(root.field("provider_name")).unwrap_or_default();
    let model = word(root.field("model_config").field("model_name"));
    Some(reader.session(EXPORT, word(root.field("id")), &provider, model))
}

fn read_lines(bytes: &[u8]) -> Session {
    let mut reader = Reader::default();
    for line in json::lines(bytes).skip(usize::from(has_header(bytes))) {
        reader.n_records += 1;
        reader.line(line);
    }
    reader.session(LINES, None, "", None)
}

fn span(json: Json<'_, '_>, start: usize) -> Range<u64> {
    let span = json.span();
    (start + span.start) as u64..(start + span.end) as u64
}

/// Facts collected while messages are read.
#[derive(Default)]
struct Reader {
    messages: Vec<Message>,
    off_branch: Vec<Message>,
    n_records: usize,
    n_compactions: usize,
    is_hidden: bool,
    troubles: Vec<Trouble>,
    unknown: BTreeSet<String>,
    is_unknown: bool,
}

impl Reader {
    fn line(&mut self, line: Line<'_>) {
        let place = Place::in_line(line.n, line.span(), "");
        match Document::parse(line.bytes) {
            Ok(document) => self.object(document.root(), &place, line.start),
            // goose skips content that it cannot read here.
            Err(_) => {
                let words = json::trouble(line.bytes).to_string();
                self.troubles.push(Trouble { place, words, loses: Some(Lost::Data("one message")) });
            }
        }
    }

    /// A message in a file. `start` is the offset of its text.
    fn object(&mut self, found: Json<'_, '_>, place: &Place, start: usize) {
        let value = found.to_value();
        let spans: Vec<Range<u64>> = found.field("content").items().map(|item| span(item, start)).collect();
        let at = |n: usize| {
            let span = spans.get(n).cloned().unwrap_or_default();
            let pointer = format!("{}/content/{n}", place.pointer);
            Place { start: span.start, end: span.end, pointer, ..place.clone() }
        };
        let id = value.get("id").and_then(Value::as_str).map(str::to_owned);
        let content = value.get("content").and_then(Value::as_array);
        let Some(content) = content.filter(|_| is_message(found)) else {
            let words = "a record that is not a message".to_owned();
            self.troubles.push(Trouble {
                place: place.clone(),
                words,
                loses: Some(Lost::Data("one message")),
            });
            return;
        };
        let metadata = value.get("metadata").unwrap_or(&Value::Null);
        self.take(message::read(text(&value, "role"), id, content, metadata, place, at));
    }

    fn take(&mut self, read: Read) {
        self.unknown.extend(read.unknown.iter().map(|kind| name_of(kind)));
        if let Some(kind) = read.unknown.first() {
            let words = format!("content of an unknown form: {}", name_of(kind));
            self.troubles.push(Trouble { place: read.message.place.clone(), words, loses: None });
            self.is_unknown = true;
        }
        if !read.is_hidden && self.is_hidden {
            self.n_compactions += 1;
        }
        // A message that only the user sees is a note of goose, and does not mean that anything was
        // compacted.
        if !read.message.blocks.is_empty() {
            self.is_hidden = read.is_hidden;
        }
        if read.message.blocks.is_empty() && read.has_content {
            return;
        }
        match read.is_hidden {
            true => self.off_branch.push(read.message),
            false => self.messages.push(read.message),
        }
    }

    fn session(
        self,
        generation: &'static str,
        id: Option<String>,
        provider: &str,
        model: Option<String>,
    ) -> Session {
        let dialect = dialect_of(provider, model.as_deref().unwrap_or_default());
        let branch = match generation {
            ROWS => "all rows that the agent sees, in the order of their times and ids",
            _ => "all messages that the agent sees, in the order of the file",
        };
        let mut session = Session {
            id,
            dialect,
            model,
            messages: self.messages,
            off_branch: self.off_branch,
            n_records: self.n_records,
            n_compactions: self.n_compactions,
            troubles: self.troubles,
            unknown: self.unknown.into_iter().collect(),
            ..Session::new(Product::Goose, generation, branch)
        };
        message::name_results(&mut session.messages, &mut session.off_branch);
        if self.is_unknown {
            // A conversation with an unknown part cannot be judged.
            session.messages.clear();
        }
        session
    }
}

/// The dialect of a provider.
fn dialect_of(provider: &str, model: &str) -> Option<Dialect> {
    // Newer models use the Responses API, which the store does not show.
    let may_be_either = provider == "openai" && (model.starts_with("gpt-5") || model.contains("codex"));
    // The user's own providers speak Chat Completions unless their definition names another engine, which the session does
    // not show (`engine` in `crates/goose/src/config/declarative_providers.rs`).
    if provider.starts_with("custom_") && !model.contains("claude") {
        return Some(Dialect::OpenaiChat);
    }
    if may_be_either { None } else { names::dialect_of(|names| names.goose, provider, model) }
}

/// The role of a message. goose stores results in user messages.
fn role_of(role: &str, has_results: bool) -> Role {
    match (role, has_results) {
        ("assistant", _) => Role::Assistant,
        (_, true) => Role::Tool,
        (_, false) => Role::User,
    }
}
