//! LangGraph: the checkpoints of `SqliteSaver`.
//!
//! `checkpoints(thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)`
//! contains the complete state after each step. The newest id in each thread and namespace counts. Its
//! messages are `channel_values.messages`, each a Python object in MessagePack.
//! `writes(…, checkpoint_id, task_id, idx, channel, type, value)` contains the writes from each task in the
//! next step. If that step did not end, the results from its finished tools exist only there. The table
//! also keeps the writes from earlier steps. LangGraph never sends them after another user message, so they
//! are off the branch here, where the repair looks for real results. Source: langgraph 1.2.22,
//! langgraph-checkpoint 4.3.2 and langgraph-checkpoint-sqlite 3.1.2,
//! <https://github.com/langchain-ai/langgraph>.
//!
//! Namespaces of a single task, which contain a `:`, belong to sub-agents and are not conversations. Channels
//! that store only differences (`DeltaChannel`, in beta) and a program's own serialisers are not supported.

mod dump;
mod message;
mod msgpack;
mod postgres;
mod redis;
mod send;
#[cfg(test)]
mod tests;
mod write;
mod write_json;

use std::collections::{BTreeMap, BTreeSet};

use super::rows::{bytes_of, name_of, text_of};
use super::{Edit, Look, ReadError, Relapse, Store, WriteError};
use crate::sqlite::{Database, MAX_ROWS, is_database};
use crate::{Files, FormError, Message, Place, Planned, Product, RecordError, Sent, Session, Trouble, json};
use message::Stored;

pub(crate) use postgres::LanggraphPostgres;
pub(crate) use redis::LanggraphRedis;

pub(crate) struct Langgraph;

const CHECKPOINTS: &str = "checkpoints";
const WRITES: &str = "writes";

/// The values of [`Session::generation`] by graph: custom nodes, the nodes `agent` and `tools`, and deepagents, which repairs
/// the history. `create_react_agent` has the second, checks the history itself, and cannot be told from a graph that is like
/// it.
const ANY_GRAPH: &str = "SQLite checkpoints";
const REACT_AGENT: &str = "SQLite checkpoints of an agent and its tools";
const DEEP_AGENT: &str = "SQLite checkpoints of deepagents";

/// The values of [`Session::branch`].
const NEWEST: &str = "the newest checkpoint of the thread";
const WAITING: &str = "the newest checkpoint of the thread, which waits for an answer to an interrupt";

/// The nodes of `create_react_agent` (`langgraph/prebuilt/chat_agent_executor.py`).
const REACT_NODES: [&str; 7] = [
    "__input__",
    "__start__",
    "agent",
    "generate_structured_response",
    "post_model_hook",
    "pre_model_hook",
    "tools",
];

impl Store for Langgraph {
    fn owns(&self, look: &Look<'_>) -> bool {
        if !is_database(look.main()) {
            return false;
        }
        let Some(database) = look.database() else { return false };
        let Ok(tables) = database.tables() else { return false };
        let has = |table: &str, needed: &[&str]| {
            let columns = database.columns(table);
            tables.iter().any(|name| name == table)
                && needed.iter().all(|name| columns.iter().any(|column| column == name))
        };
        has(CHECKPOINTS, &["thread_id", "checkpoint_ns", "checkpoint_id", "type", "checkpoint"])
            && has(WRITES, &["thread_id", "checkpoint_ns", "checkpoint_id", "channel", "type", "value"])
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        sessions(files).map_err(|error| error.of(Product::Langgraph))
    }

    fn send(&self, session: &Session) -> Sent {
        send::send(session)
    }

    fn fills_open_tail(&self, session: &Session) -> Option<&'static str> {
        fills_open_tail(session)
    }

    fn another_way(&self, session: &Session) -> Option<&'static str> {
        session.has_open_tail().then_some(RUNS_AGAIN)
    }

    fn relapse(&self, session: &Session, edits: &[Planned]) -> Option<&'static Relapse> {
        let is_answered = edits.iter().any(|planned| matches!(planned.edit, Edit::Synthesise { .. }));
        (session.has_open_tail() && is_answered).then_some(&ANSWERED_TWICE)
    }

    fn write(&self, files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        write::write(files, session, edits)
    }
}

/// Measured with langgraph 1.2.24: the checkpoint still has the step of the tools before it.
const RUNS_AGAIN: &str = "`invoke(None)` with the thread's `config` resumes the step that did not end: it runs the calls again, and then \
     the thread needs no repair.";

/// Measured in the same way. The step of the tools is a version of a channel, which no edit of the messages changes.
const ANSWERED_TWICE: Relapse = Relapse {
    words: "This repair is for a new message. `invoke(None)` resumes the step of the tools that did not end: it runs the calls \
            again, and each gets a second result.",
    way_out: "Continue with a new message, which drops that step.",
    source: "https://github.com/langchain-ai/langgraph/issues/4289",
};

fn fills_open_tail(session: &Session) -> Option<&'static str> {
    match (session.branch, session.generation) {
        (WAITING, _) => Some("runs its tools when the interrupt is answered"),
        (_, DEEP_AGENT | postgres::DEEP_AGENT | redis::DEEP_AGENT) => Some("fills calls without a result"),
        _ => None,
    }
}

fn sessions(files: &Files) -> Result<Vec<Session>, FormError> {
    let database = Database::open(files)?;
    let writes = Writes::of(&database)?;
    let mut sessions = Vec::new();
    for (thread, newest) in threads(&database)? {
        sessions.extend(session(&database, thread, newest, &writes)?);
    }
    Ok(sessions)
}

/// The id of a thread, and its namespace.
type Thread = (String, String);

/// The newest checkpoint of a thread.
#[derive(Default)]
struct Newest {
    row: i64,
    id: String,
    n_checkpoints: usize,
    n_forks: usize,
}

fn threads(database: &Database) -> Result<BTreeMap<Thread, Newest>, rusqlite::Error> {
    let parent = match database.columns(CHECKPOINTS).iter().any(|column| column == "parent_checkpoint_id") {
        true => "parent_checkpoint_id",
        false => "NULL",
    };
    let query = format!(
        "SELECT rowid, thread_id, checkpoint_ns, checkpoint_id, {parent} FROM {CHECKPOINTS} \
         ORDER BY thread_id, checkpoint_ns, checkpoint_id LIMIT {MAX_ROWS}"
    );
    let mut statement = database.connection().prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut threads: BTreeMap<Thread, Newest> = BTreeMap::new();
    let mut parents: BTreeSet<(Thread, String)> = BTreeSet::new();
    while let Some(row) = rows.next()? {
        let text = |n| row.get_ref(n).map(text_of);
        let thread = (text(1)?, text(2)?);
        if thread.1.contains(':') {
            continue;
        }
        let newest = threads.entry(thread.clone()).or_default();
        (newest.row, newest.id) = (row.get(0)?, text(3)?);
        newest.n_checkpoints += 1;
        let parent = text(4)?;
        if !parent.is_empty() {
            newest.n_forks += usize::from(!parents.insert((thread, parent)));
        }
    }
    Ok(threads)
}

/// The writes of the tasks, indexed once.
#[derive(Default)]
struct Writes {
    /// The rows with messages, by thread.
    messages: BTreeMap<Thread, Vec<i64>>,
    /// Checkpoints with a task that waits for an answer.
    waiting: BTreeSet<(Thread, String)>,
}

impl Writes {
    fn of(database: &Database) -> Result<Writes, rusqlite::Error> {
        let query = format!(
            "SELECT rowid, thread_id, checkpoint_ns, checkpoint_id, channel = '__interrupt__' FROM {WRITES} \
             WHERE channel = '__interrupt__' OR channel = 'messages' AND type = 'msgpack' \
             ORDER BY checkpoint_id, rowid LIMIT {MAX_ROWS}"
        );
        let mut statement = database.connection().prepare(&query)?;
        let mut rows = statement.query([])?;
        let mut writes = Writes::default();
        while let Some(row) = rows.next()? {
            let text = |n| row.get_ref(n).map(text_of);
            let thread = (text(1)?, text(2)?);
            match row.get(4)? {
                true => drop(writes.waiting.insert((thread, text(3)?))),
                false => writes.messages.entry(thread).or_default().push(row.get(0)?),
            }
        }
        Ok(writes)
    }
}

/// The session of a thread. `None` if its graph stores no messages.
fn session(
    database: &Database,
    thread: Thread,
    newest: Newest,
    writes: &Writes,
) -> Result<Option<Session>, rusqlite::Error> {
    let place = Place::in_row(CHECKPOINTS, newest.row, "");
    let mut reader = Reader::default();
    let state = match checkpoint(database, newest.row)? {
        Ok(state) => state,
        Err(error) => {
            reader.troubles.push(Trouble { place, words: error.to_string(), loses: None });
            State::default()
        }
    };
    if !state.has_messages && reader.troubles.is_empty() {
        return Ok(None);
    }
    if state.is_delta {
        let words = "the messages are stored as differences, which Brickbat does not read".to_owned();
        reader.troubles.push(Trouble {
            place: Place::in_row(CHECKPOINTS, newest.row, ""),
            words,
            loses: None,
        });
    }
    let mut messages = Vec::new();
    for (n, stored) in state.messages.into_iter().enumerate() {
        let place = Place::in_row(CHECKPOINTS, newest.row, format!("{MESSAGES}/{n}"));
        messages.extend(reader.message(stored.as_ref(), place));
    }
    if reader.is_unknown {
        messages.clear();
    }
    let off_branch = reader.written(database, writes.messages.get(&thread).map_or(&[], Vec::as_slice))?;
    let waiting = (thread, newest.id);
    let is_waiting = writes.waiting.contains(&waiting);
    let (name, namespace) = waiting.0;
    let (dialect, model) = reader.provider.map_or((None, None), |(dialect, model)| (Some(dialect), model));
    Ok(Some(Session {
        id: Some(if namespace.is_empty() { name } else { format!("{name}/{namespace}") }),
        dialect,
        model,
        messages,
        off_branch,
        n_records: newest.n_checkpoints,
        n_compactions: reader.n_summaries,
        n_forks: newest.n_forks,
        troubles: reader.troubles,
        unknown: reader.unknown.into_iter().collect(),
        ..Session::new(Product::Langgraph, state.graph, if is_waiting { WAITING } else { NEWEST })
    }))
}

/// The pointer to the messages in a checkpoint.
const MESSAGES: &str = "/channel_values/messages";

/// The state in a checkpoint.
struct State {
    /// The messages. `None` for a message in an unknown form.
    messages: Vec<Option<Stored>>,
    has_messages: bool,
    is_delta: bool,
    graph: &'static str,
}

impl Default for State {
    fn default() -> State {
        State { messages: Vec::new(), has_messages: false, is_delta: false, graph: ANY_GRAPH }
    }
}

/// The checkpoint in a row. The inner error describes why it cannot be read.
fn checkpoint(database: &Database, row: i64) -> Result<Result<State, RecordError>, rusqlite::Error> {
    let query = format!("SELECT type, checkpoint FROM {CHECKPOINTS} WHERE rowid = ?1");
    let cells = database.connection().query_row(&query, [row], |row| {
        Ok((bytes_of(row.get_ref(0)?).unwrap_or_default(), bytes_of(row.get_ref(1)?).unwrap_or_default()))
    });
    let (kind, bytes) = cells?;
    Ok(match kind.as_slice() {
        b"msgpack" => msgpack::decode(&bytes).map(|value| state(&value)),
        b"json" => {
            json::parse(&bytes).map(|value| state_of_json(&value)).ok_or_else(|| json::trouble(&bytes))
        }
        kind => Err(RecordError::Type(name_of(&String::from_utf8_lossy(kind)))),
    })
}

fn state(checkpoint: &msgpack::Value) -> State {
    let names = |key: &str| match checkpoint.get(key) {
        Some(msgpack::Value::Map(fields)) => fields.iter().filter_map(|(name, _)| name.as_str()).collect(),
        _ => Vec::new(),
    };
    let nodes: Vec<&str> = names("versions_seen");
    let messages = match checkpoint.get("channel_values").and_then(|values| values.get("messages")) {
        // A complete value among differences.
        Some(msgpack::Value::Object(7, inner)) => Some(inner.as_ref()),
        found => found,
    };
    let is_kept = names("channel_versions").contains(&"messages");
    State {
        has_messages: messages.is_some() || is_kept,
        is_delta: messages.is_none() && is_kept,
        messages: messages
            .map(|list| list.items().iter().map(Stored::of_msgpack).collect())
            .unwrap_or_default(),
        graph: graph(&nodes),
    }
}

fn state_of_json(checkpoint: &serde_json::Value) -> State {
    let messages = checkpoint.pointer(MESSAGES).and_then(serde_json::Value::as_array);
    let nodes = checkpoint.get("versions_seen").and_then(serde_json::Value::as_object);
    let nodes: Vec<&str> = nodes.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    State {
        has_messages: messages.is_some(),
        is_delta: false,
        messages: messages.map(|list| list.iter().map(Stored::of_json).collect()).unwrap_or_default(),
        graph: graph(&nodes),
    }
}

fn graph(nodes: &[&str]) -> &'static str {
    let has = |name: &str| nodes.contains(&name);
    if nodes.iter().any(|node| node.starts_with("PatchToolCallsMiddleware")) {
        return DEEP_AGENT;
    }
    match has("agent") && nodes.iter().all(|node| REACT_NODES.contains(node)) {
        true => REACT_AGENT,
        false => ANY_GRAPH,
    }
}

/// Facts collected while messages are read.
#[derive(Default)]
struct Reader {
    troubles: Vec<Trouble>,
    unknown: BTreeSet<String>,
    is_unknown: bool,
    provider: Option<(brickbat_rules::Dialect, Option<String>)>,
    /// The tool name of each call.
    names: BTreeMap<String, String>,
    /// The ids of the messages that were read.
    ids: BTreeSet<String>,
    n_summaries: usize,
}

impl Reader {
    fn message(&mut self, stored: Option<&Stored>, place: Place) -> Option<Message> {
        let found = stored.and_then(|stored| stored.message(&place, &mut self.names));
        if let Some(stored) = stored {
            self.provider = stored.provider().or(self.provider.take());
            self.ids.extend(stored.id());
            self.n_summaries += usize::from(stored.is_summary());
        }
        if found.is_none() {
            let class = stored.map(|stored| name_of(&stored.class));
            let words = class.map_or("a message of an unknown form".to_owned(), |class| {
                self.unknown.insert(class.clone());
                format!("a message of an unknown class: {class}")
            });
            self.troubles.push(Trouble { place, words, loses: None });
            self.is_unknown = true;
        }
        found
    }

    /// The messages in these rows of `writes` that are not in the newest checkpoint.
    fn written(&mut self, database: &Database, rows: &[i64]) -> Result<Vec<Message>, rusqlite::Error> {
        let query = format!("SELECT value FROM {WRITES} WHERE rowid = ?1");
        let mut statement = database.connection().prepare(&query)?;
        let mut messages = Vec::new();
        for &id in rows {
            let cell = statement.query_row([id], |row| Ok(bytes_of(row.get_ref(0)?)));
            let bytes = cell?.unwrap_or_default();
            let value = match msgpack::decode(&bytes) {
                Ok(value) => value,
                Err(error) => {
                    let place = Place::in_row(WRITES, id, "");
                    self.troubles.push(Trouble { place, words: error.to_string(), loses: None });
                    continue;
                }
            };
            for (n, value) in each(&value).iter().enumerate() {
                let Some(stored) = Stored::of_msgpack(value) else { continue };
                if stored.id().is_some_and(|id| !self.ids.insert(id)) {
                    continue;
                }
                let place = Place::in_row(WRITES, id, format!("/{n}"));
                messages.extend(stored.message(&place, &mut self.names));
            }
        }
        Ok(messages)
    }
}

/// The written messages: a list, or a single one.
fn each(value: &msgpack::Value) -> &[msgpack::Value] {
    match value {
        msgpack::Value::List(items) => items,
        value => std::slice::from_ref(value),
    }
}
