//! The rows of one session, one per message or item, and edits to their list.
//!
//! Such a store is ordered by its ids, so a new row in the middle needs an id there. The ids of the session
//! are reassigned from the first changed row on. Rows before it, and other sessions, keep their ids.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::types::{Value, ValueRef};

use crate::sqlite::{Database, MAX_ROWS};
use crate::{EditError, Files, Place, SqliteError};

/// The rows of one session, and their changes.
pub(crate) struct Rows {
    table: &'static str,
    /// The names of all columns except the id.
    columns: Vec<String>,
    rows: Vec<(i64, Vec<Value>)>,
    /// Each row's index in `rows`, by id.
    positions: BTreeMap<i64, usize>,
    changed: BTreeSet<i64>,
    deleted: BTreeSet<i64>,
    /// New rows, by the id of the row after which they are inserted.
    inserted: BTreeMap<i64, Vec<Vec<Value>>>,
}

/// Maximum length of a kind name that is printed. Known names have up to 24 bytes.
const MAX_NAME: usize = 40;

/// A row of the new list: its old id, if it had one, and its cells.
type Dealt = (Option<i64>, Vec<Value>);

impl Rows {
    /// The rows of a session, ordered by these columns.
    pub(crate) fn load(
        database: &Database,
        table: &'static str,
        order: &'static str,
        session: &str,
    ) -> Result<Rows, rusqlite::Error> {
        let columns: Vec<String> = database.columns(table).into_iter().filter(|name| name != "id").collect();
        let names: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
        let query = format!(
            "SELECT rowid, {} FROM {table} WHERE session_id = ?1 ORDER BY {order} LIMIT {MAX_ROWS}",
            names.join(", ")
        );
        let mut statement = database.connection().prepare(&query)?;
        let mut found = statement.query([session])?;
        let mut rows = Vec::new();
        while let Some(row) = found.next()? {
            let cells = (1..=columns.len()).map(|n| row.get::<_, Value>(n)).collect::<Result<_, _>>();
            rows.push((row.get(0)?, cells?));
        }
        let positions = rows.iter().enumerate().map(|(n, (id, _))| (*id, n)).collect();
        let (changed, deleted) = (BTreeSet::new(), BTreeSet::new());
        Ok(Rows { table, columns, rows, positions, changed, deleted, inserted: BTreeMap::new() })
    }

    /// The cells of a row.
    pub(crate) fn cells(&self, id: i64) -> Option<Vec<Value>> {
        self.positions.get(&id).map(|n| self.rows[*n].1.clone())
    }

    /// The value of a cell of a row.
    pub(crate) fn cell(&self, id: i64, column: &str) -> Option<Value> {
        self.rows[*self.positions.get(&id)?].1.get(self.column(column)?).cloned()
    }

    /// The text in a cell of a row.
    pub(crate) fn text(&self, id: i64, column: &str) -> Option<&str> {
        match self.rows[*self.positions.get(&id)?].1.get(self.column(column)?)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The cells, with one cell replaced.
    pub(crate) fn with(&self, mut cells: Vec<Value>, column: &str, value: Value) -> Vec<Value> {
        if let Some(cell) = self.column(column).and_then(|n| cells.get_mut(n)) {
            *cell = value;
        }
        cells
    }

    /// Replaces the text in a cell.
    pub(crate) fn replace(&mut self, id: i64, column: &str, text: String) {
        let n = self.column(column);
        let cells = self.positions.get(&id).map(|n| &mut self.rows[*n].1);
        if let Some(cell) = cells.zip(n).and_then(|(cells, n)| cells.get_mut(n)) {
            *cell = Value::Text(text);
            self.changed.insert(id);
        }
    }

    /// Removes a row.
    pub(crate) fn delete(&mut self, id: i64) {
        self.deleted.insert(id);
    }

    /// Removes all rows after this one.
    pub(crate) fn truncate(&mut self, id: i64) {
        if let Some(n) = self.positions.get(&id) {
            self.deleted.extend(self.rows[n + 1..].iter().map(|(id, _)| *id));
        }
    }

    /// Inserts a row after the one with this id, and after rows that were inserted there before.
    pub(crate) fn insert(&mut self, after: i64, cells: Vec<Value>) {
        self.inserted.entry(after).or_default().push(cells);
    }

    /// Writes all changes.
    pub(crate) fn write(mut self, database: &Database) -> Result<(), EditError> {
        let before: Vec<i64> = self.rows.iter().map(|(id, _)| *id).collect();
        let mut after: Vec<Dealt> = Vec::new();
        for (id, cells) in std::mem::take(&mut self.rows) {
            if !self.deleted.contains(&id) {
                after.push((Some(id), cells));
            }
            after
                .extend(self.inserted.remove(&id).unwrap_or_default().into_iter().map(|cells| (None, cells)));
        }
        let ids = deal(&before, &after, self.highest(database)?);
        if ids.len() < after.len() {
            return Err(EditError::NoForm("no ids are left"));
        }
        let connection = database.connection();
        let kept: BTreeSet<i64> = ids.iter().copied().collect();
        for id in before.iter().filter(|id| !kept.contains(id)) {
            let query = format!("DELETE FROM {} WHERE rowid = ?1", self.table);
            connection.execute(&query, [id])?;
        }
        for ((old, cells), id) in after.into_iter().zip(ids) {
            if old == Some(id) && !self.changed.contains(&id) {
                continue;
            }
            let query = match self.positions.contains_key(&id) {
                true => self.update(),
                false => self.insertion(),
            };
            let values = std::iter::once(Value::Integer(id)).chain(cells);
            connection.execute(&query, rusqlite::params_from_iter(values))?;
        }
        Ok(())
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The highest id that the table has ever assigned.
    fn highest(&self, database: &Database) -> Result<i64, rusqlite::Error> {
        let connection = database.connection();
        let query = format!("SELECT max(rowid) FROM {}", self.table);
        let held: Option<i64> = connection.query_row(&query, [], |row| row.get(0))?;
        let query = "SELECT seq FROM sqlite_sequence WHERE name = ?1";
        let given = connection.query_row(query, [self.table], |row| row.get::<_, i64>(0)).unwrap_or_default();
        Ok(held.unwrap_or_default().max(given))
    }

    fn update(&self) -> String {
        let set: Vec<String> = self
            .columns
            .iter()
            .enumerate()
            .map(|(n, name)| format!("{} = ?{}", quoted(name), n + 2))
            .collect();
        format!("UPDATE {} SET {} WHERE rowid = ?1", self.table, set.join(", "))
    }

    fn insertion(&self) -> String {
        let names: Vec<String> = self.columns.iter().map(|name| quoted(name)).collect();
        let marks: Vec<String> = (2..self.columns.len() + 2).map(|n| format!("?{n}")).collect();
        format!("INSERT INTO {} (rowid, {}) VALUES (?1, {})", self.table, names.join(", "), marks.join(", "))
    }
}

/// Assigns an id to each row. Rows before the first change keep theirs. Rows after the last change do, too,
/// if there are enough ids in between.
fn deal(before: &[i64], after: &[Dealt], highest: i64) -> Vec<i64> {
    let is_same = |old: &i64, new: &Dealt| new.0 == Some(*old);
    let is_ascending = before.is_sorted();
    let n_first = before.iter().zip(after).take_while(|(old, new)| is_ascending && is_same(old, new)).count();
    let (old, new) = (&before[n_first..], &after[n_first..]);
    let n_last = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(|(old, new)| is_ascending && is_same(old, new))
        .count();
    let is_enough = old.len() >= new.len();
    let n_last = if is_enough { n_last } else { 0 };
    let mut free: Vec<i64> = old[..old.len() - n_last].to_vec();
    free.sort_unstable();
    let fresh = (1..).map_while(|n| highest.checked_add(n));
    let middle = free.into_iter().chain(fresh).take(new.len() - n_last);
    let (first, last) = (before[..n_first].iter().copied(), old[old.len() - n_last..].iter().copied());
    first.chain(middle).chain(last).collect()
}

/// The bytes of a cell with text.
pub(crate) fn bytes_of(cell: ValueRef<'_>) -> Option<Vec<u8>> {
    match cell {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes.to_vec()),
        _ => None,
    }
}

/// The text of a cell; empty if there is none.
pub(crate) fn text_of(cell: ValueRef<'_>) -> String {
    String::from_utf8_lossy(&bytes_of(cell).unwrap_or_default()).into_owned()
}

/// The name of a record kind, in a form that may be printed: the name itself, if it cannot be content.
pub(crate) fn name_of(kind: &str) -> String {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_+-.".contains(&byte);
    match !kind.is_empty() && kind.len() <= MAX_NAME && kind.bytes().all(is_name) {
        true => kind.to_owned(),
        false => "a type without a name".to_owned(),
    }
}

/// The row of a place.
pub(crate) fn row_of(place: &Place) -> Option<i64> {
    place.row.as_ref().map(|row| row.id)
}

/// The files with a new database that includes the log.
pub(crate) fn with_database(files: &Files, database: Database) -> Result<Files, SqliteError> {
    let mut files = files.clone();
    let bytes = database.into_bytes()?;
    if let Some(main) = files.files.first_mut() {
        main.bytes = bytes;
    }
    for file in files.files.iter_mut().filter(|file| file.name.ends_with("-wal")) {
        file.bytes.clear();
    }
    Ok(files)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(ids: &[Option<i64>]) -> Vec<Dealt> {
        ids.iter().map(|id| (*id, Vec::new())).collect()
    }

    #[test]
    fn a_row_in_the_middle_moves_only_later_rows() {
        assert_eq!(deal(&[1, 2, 5], &rows(&[Some(1), None, Some(2), Some(5)]), 9), [1, 2, 5, 10]);
    }

    #[test]
    fn a_row_that_moves_forward_needs_no_new_id() {
        assert_eq!(deal(&[1, 2, 3, 4], &rows(&[Some(1), None, Some(2), Some(4)]), 4), [1, 2, 3, 4]);
    }

    #[test]
    fn removing_a_row_keeps_the_other_ids() {
        assert_eq!(deal(&[1, 2, 3], &rows(&[Some(1), Some(3)]), 3), [1, 3]);
    }

    #[test]
    fn ids_that_do_not_ascend_are_all_reassigned() {
        assert_eq!(deal(&[7, 2], &rows(&[Some(7), None, Some(2)]), 7), [2, 7, 8]);
    }
}
