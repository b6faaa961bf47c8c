//! The rows of Agno 3: a run of a session in each row of `agno_runs`.
//!
//! The history of the next run has the messages of the earlier ones, without runs of members, without runs that failed or
//! were paused or cancelled, and with one system message. A run that never ended has the status `RUNNING` and is sent.
//! Source: `HISTORY_SKIP_STATUSES` in `agno/run/base.py` and `AgentSession.get_messages` in `agno/session/agent.py` of agno
//! 3.1.10.

use std::collections::BTreeMap;

use brickbat_rules::json::Document;

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
    database.has(RUNS, &["run_id", "session_id", "parent_run_id", "status", "run_index", "run_data"])
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let database = Database::open(files)?;
    let agents = agents(&database)?;
    let query = format!(
        "SELECT rowid, session_id, parent_run_id, status, run_data FROM {RUNS} ORDER BY session_id, run_index, \
         created_at, rowid LIMIT {MAX_ROWS}"
    );
    let mut statement = database.connection().prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut sessions: BTreeMap<String, Assembled> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let id = row.get_ref(1).map(text_of)?;
        let session = sessions.entry(id.clone()).or_insert_with(|| Assembled {
            own: agents.get(&id).map(|agent| format!("{{\"agent_data\":{agent}}}")),
            id: Some(id),
            generation: "SQLite rows",
            ..Assembled::default()
        });
        let place = |pointer: String| Ok::<_, rusqlite::Error>(Place::in_row(RUNS, row.get(0)?, pointer));
        let is_of_member = !row.get_ref(2).map(text_of)?.is_empty();
        let status = row.get_ref(3).map(text_of)?;
        let data = bytes_of(row.get_ref(4)?).unwrap_or_default();
        let Ok(document) = Document::parse(&data) else {
            session.lose(place(String::new())?, crate::json::trouble(&data).to_string());
            continue;
        };
        for (at, message) in listed(document.root().field("messages"), "/messages") {
            let is_second = message.field("role").is("system") && !session.records.is_empty();
            let is_repeated = message.field("from_history").as_bool() == Some(true);
            if is_second || is_repeated {
                continue;
            }
            let record = (place(at)?, message.raw().to_owned());
            match is_of_member || SKIPPED.contains(&status.as_str()) {
                true => session.before.push(record),
                false => session.records.push(record),
            }
        }
    }
    Ok(sessions.into_values().collect())
}

/// The description of the agent of each session, as JSON.
fn agents(database: &Database) -> Result<BTreeMap<String, String>, FormError> {
    if !database.has(SESSIONS, &["session_id", "agent_data"]) {
        return Ok(BTreeMap::new());
    }
    let query = format!("SELECT session_id, agent_data FROM {SESSIONS} LIMIT {MAX_ROWS}");
    let mut statement = database.connection().prepare(&query)?;
    let rows = statement.query_map([], |row| Ok((text_of(row.get_ref(0)?), text_of(row.get_ref(1)?))))?;
    let all: Vec<(String, String)> = rows.collect::<Result<_, _>>()?;
    Ok(all.into_iter().filter(|(_, agent)| Document::parse(agent.as_bytes()).is_ok()).collect())
}
