//! The place of a block in its store.

use std::fmt;
use std::ops::Range;

/// The place of a value: its file, its line or row, and its position there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Place {
    /// Index into [`Files::files`](crate::Files::files).
    pub file: usize,
    /// The line number, from 1, in line-based files.
    pub line: Option<u64>,
    /// The row, in databases.
    pub row: Option<Row>,
    /// The offset of the first byte in the file, or in the cell of a database.
    pub start: u64,
    /// The offset after the last byte.
    pub end: u64,
    /// The JSON pointer inside the line, the cell or the file; empty for the complete line, cell or file.
    pub pointer: String,
}

/// A row of a database.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Row {
    /// The name of the table.
    pub table: String,
    /// The `rowid` of the row. In an export or a table without a `rowid`, the index of the row, from 1.
    pub id: i64,
}

impl Place {
    /// A value inside a line of the first file.
    pub fn in_line(line: u64, span: Range<u64>, pointer: impl Into<String>) -> Place {
        Place {
            line: Some(line),
            start: span.start,
            end: span.end,
            pointer: pointer.into(),
            ..Place::default()
        }
    }

    /// A value inside a JSON file.
    pub fn in_file(span: Range<u64>, pointer: impl Into<String>) -> Place {
        Place { start: span.start, end: span.end, pointer: pointer.into(), ..Place::default() }
    }

    /// A value inside a cell of a database.
    pub fn in_row(table: &str, id: i64, pointer: impl Into<String>) -> Place {
        Place { row: Some(Row { table: table.to_owned(), id }), pointer: pointer.into(), ..Place::default() }
    }
}

impl fmt::Display for Place {
    /// `line 388`, `row 12 of part`, or the pointer. Contains no content of the session.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.line, &self.row) {
            (Some(line), _) => write!(f, "line {line}"),
            (None, Some(row)) => write!(f, "row {} of {}", row.id, row.table),
            (None, None) if self.pointer.is_empty() => f.write_str("the file"),
            (None, None) => f.write_str(&self.pointer),
        }
    }
}
