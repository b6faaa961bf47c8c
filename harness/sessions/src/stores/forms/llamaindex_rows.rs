//! LlamaIndex: the table of `Memory`, `llama_index_memory`, with a message in each row.
//!
//! Only the rows with the status `active` are sent; `archived` ones are behind the window of the short-term memory. Source:
//! `llama_index/core/storage/chat_store/sql.py` of llama-index-core 0.14.25, which wrote a stored session, and
//! <https://github.com/run-llama/llama_index/issues/13715>.

use super::assembled::{Assembled, Assembly};
use super::rows::Table;
use crate::sqlite::Database;
use crate::{Files, FormError};

pub(super) const ROWS: Assembly = Assembly { owns: |look| look.database().is_some_and(is_memory), assemble };

const MEMORY: Table = Table {
    name: "llama_index_memory",
    session: "key",
    order: "\"key\", timestamp, rowid",
    only: Some(("status", "status = 'active'")),
    texts: &[],
    json: "data",
};

fn is_memory(database: &Database) -> bool {
    MEMORY.is_in(database) && database.has(MEMORY.name, &["timestamp", "role"])
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    MEMORY.cells(&Database::open(files)?, "SQLite rows")
}
