//! SQLite databases from their bytes, with the pages that stand only in the write-ahead log.
//!
//! Products keep their databases open, and the newest rows are in the log (`-wal`) until a checkpoint. The log is merged
//! here, page by page as SQLite's file format describes it (<https://www.sqlite.org/fileformat2.html#the_write_ahead_log>),
//! so nothing is opened and nothing changes on disk; the merged bytes are then a database in memory.
//!
//! The file is not trusted: nothing that its schema defines is run, and a query ends after a bounded number of steps.

mod log;
#[cfg(test)]
mod tests;

use std::io::Read;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, MAIN_DB};

use crate::{File, Files};

/// A database in memory.
pub(crate) struct Database {
    connection: Connection,
    /// Length of the database when it was opened.
    n_bytes: usize,
    /// The file format's write and read version as they were: 2 where a log is used.
    versions: [u8; 2],
}

/// The rows of a table, in the order of its tree.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// Those that could be read.
    pub(crate) rows: Vec<TableRow>,
    /// Why the rest could not be read, if there is one.
    pub(crate) stopped: Option<String>,
}

/// One row.
#[derive(Debug, PartialEq)]
pub(crate) struct TableRow {
    /// Its `rowid`.
    pub(crate) id: i64,
    /// The columns that were asked for.
    pub(crate) cells: Vec<Cell>,
}

/// What stands in a row under one column.
#[derive(Debug, PartialEq)]
pub(crate) enum Cell {
    /// NULL.
    Null,
    /// A number; of a fraction, its whole part.
    Number(i64),
    /// A text or a blob, in any encoding.
    Bytes(Vec<u8>),
}

/// Rows of one table that are read; a session has thousands.
pub(crate) const MAX_ROWS: usize = 2_000_000;

/// The first bytes of a database.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Steps of SQLite's machine between two looks at how many there were.
const STEPS: i32 = 10_000;

/// Steps that a file of any size may take, all queries together: about a second. Without a bound, pages that point at one
/// another make a table with more rows than anybody can count.
const MIN_STEPS: u64 = 50_000_000;

/// Steps for each byte of the file. A row of four bytes takes about ten steps for each query that goes over its table.
const STEPS_A_BYTE: u64 = 64;

/// Bytes by which an edit may make a cell longer than the whole file was.
const ROOM: usize = 1 << 20;

/// Bytes of one cell that are read. The largest outputs of tools that products keep have a few megabytes, and each cell is
/// held several times while it is judged.
const MAX_CELL: usize = 64 << 20;

/// Why a database is not read: a cell of it is too long.
pub(crate) fn refusal(files: &Files) -> Option<String> {
    // A small file has no such cell.
    if !is_database(files.main())
        || files.files.iter().map(|file| file.bytes.len()).sum::<usize>() <= MAX_CELL
    {
        return None;
    }
    let table = Database::open(files).ok()?.too_long().ok()??;
    let table = crate::json::word(&table);
    Some(format!("a cell of the table {table} has more than {} MiB, the most that is read", MAX_CELL >> 20))
}

/// Whether the bytes are those of a database.
pub(crate) fn is_database(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

impl Database {
    /// The database of the first file, merged with its log if `<name>-wal` is among its companions.
    pub(crate) fn open(files: &Files) -> Result<Database, String> {
        let main = files.main();
        if !is_database(main) || main.len() < 100 {
            return Err("not a SQLite database".to_owned());
        }
        // A large file is held often enough: it is copied only where its log is merged into it.
        let merged = files.ending_in("-wal").map(|(_, wal)| {
            let mut bytes = main.to_vec();
            log::merge(&mut bytes, &wal.bytes);
            bytes
        });
        let bytes = merged.as_deref().unwrap_or(main);
        let versions = [bytes[18], bytes[19]];
        let n_bytes = bytes.len();
        let mut connection = Connection::open_in_memory().map_err(words)?;
        restrict(&mut connection, n_bytes).map_err(words)?;
        // A database in memory has no log: 1 means a rollback journal.
        let bytes = bytes[..18].chain(&[1, 1][..]).chain(&bytes[20..]);
        connection.deserialize_read_exact(MAIN_DB, bytes, n_bytes, false).map_err(words)?;
        let database = Database { connection, n_bytes, versions };
        database.tables()?;
        Ok(database)
    }

    /// The first table with a cell that is too long to be read.
    fn too_long(&self) -> Result<Option<String>, String> {
        for table in self.tables()? {
            let columns = self.columns(&table);
            let is_long = |column: &String| format!("octet_length({}) > {MAX_CELL}", quoted(column));
            let are_long: Vec<String> = columns.iter().map(is_long).collect();
            if are_long.is_empty() {
                continue;
            }
            let query =
                format!("SELECT EXISTS (SELECT 1 FROM {} WHERE {})", quoted(&table), are_long.join(" OR "));
            let found = self.connection.query_row(&query, [], |row| row.get::<_, bool>(0));
            // SQLite itself takes no row that is longer.
            let is_limit =
                |error: &rusqlite::Error| error.sqlite_error_code() == Some(rusqlite::ErrorCode::TooBig);
            match found {
                Ok(false) => {}
                Ok(true) => return Ok(Some(table)),
                Err(error) if is_limit(&error) => return Ok(Some(table)),
                // A damaged table is read as far as it goes.
                Err(_) => {}
            }
        }
        Ok(None)
    }

    /// The connection, for queries.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The names of its tables, without views and tables that a module of SQLite makes.
    pub(crate) fn tables(&self) -> Result<Vec<String>, String> {
        // SQLite itself writes the beginning of each definition, and `CREATE VIRTUAL TABLE` for those of a module.
        let query =
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE %' ORDER BY name";
        let mut statement = self.connection.prepare(query).map_err(words)?;
        let names = statement.query_map([], |row| row.get::<_, String>(0)).map_err(words)?;
        names.collect::<Result<Vec<_>, _>>().map_err(words)
    }

    /// The columns of a table; empty if there is none. Columns that the schema computes are not among them.
    pub(crate) fn columns(&self, table: &str) -> Vec<String> {
        let Ok(mut statement) = self.connection.prepare("SELECT name FROM pragma_table_info(?1)") else {
            return Vec::new();
        };
        let names = statement.query_map([table], |row| row.get::<_, String>(0));
        names.map(|names| names.filter_map(Result::ok).collect()).unwrap_or_default()
    }

    /// Whether there is a table that stores all of these columns.
    pub(crate) fn has(&self, table: &str, columns: &[&str]) -> bool {
        let own = self.columns(table);
        self.tables().is_ok_and(|tables| tables.iter().any(|name| name == table))
            && columns.iter().all(|column| own.iter().any(|name| name == column))
    }

    /// The rows of a table that has a `rowid`.
    ///
    /// A damaged table gives what comes before the damage. All its rows together cannot be longer than the file: where
    /// they are, pages are used more than once, and reading ends.
    pub(crate) fn rows(&self, table: &str, columns: &[&str]) -> Rows {
        let mut found = Rows::default();
        if let Err(why) = self.read_rows(table, columns, &mut found.rows) {
            found.stopped = Some(why);
        }
        found
    }

    fn read_rows(&self, table: &str, columns: &[&str], into: &mut Vec<TableRow>) -> Result<(), String> {
        let names: Vec<String> = columns.iter().map(|column| format!(", {}", quoted(column))).collect();
        let query = format!("SELECT rowid{} FROM {}", names.concat(), quoted(table));
        let mut statement = self.connection.prepare(&query).map_err(words)?;
        let mut rows = statement.query([]).map_err(words)?;
        let mut n_bytes = 0;
        while let Some(row) = rows.next().map_err(words)? {
            let mut cells = Vec::with_capacity(columns.len());
            for column in 0..columns.len() {
                let cell = cell(row.get_ref(column + 1).map_err(words)?);
                if let Cell::Bytes(bytes) = &cell {
                    n_bytes += bytes.len();
                }
                cells.push(cell);
            }
            if n_bytes > self.n_bytes || into.len() == MAX_ROWS {
                return Err("it has more rows than its file can hold".to_owned());
            }
            into.push(TableRow { id: row.get(0).map_err(words)?, cells });
        }
        Ok(())
    }

    /// The bytes of the database as it is after what was executed on it.
    pub(crate) fn into_bytes(mut self) -> Result<Vec<u8>, String> {
        let mut bytes = self.connection.serialize(MAIN_DB).map_err(words)?.to_vec();
        if let Some(versions) = bytes.get_mut(18..20) {
            versions.copy_from_slice(&self.versions);
        }
        Ok(bytes)
    }

    /// The files with this database as the first of them. The log goes: its pages are in the database.
    pub(crate) fn into_files(self, files: &Files) -> Result<Files, String> {
        let main = File { name: files.name().to_owned(), bytes: self.into_bytes()? };
        let rest = files.files.iter().skip(1);
        let rest = rest.filter(|file| !file.name.ends_with("-wal") && !file.name.ends_with("-shm"));
        Ok(Files { files: std::iter::once(main).chain(rest.cloned()).collect() })
    }
}

impl Cell {
    /// The text or blob; nothing for a number.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Cell::Bytes(bytes) => bytes,
            _ => &[],
        }
    }

    /// The text, with what is no UTF-8 replaced.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// The number; 0 for anything else.
    pub(crate) fn number(&self) -> i64 {
        match self {
            Cell::Number(number) => *number,
            _ => 0,
        }
    }
}

/// Turns off what a schema could run, and bounds what a file can cost.
fn restrict(connection: &mut Connection, n_bytes: usize) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    // A row that is deleted must not take others with it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false)?;
    let length = i32::try_from(n_bytes.min(MAX_CELL).saturating_add(ROOM)).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, length)?;
    let mut left = (n_bytes as u64).saturating_mul(STEPS_A_BYTE).saturating_add(MIN_STEPS);
    connection.progress_handler(
        STEPS,
        Some(move || {
            left = left.saturating_sub(STEPS as u64);
            left == 0
        }),
    )
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Number(number),
        ValueRef::Real(number) => Cell::Number(number as i64),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
    }
}

/// A name as SQLite reads it whatever stands in it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// What went wrong, without SQLite's own words: they quote the schema, and a schema is what somebody wrote.
fn words(error: rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(code, _) => format!("SQLite: {code}"),
        rusqlite::Error::SqlInputError { error, .. } => format!("SQLite: {error}"),
        _ => "SQLite: a value of another type".to_owned(),
    }
}
