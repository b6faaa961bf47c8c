//! LangGraph: a dump of the tables of `PostgresSaver`, as `pg_dump` writes it.
//!
//! `checkpoints` has the state after each step as JSON, without the values that are not plain. Those are in
//! `checkpoint_blobs(thread_id, checkpoint_ns, channel, version, type, blob)`, and `channel_versions` of a checkpoint
//! names the version of each. `checkpoint_writes` is what `writes` is in SQLite. Source: langgraph 1.2.24 and
//! langgraph-checkpoint-postgres 3.2.0, which wrote the stored dumps, <https://github.com/langchain-ai/langgraph>.
//! Releases before 2.0 keep the messages inside the checkpoint, which is not supported.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::dump::{self, DumpRow, DumpTable};
use super::message::Stored;
use super::{NEWEST, Reader, Thread, WAITING, each, graph, msgpack, send};
use crate::stores::rows::name_of;
use crate::stores::{Look, ReadError, Store};
use crate::{Files, FormError, Message, Place, Product, RecordError, Sent, Session, Trouble, json};

pub(crate) struct LanggraphPostgres;

/// The values of [`Session::generation`], as in SQLite.
const ANY_GRAPH: &str = "PostgreSQL dump";
pub(super) const REACT_AGENT: &str = "PostgreSQL dump of an agent and its tools";
pub(super) const DEEP_AGENT: &str = "PostgreSQL dump of deepagents";

const CHECKPOINTS: &str = "checkpoints";
const BLOBS: &str = "checkpoint_blobs";
const WRITES: &str = "checkpoint_writes";

/// The tables as `PostgresSaver.setup` makes them.
const TABLES: &[DumpTable] = &[
    (
        CHECKPOINTS,
        &[
            "thread_id",
            "checkpoint_ns",
            "checkpoint_id",
            "parent_checkpoint_id",
            "type",
            "checkpoint",
            "metadata",
        ],
    ),
    (BLOBS, &["thread_id", "checkpoint_ns", "channel", "version", "type", "blob"]),
    (
        WRITES,
        &[
            "thread_id",
            "checkpoint_ns",
            "checkpoint_id",
            "task_id",
            "idx",
            "channel",
            "type",
            "blob",
            "task_path",
        ],
    ),
];

const MESSAGES: &str = "messages";

impl Store for LanggraphPostgres {
    fn owns(&self, look: &Look<'_>) -> bool {
        let Ok(text) = std::str::from_utf8(look.main()) else { return false };
        // Most files have none of these words.
        text.contains(BLOBS) && [CHECKPOINTS, BLOBS].iter().all(|table| dump::has_data(text, table))
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        sessions(files).map_err(|error| error.of(Product::LanggraphPostgres))
    }

    fn send(&self, session: &Session) -> Sent {
        send::send(session)
    }

    fn fills_open_tail(&self, session: &Session) -> Option<&'static str> {
        super::fills_open_tail(session)
    }

    fn is_written(&self, _: &Session) -> bool {
        false
    }
}

fn sessions(files: &Files) -> Result<Vec<Session>, FormError> {
    let text = std::str::from_utf8(files.main()).map_err(|_| FormError::Shape("not UTF-8"))?;
    let mut tables = dump::rows(text, TABLES);
    let mut table = |name: &str| tables.remove(name).unwrap_or_default();
    let (checkpoints, blobs, writes) = (table(CHECKPOINTS), table(BLOBS), table(WRITES));
    let mut threads: BTreeMap<Thread, Vec<&DumpRow>> = BTreeMap::new();
    for row in &checkpoints {
        let thread = thread(row);
        if !thread.1.contains(':') {
            threads.entry(thread).or_default().push(row);
        }
    }
    let sessions = threads.into_iter().filter_map(|(thread, rows)| session(thread, rows, &blobs, &writes));
    Ok(sessions.collect())
}

fn thread(row: &DumpRow) -> Thread {
    (row.text("thread_id").to_owned(), row.text("checkpoint_ns").to_owned())
}

/// The session of a thread. `None` if its graph stores no messages.
fn session(thread: Thread, rows: Vec<&DumpRow>, blobs: &[DumpRow], writes: &[DumpRow]) -> Option<Session> {
    let newest = rows.iter().copied().max_by_key(|row| row.text("checkpoint_id"))?;
    let place = |row: &DumpRow, pointer: String| Place::in_line(row.line, 0..0, pointer);
    let mut reader = Reader::default();
    let Some(checkpoint) = json::parse(newest.text("checkpoint").as_bytes()) else {
        let words = "the checkpoint is not JSON".to_owned();
        let trouble = Trouble { place: place(newest, String::new()), words, loses: None };
        return Some(of_thread(thread, vec![trouble]));
    };
    let version = checkpoint.get("channel_versions")?.get(MESSAGES)?;
    let version = version.as_str().map_or_else(|| version.to_string(), str::to_owned);
    let is_its = |row: &&DumpRow| {
        row.text("channel") == MESSAGES && row.text("version") == version && self::thread(row) == thread
    };
    let mut messages: Vec<Message> = Vec::new();
    match blobs.iter().find(is_its) {
        Some(blob) => match stored(blob) {
            Ok(list) => {
                for (n, one) in list.iter().enumerate() {
                    messages.extend(reader.message(one.as_ref(), place(blob, format!("/{n}"))));
                }
            }
            Err(error) => {
                reader.troubles.push(Trouble {
                    place: place(blob, String::new()),
                    words: error.to_string(),
                    loses: None,
                });
            }
        },
        None => {
            let words = "the messages of the newest checkpoint are not in the dump".to_owned();
            reader.troubles.push(Trouble { place: place(newest, String::new()), words, loses: None });
        }
    }
    if reader.is_unknown {
        messages.clear();
    }
    let mut off_branch = Vec::new();
    let mut is_waiting = false;
    for row in writes.iter().filter(|row| self::thread(row) == thread) {
        let is_newest = row.text("checkpoint_id") == newest.text("checkpoint_id");
        is_waiting |= is_newest && row.text("channel") == "__interrupt__";
        if row.text("channel") != MESSAGES {
            continue;
        }
        for (n, one) in stored(row).unwrap_or_default().iter().enumerate() {
            let Some(one) = one else { continue };
            if one.id().is_none_or(|id| reader.ids.insert(id)) {
                off_branch.extend(one.message(&place(row, format!("/{n}")), &mut reader.names));
            }
        }
    }
    let nodes = checkpoint.get("versions_seen").and_then(Value::as_object);
    let nodes: Vec<&str> = nodes.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let parents: Vec<&str> =
        rows.iter().map(|row| row.text("parent_checkpoint_id")).filter(|id| !id.is_empty()).collect();
    let n_parents = parents.iter().collect::<BTreeSet<_>>().len();
    let (dialect, model) = reader.provider.map_or((None, None), |(dialect, model)| (Some(dialect), model));
    Some(Session {
        generation: generation(&nodes),
        branch: if is_waiting { WAITING } else { NEWEST },
        dialect,
        model,
        messages,
        off_branch,
        n_records: rows.len(),
        n_compactions: reader.n_summaries,
        n_forks: parents.len() - n_parents,
        unknown: reader.unknown.into_iter().collect(),
        ..of_thread(thread, reader.troubles)
    })
}

fn generation(nodes: &[&str]) -> &'static str {
    match graph(nodes) {
        super::REACT_AGENT => REACT_AGENT,
        super::DEEP_AGENT => DEEP_AGENT,
        _ => ANY_GRAPH,
    }
}

/// A session without messages.
fn of_thread((name, namespace): Thread, troubles: Vec<Trouble>) -> Session {
    Session {
        id: Some(if namespace.is_empty() { name } else { format!("{name}/{namespace}") }),
        troubles,
        ..Session::new(Product::LanggraphPostgres, ANY_GRAPH, NEWEST)
    }
}

/// The messages in the blob of a row. `None` for a message in an unknown form.
fn stored(row: &DumpRow) -> Result<Vec<Option<Stored>>, RecordError> {
    let bytes = row
        .bytes("blob")
        .ok_or_else(|| RecordError::Type("a blob that is not in the hex form".to_owned()))?;
    match row.text("type") {
        "msgpack" => {
            let value = msgpack::decode(&bytes)?;
            Ok(each(&value).iter().map(Stored::of_msgpack).collect())
        }
        "json" => {
            let value = json::parse(&bytes).ok_or_else(|| json::trouble(&bytes))?;
            let list = value.as_array().cloned().unwrap_or_else(|| vec![value]);
            Ok(list.iter().map(Stored::of_json).collect())
        }
        kind => Err(RecordError::Type(name_of(kind))),
    }
}
