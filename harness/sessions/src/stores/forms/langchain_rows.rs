//! Messages of LangChain in a table of a database: `SQLChatMessageHistory`, and the memory of n8n.
//!
//! A row of `message_store` has the dict of `messages_to_dict`. A row of `n8n_chat_histories` has the fields of the message
//! beside its type. Both are sent in the order of their ids. Source:
//! `langchain_community/chat_message_histories/sql.py` of langchain-community 0.4.2, which wrote a stored session.

use brickbat_rules::json::Document;

use super::assembled::{Assembled, Assembly};
use super::rows::Table;
use crate::sqlite::Database;
use crate::{Files, FormError};

/// The rows of `SQLChatMessageHistory`.
pub(super) const STORE: Assembly =
    Assembly { owns: |look| look.database().is_some_and(is_store), assemble: store };

const MESSAGES: Table = Table {
    name: "message_store",
    session: "session_id",
    order: "session_id, rowid",
    only: None,
    texts: &[],
    json: "message",
};

/// The memory of n8n. An export may have another name than this default.
const HISTORIES: Table = Table { name: "n8n_chat_histories", ..MESSAGES };

fn is_store(database: &Database) -> bool {
    MESSAGES.is_in(database) && MESSAGES.has_some(database, "/data/content")
}

/// Returns whether a database has the memory of n8n.
pub(super) fn is_n8n(database: &Database) -> bool {
    HISTORIES.is_in(database) && HISTORIES.has_some(database, "/content")
}

fn store(files: &Files) -> Result<Vec<Assembled>, FormError> {
    MESSAGES.cells(&Database::open(files)?, "SQLite rows")
}

/// The sessions in the memory of n8n.
pub(super) fn n8n(files: &Files, generation: &'static str) -> Result<Vec<Assembled>, FormError> {
    HISTORIES.cells(&Database::open(files)?, generation)
}

impl Table {
    /// Returns whether the JSON of one of the first rows has a value at the pointer.
    fn has_some(&self, database: &Database, pointer: &str) -> bool {
        let query = format!("SELECT \"{}\" FROM {} LIMIT 32", self.json, self.name);
        let Ok(mut statement) = database.connection().prepare(&query) else { return false };
        let found = statement.query_map([], |row| Ok(crate::stores::rows::bytes_of(row.get_ref(0)?)));
        let cells: Vec<Vec<u8>> =
            found.map(|rows| rows.filter_map(Result::ok).flatten().collect()).unwrap_or_default();
        let has = |cell: &Vec<u8>| {
            Document::parse(cell).is_ok_and(|document| !document.root().pointer(pointer).span().is_empty())
        };
        cells.iter().any(has)
    }

    /// The sessions, by id. The records are the JSON itself.
    pub(super) fn cells(
        &self,
        database: &Database,
        generation: &'static str,
    ) -> Result<Vec<Assembled>, FormError> {
        let mut sessions = self.sessions(database, generation)?;
        for (_, record) in sessions.iter_mut().flat_map(|session| &mut session.records) {
            let document = Document::parse(record.as_bytes()).ok();
            let own = document.as_ref().map(|document| document.root().field(self.json).raw().to_owned());
            if let Some(own) = own {
                *record = own;
            }
        }
        Ok(sessions)
    }
}
