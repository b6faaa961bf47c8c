//! Reads SQLite databases from bytes, including pages that exist only in the write-ahead log.
//!
//! Products keep their databases open, and the newest rows are in the log (`-wal`) until a checkpoint. The
//! log is merged here page by page, as the SQLite file format describes it
//! (<https://www.sqlite.org/fileformat2.html#the_write_ahead_log>). Nothing is opened or changed on disk, and
//! the merged bytes become an in-memory database.
//!
//! The file is not trusted: nothing defined by its schema is run, and a query stops after a bounded number of
//! steps.

mod log;
#[cfg(test)]
mod tests;

use std::io::Read;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, MAIN_DB};

use crate::{File, Files, FormError, SqliteError};

/// An in-memory database.
#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    /// The size in bytes when the database was opened.
    n_bytes: usize,
    /// The original write and read versions of the file format. They are 2 if a log is used.
    versions: [u8; 2],
}

/// The rows of a table, in the order of its B-tree.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// The rows that could be read.
    pub(crate) rows: Vec<TableRow>,
    /// The reason why the remaining rows could not be read, if any.
    pub(crate) stopped: Option<SqliteError>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct TableRow {
    /// Its `rowid`.
    pub(crate) id: i64,
    /// The requested columns, in order.
    pub(crate) cells: Vec<Cell>,
}

/// The value of one column in a row.
#[derive(Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    /// An integer. A fraction is truncated.
    Number(i64),
    /// A text or a blob, in any encoding.
    Bytes(Vec<u8>),
}

/// Maximum number of rows to read from one table. A session has thousands.
pub(crate) const MAX_ROWS: usize = 2_000_000;

/// The first bytes of a database file.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Number of SQLite virtual machine steps between two limit checks.
const STEPS: i32 = 10_000;

/// Number of steps that a file of any size may take, for all queries together: about a second. Without this
/// limit, pages that point at one another form a table with an almost endless number of rows.
const MIN_STEPS: u64 = 50_000_000;

/// Additional steps per byte of the file. A row of four bytes takes about ten steps in each query over its
/// table.
const STEPS_A_BYTE: u64 = 64;

/// Number of bytes by which an edit may make a cell longer than the original file.
const ROOM: usize = 1 << 20;

/// Maximum size of one cell. The largest tool outputs that products store are a few megabytes, and several
/// copies of each cell exist during judging.
const MAX_CELL: usize = 64 << 20;

/// The reason not to read a database: one of its cells is too long.
pub(crate) fn refusal(files: &Files) -> Option<FormError> {
    // A small file cannot have such a cell.
    if !is_database(files.main())
        || files.files.iter().map(|file| file.bytes.len()).sum::<usize>() <= MAX_CELL
    {
        return None;
    }
    let table = Database::open(files).ok()?.too_long().ok()??;
    Some(FormError::Cell(crate::json::word(&table), MAX_CELL >> 20))
}

/// Returns whether the bytes are an SQLite database.
pub(crate) fn is_database(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

impl Database {
    /// The database in the first file, merged with its log if `<name>-wal` is among the companions.
    pub(crate) fn open(files: &Files) -> Result<Database, SqliteError> {
        let main = files.main();
        if !is_database(main) || main.len() < 100 {
            return Err(SqliteError::NotDatabase);
        }
        // A large file already exists in several copies, so it is copied only if a log is merged into it.
        let merged = files.ending_in("-wal").map(|(_, wal)| {
            let mut bytes = main.to_vec();
            log::merge(&mut bytes, &wal.bytes);
            bytes
        });
        let bytes = merged.as_deref().unwrap_or(main);
        let versions = [bytes[18], bytes[19]];
        let n_bytes = bytes.len();
        let mut connection = Connection::open_in_memory()?;
        restrict(&mut connection, n_bytes)?;
        // An in-memory database has no log. Version 1 means a rollback journal.
        let bytes = bytes[..18].chain(&[1, 1][..]).chain(&bytes[20..]);
        connection.deserialize_read_exact(MAIN_DB, bytes, n_bytes, false)?;
        let database = Database { connection, n_bytes, versions };
        database.tables()?;
        Ok(database)
    }

    /// Describes the first cell that is too long to be read, with its table.
    fn too_long(&self) -> Result<Option<String>, SqliteError> {
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
            // SQLite itself rejects longer rows.
            let is_limit =
                |error: &rusqlite::Error| error.sqlite_error_code() == Some(rusqlite::ErrorCode::TooBig);
            match found {
                Ok(false) => {}
                Ok(true) => return Ok(Some(table)),
                Err(error) if is_limit(&error) => return Ok(Some(table)),
                // A damaged table is read up to the damage.
                Err(_) => {}
            }
        }
        Ok(None)
    }

    /// The SQLite connection, for queries.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The names of its tables, without views and virtual tables.
    pub(crate) fn tables(&self) -> Result<Vec<String>, SqliteError> {
        // SQLite itself writes the beginning of each definition, which is `CREATE VIRTUAL TABLE` for a
        // virtual table.
        let query =
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE %' ORDER BY name";
        let mut statement = self.connection.prepare(query)?;
        let names = statement.query_map([], |row| row.get::<_, String>(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    /// The columns of a table, without generated columns. Empty if the table does not exist.
    pub(crate) fn columns(&self, table: &str) -> Vec<String> {
        let Ok(mut statement) = self.connection.prepare("SELECT name FROM pragma_table_info(?1)") else {
            return Vec::new();
        };
        let names = statement.query_map([table], |row| row.get::<_, String>(0));
        names.map(|names| names.filter_map(Result::ok).collect()).unwrap_or_default()
    }

    /// Returns whether a table stores all of these columns.
    pub(crate) fn has(&self, table: &str, columns: &[&str]) -> bool {
        let own = self.columns(table);
        self.tables().is_ok_and(|tables| tables.iter().any(|name| name == table))
            && columns.iter().all(|column| own.iter().any(|name| name == column))
    }

    /// The rows of a table with a `rowid`.
    ///
    /// A damaged table yields the rows before the damage. The rows together cannot be longer than the file.
    /// If they are, some pages are used more than once, and reading stops.
    pub(crate) fn rows(&self, table: &str, columns: &[&str]) -> Rows {
        let mut found = Rows::default();
        if let Err(why) = self.read_rows(table, columns, &mut found.rows) {
            found.stopped = Some(why);
        }
        found
    }

    fn read_rows(&self, table: &str, columns: &[&str], into: &mut Vec<TableRow>) -> Result<(), SqliteError> {
        let names: Vec<String> = columns.iter().map(|column| format!(", {}", quoted(column))).collect();
        let query = format!("SELECT rowid{} FROM {}", names.concat(), quoted(table));
        let mut statement = self.connection.prepare(&query)?;
        let mut rows = statement.query([])?;
        let mut n_bytes = 0;
        while let Some(row) = rows.next()? {
            let mut cells = Vec::with_capacity(columns.len());
            for column in 0..columns.len() {
                let cell = cell(row.get_ref(column + 1)?);
                if let Cell::Bytes(bytes) = &cell {
                    n_bytes += bytes.len();
                }
                cells.push(cell);
            }
            if n_bytes > self.n_bytes || into.len() == MAX_ROWS {
                return Err(SqliteError::Rows);
            }
            into.push(TableRow { id: row.get(0)?, cells });
        }
        Ok(())
    }

    /// The bytes of the database after all executed statements.
    pub(crate) fn into_bytes(mut self) -> Result<Vec<u8>, SqliteError> {
        let mut bytes = self.connection.serialize(MAIN_DB)?.to_vec();
        if let Some(versions) = bytes.get_mut(18..20) {
            versions.copy_from_slice(&self.versions);
        }
        Ok(bytes)
    }

    /// The files with this database as the first one. The log is removed, since its pages are in the
    /// database.
    pub(crate) fn into_files(self, files: &Files) -> Result<Files, SqliteError> {
        let main = File { name: files.name().to_owned(), bytes: self.into_bytes()? };
        let rest = files.files.iter().skip(1);
        let rest = rest.filter(|file| !file.name.ends_with("-wal") && !file.name.ends_with("-shm"));
        Ok(Files { files: std::iter::once(main).chain(rest.cloned()).collect() })
    }
}

impl Cell {
    /// The text or blob; empty for a number.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Cell::Bytes(bytes) => bytes,
            _ => &[],
        }
    }

    /// The text, with invalid UTF-8 replaced.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// The number; 0 for any other value.
    pub(crate) fn number(&self) -> i64 {
        match self {
            Cell::Number(number) => *number,
            _ => 0,
        }
    }
}

/// Disables everything that a schema could run, and limits the cost of a file.
fn restrict(connection: &mut Connection, n_bytes: usize) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    // Deleting a row must not delete others.
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

/// A name, quoted so that SQLite accepts any characters in it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
