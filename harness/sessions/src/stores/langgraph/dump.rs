//! Rows in the text of `pg_dump`: blocks of `COPY`, and `INSERT` statements
//! (<https://www.postgresql.org/docs/current/app-pgdump.html>).
//!
//! Only values are read. A statement in any other form is passed over.

use std::collections::BTreeMap;

/// A row of a table.
pub(super) struct DumpRow {
    /// The line of the dump, from 1.
    pub(super) line: u64,
    /// The value of each column; `None` for NULL.
    cells: BTreeMap<String, Option<String>>,
}

impl DumpRow {
    /// The value of a column; empty for NULL and for a column that is not there.
    pub(super) fn text(&self, column: &str) -> &str {
        self.cells.get(column).and_then(Option::as_deref).unwrap_or_default()
    }

    /// The bytes of a `bytea` column in the hex form. `None` if it has another form.
    pub(super) fn bytes(&self, column: &str) -> Option<Vec<u8>> {
        let digits = self.text(column).strip_prefix("\\x")?.as_bytes();
        let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
        let pairs = digits.chunks(2).map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        });
        pairs.collect()
    }
}

/// The maximum number of rows that are read.
const MAX_ROWS: usize = 1_000_000;

/// A table without its schema, and its columns in the order of its definition. A dump of the data only may name none.
pub(super) type DumpTable = (&'static str, &'static [&'static str]);

/// The rows of these tables.
pub(super) fn rows(text: &str, tables: &[DumpTable]) -> BTreeMap<&'static str, Vec<DumpRow>> {
    let owned = |columns: &[&str]| columns.iter().map(|column| (*column).to_owned()).collect();
    let columns = tables.iter().map(|(table, columns)| (*table, owned(columns))).collect();
    let mut reader = DumpReader { text, at: 0, line: 1, columns, found: BTreeMap::new() };
    while let Some(line) = reader.next_line() {
        reader.statement(line);
    }
    reader.found
}

/// Returns whether a text begins like a dump and has data of a table.
pub(super) fn has_data(text: &str, table: &str) -> bool {
    ["COPY ", "INSERT INTO "].iter().any(|start| {
        let mut lines = text.lines().filter_map(|line| line.strip_prefix(start));
        lines.any(|rest| name(rest.split([' ', '(']).next().unwrap_or_default()) == table)
    })
}

struct DumpReader<'t> {
    text: &'t str,
    at: usize,
    /// The number of the line at `at`.
    line: u64,
    /// The columns of each table.
    columns: BTreeMap<&'static str, Vec<String>>,
    found: BTreeMap<&'static str, Vec<DumpRow>>,
}

impl<'t> DumpReader<'t> {
    fn next_line(&mut self) -> Option<&'t str> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        self.at += end;
        self.line += 1;
        Some(rest[..end].trim_end_matches(['\n', '\r']))
    }

    fn statement(&mut self, line: &'t str) {
        if let Some(rest) = line.strip_prefix("CREATE TABLE ") {
            self.definition(rest.trim_start_matches("IF NOT EXISTS "));
        } else if let Some(rest) = line.strip_prefix("COPY ") {
            self.copy(rest);
        } else if let Some(rest) = line.strip_prefix("INSERT INTO ") {
            self.insert(line, rest);
        }
    }

    fn table(&self, written: &str) -> Option<&'static str> {
        self.columns.keys().copied().find(|table| name(written) == *table)
    }

    /// The columns of a table, one on each line.
    fn definition(&mut self, rest: &str) {
        let table = self.table(rest.split([' ', '(']).next().unwrap_or_default());
        if rest.trim_end().ends_with(");") {
            return;
        }
        let mut columns = Vec::new();
        while let Some(line) = self.next_line().filter(|line| !line.starts_with(");")) {
            columns.extend(line.split_whitespace().next().map(|column| name(column).to_owned()));
        }
        if let Some(table) = table {
            self.columns.insert(table, columns);
        }
    }

    /// The rows of a block, up to `\.`.
    fn copy(&mut self, rest: &str) {
        let table = self.table(rest.split([' ', '(']).next().unwrap_or_default());
        let columns = listed(rest).or_else(|| self.columns.get(table?).cloned()).unwrap_or_default();
        loop {
            let at = self.line;
            let Some(line) = self.next_line().filter(|line| *line != "\\.") else { return };
            if let Some(table) = table {
                self.add(table, at, &columns, line.split('\t').map(unescaped));
            }
        }
    }

    /// The rows of a statement, which may span lines.
    fn insert(&mut self, line: &'t str, rest: &'t str) {
        let at = self.line - 1;
        let Some(table) = self.table(rest.split([' ', '(']).next().unwrap_or_default()) else { return };
        let Some(values) = rest.find("VALUES") else { return };
        let columns =
            listed(&rest[..values]).or_else(|| self.columns.get(table).cloned()).unwrap_or_default();
        // The statement begins in the line that was read last.
        let offset = rest.as_ptr() as usize - line.as_ptr() as usize + values + "VALUES".len();
        let start = self.text[..self.at].trim_end_matches(['\n', '\r']).len() - line.len() + offset;
        let mut literals = Literals { text: &self.text[start..], at: 0 };
        while let Some(cells) = literals.row() {
            self.add(table, at, &columns, cells.into_iter());
        }
        let end = start + literals.at;
        if end > self.at {
            self.line += self.text[self.at..end].matches('\n').count() as u64;
            self.at = end;
        }
    }

    fn add(
        &mut self,
        table: &'static str,
        line: u64,
        columns: &[String],
        cells: impl Iterator<Item = Option<String>>,
    ) {
        let rows = self.found.entry(table).or_default();
        if rows.len() < MAX_ROWS {
            rows.push(DumpRow { line, cells: columns.iter().cloned().zip(cells).collect() });
        }
    }
}

/// A name without its schema and its quotes.
fn name(written: &str) -> &str {
    written.rsplit('.').next().unwrap_or(written).trim_matches('"')
}

/// The columns in parentheses after the name of a table.
fn listed(rest: &str) -> Option<Vec<String>> {
    let (inner, _) = rest.split_once('(')?.1.split_once(')')?;
    Some(inner.split(',').map(|column| name(column.trim()).to_owned()).collect())
}

/// A cell of a `COPY` block (<https://www.postgresql.org/docs/current/sql-copy.html>). `None` for NULL.
fn unescaped(cell: &str) -> Option<String> {
    if cell == "\\N" {
        return None;
    }
    let mut text = String::with_capacity(cell.len());
    let mut chars = cell.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.extend(chars.next().map(escape)),
            c => text.push(c),
        }
    }
    Some(text)
}

fn escape(c: char) -> char {
    match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        c => c,
    }
}

/// The literals after `VALUES`.
struct Literals<'t> {
    text: &'t str,
    at: usize,
}

impl Literals<'_> {
    fn rest(&mut self) -> &str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    fn take(&mut self, mark: &str) -> bool {
        let is_next = self.rest().starts_with(mark);
        self.at += if is_next { mark.len() } else { 0 };
        is_next
    }

    /// The next row in parentheses.
    fn row(&mut self) -> Option<Vec<Option<String>>> {
        self.take(",");
        if !self.take("(") {
            return None;
        }
        let mut cells = Vec::new();
        loop {
            cells.push(self.cell()?);
            if self.take(")") {
                return Some(cells);
            }
            if !self.take(",") {
                return None;
            }
        }
    }

    /// A string, a number or a word. The inner `None` is NULL.
    fn cell(&mut self) -> Option<Option<String>> {
        let has_escapes = self.take("E'");
        if has_escapes || self.take("'") {
            return self.string(has_escapes).map(Some);
        }
        let rest = self.rest();
        let end = rest.find([',', ')'])?;
        let word = rest[..end].trim().to_owned();
        self.at += end;
        Some(Some(word).filter(|word| word != "NULL"))
    }

    /// A string after its opening quote.
    fn string(&mut self, has_escapes: bool) -> Option<String> {
        let mut text = String::new();
        let mut chars = self.text[self.at..].char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match c {
                '\'' if chars.next_if(|(_, next)| *next == '\'').is_some() => text.push('\''),
                '\'' => {
                    self.at += at + 1;
                    return Some(text);
                }
                '\\' if has_escapes => text.extend(chars.next().map(|(_, c)| escape(c))),
                c => text.push(c),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: &[DumpTable] = &[("t", &["a", "b"])];

    #[test]
    fn both_forms_give_the_same_rows() {
        let copy = "CREATE TABLE public.t (\n    a text NOT NULL,\n    b bytea\n);\nCOPY public.t (a, b) FROM stdin;\nit's\\t\\\\x\t\\\\x0aFF\n\\N\t\\\\x\n\\.\nCOPY public.other (a) FROM stdin;\nx\n\\.\n";
        let insert = "CREATE TABLE public.t (\n    a text NOT NULL,\n    b bytea\n);\nINSERT INTO public.t VALUES ('it''s\t\\x', '\\x0aFF');\nINSERT INTO public.t (b, a) VALUES ('\\x', NULL);\n";
        let several = "INSERT INTO t (a, b) VALUES\n\t(E'it''s\\t\\\\x', '\\x0aFF'),\n\t(NULL, '\\x');\n";
        let only_data = &insert[insert.find("INSERT").unwrap()..];
        for dump in [copy, insert, several, only_data] {
            let mut found = rows(dump, T);
            let rows = found.remove("t").unwrap();
            assert!(found.is_empty() && rows.len() == 2, "{dump}");
            assert_eq!((rows[0].text("a"), rows[0].bytes("b")), ("it's\t\\x", Some(vec![10, 255])), "{dump}");
            assert_eq!((rows[1].text("a"), rows[1].bytes("b")), ("", Some(Vec::new())), "{dump}");
            assert!(has_data(dump, "t") && !has_data(dump, "b"));
        }
        assert_eq!(rows(copy, T)["t"][1].line, 7);
        assert_eq!(rows(insert, T)["t"][1].line, 6);
    }

    #[test]
    fn a_dump_that_is_cut_off_ends_without_a_row() {
        for dump in [
            "INSERT INTO t (a) VALUES ('open",
            "INSERT INTO t (a) VALUES (",
            "COPY t (a) FROM stdin;",
            "CREATE TABLE t (",
        ] {
            assert!(rows(dump, T).is_empty(), "{dump}");
        }
        assert_eq!(rows("COPY t (a, b) FROM stdin;\nx", T)["t"][0].bytes("b"), None);
    }
}
