//! The rows of Agno: a run of a session in each row of `agno_runs`, and in Agno 2 all runs in a cell of `agno_sessions`.
//!
//! The history of the next run has the messages of the earlier ones, without runs of members, without runs that failed or
//! were paused or cancelled, and with one system message. A run that never ended has the status `RUNNING` and is sent.
//! Source: `HISTORY_SKIP_STATUSES` in `agno/run/base.py` and `AgentSession.get_messages` in `agno/session/agent.py` of agno
//! 3.1.10.

use std::collections::BTreeMap;

use brickbat_rules::json::{Document, Json};

use super::assembled::{Assembled, Assembly};
use super::read::listed;
use crate::sqlite::{Database, MAX_ROWS};
use crate::stores::rows::{bytes_of, text_of};
use crate::{Files, FormError, Place};

pub(super) const ROWS: Assembly = Assembly { owns: |look| look.database().is_some_and(is_agno), assemble };

const RUNS: &str = "agno_runs";
const SESSIONS: &str = "agno_sessions";

/// The statuses of runs that are left out of the history.
const SKIPPED: [&str; 4] = ["PAUSED", "CANCELLED", "ERROR", "REGENERATED"];

fn is_agno(database: &Database) -> bool {
    has_runs(database) || has_blobs(database)
}

fn has_runs(database: &Database) -> bool {
    database.has(RUNS, &["run_id", "session_id", "parent_run_id", "status", "run_index", "run_data"])
}

/// Agno 2 keeps all runs of a session in one cell.
fn has_blobs(database: &Database) -> bool {
    database.has(SESSIONS, &["session_id", "session_type", "runs", "agent_data"])
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let database = Database::open(files)?;
    let agents = agents(&database)?;
    let mut sessions: BTreeMap<String, Assembled> = BTreeMap::new();
    let new = |id: &str| Assembled {
        own: agents.get(id).map(|agent| format!("{{\"agent_data\":{agent}}}")),
        id: Some(id.to_owned()),
        generation: "SQLite rows",
        ..Assembled::default()
    };
    let mut queries: Vec<String> = Vec::new();
    if has_blobs(&database) {
        queries.push(format!(
            "SELECT rowid, session_id, NULL, NULL, runs, '{SESSIONS}' FROM {SESSIONS} WHERE runs IS NOT NULL \
             ORDER BY session_id LIMIT {MAX_ROWS}"
        ));
    }
    if has_runs(&database) {
        queries.push(format!(
            "SELECT rowid, session_id, parent_run_id, status, run_data, '{RUNS}' FROM {RUNS} ORDER BY session_id, \
             run_index, created_at, rowid LIMIT {MAX_ROWS}"
        ));
    }
    for query in queries {
        let mut statement = database.connection().prepare(&query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id = row.get_ref(1).map(text_of)?;
            let session = sessions.entry(id.clone()).or_insert_with(|| new(&id));
            let (table, n): (String, i64) = (row.get(5)?, row.get(0)?);
            let (parent, status) = (row.get_ref(2).map(text_of)?, row.get_ref(3).map(text_of)?);
            let data = bytes_of(row.get_ref(4)?).unwrap_or_default();
            let text = decoded(&data);
            let Ok(document) = Document::parse(&text) else {
                session.lose(Place::in_row(&table, n, ""), crate::json::trouble(&data).to_string());
                continue;
            };
            let place = |at: String| Place::in_row(&table, n, at);
            match document.root().is_array() {
                false => add(session, document.root(), (&parent, &status), &place, ""),
                true => {
                    for (at, run) in listed(document.root(), "") {
                        let text = |name: &str| run.field(name).as_str().unwrap_or_default().into_owned();
                        add(session, run, (&text("parent_run_id"), &text("status")), &place, &at);
                    }
                }
            }
        }
    }
    Ok(sessions.into_values().collect())
}

/// The JSON of a cell. Some releases, such as 2.9, encode it twice.
fn decoded(cell: &[u8]) -> Vec<u8> {
    let parsed = Document::parse(cell);
    let inner = parsed.as_ref().ok().and_then(|document| document.root().as_str());
    inner.map_or_else(|| cell.to_vec(), |inner| inner.into_owned().into_bytes())
}

/// Adds the messages of a run, which has a parent and a status.
fn add(
    session: &mut Assembled,
    run: Json<'_, '_>,
    (parent, status): (&str, &str),
    place: &dyn Fn(String) -> Place,
    at: &str,
) {
    for (at, message) in listed(run.field("messages"), &format!("{at}/messages")) {
        let is_second = message.field("role").is("system") && !session.records.is_empty();
        let is_repeated = message.field("from_history").as_bool() == Some(true);
        if is_second || is_repeated {
            continue;
        }
        let record = (place(at), message.raw().to_owned());
        match !parent.is_empty() || SKIPPED.contains(&status) {
            true => session.before.push(record),
            false => session.records.push(record),
        }
    }
}

/// The description of the agent of each session, as JSON.
fn agents(database: &Database) -> Result<BTreeMap<String, String>, FormError> {
    if !database.has(SESSIONS, &["session_id", "agent_data"]) {
        return Ok(BTreeMap::new());
    }
    let query = format!("SELECT session_id, agent_data FROM {SESSIONS} LIMIT {MAX_ROWS}");
    let mut statement = database.connection().prepare(&query)?;
    let rows = statement.query_map([], |row| {
        let agent = decoded(&bytes_of(row.get_ref(1)?).unwrap_or_default());
        Ok((text_of(row.get_ref(0)?), String::from_utf8(agent).unwrap_or_default()))
    })?;
    let all: Vec<(String, String)> = rows.collect::<Result<_, _>>()?;
    Ok(all.into_iter().filter(|(_, agent)| Document::parse(agent.as_bytes()).is_ok()).collect())
}
