//! Rows of one table, exported as CSV or as JSON: they become a database, which the store of the table reads.
//!
//! Supabase, pgAdmin, DBeaver and `psql` write such files, with JSON as text in a cell. The name of the table is not in the
//! file, so the columns decide, and then the store itself. Brickbat only reads such a file.

use brickbat_rules::json::{Document, Json};
use rusqlite::types::Value;
use rusqlite::{Connection, MAIN_DB, params_from_iter};

use super::Look;
use crate::json::lines;
use crate::sqlite::{MAX_ROWS, is_database};
use crate::{File, Files, Product};

/// Tables that hold a session by themselves, with columns that an export has.
const TABLES: &[(&str, &[&str])] = &[
    ("n8n_chat_histories", &["session_id", "message"]),
    ("message_store", &["session_id", "message"]),
    ("llama_index_memory", &["key", "timestamp", "role", "data"]),
    (
        "voltagent_memory_messages",
        &["conversation_id", "message_id", "role", "parts", "format_version", "created_at"],
    ),
    ("cf_ai_chat_agent_messages", &["id", "message", "created_at"]),
    ("mastra_messages", &["thread_id", "role", "content", "createdAt"]),
    ("session_items", &["session_id", "position", "item_type", "message_json", "summary_text"]),
    (
        "agno_runs",
        &["run_id", "session_id", "parent_run_id", "status", "run_index", "run_data", "created_at"],
    ),
    ("agno_sessions", &["session_id", "session_type", "runs", "agent_data"]),
];

/// The products with these tables.
const PRODUCTS: [Product; 8] = [
    Product::N8n,
    Product::Langchain,
    Product::Llamaindex,
    Product::Voltagent,
    Product::CloudflareAgents,
    Product::Mastra,
    Product::DockerAgent,
    Product::Agno,
];

/// Returns whether a file of this product may be an export of its table.
pub(super) fn may_be_of(product: Product) -> bool {
    PRODUCTS.contains(&product)
}

/// Columns with numbers, which give the order of the rows.
const NUMBERS: [&str; 6] =
    ["timestamp", "position", "run_index", "format_version", "first_kept_entry", "seq"];

/// The number of columns. The widest table here has 20.
const MAX_COLUMNS: usize = 100;

/// Rows with the names of their columns.
struct Export {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

/// The databases that the file may be an export of.
pub(super) fn databases(files: &Files) -> Vec<Files> {
    let bytes = files.main();
    if is_database(bytes) {
        return Vec::new();
    }
    let is_it = |columns: &[String]| TABLES.iter().any(|(_, own)| has(columns, own));
    let Some(export) = of_json(files, is_it).or_else(|| of_csv(bytes, is_it)) else { return Vec::new() };
    let own = TABLES.iter().filter(|(_, columns)| has(&export.columns, columns));
    let database = |(table, _): &(&str, _)| {
        let bytes = export.database(table).ok()?;
        Some(Files { files: vec![File { name: files.name().to_owned(), bytes }] })
    };
    own.filter_map(database).collect()
}

fn has(columns: &[String], wanted: &[&str]) -> bool {
    columns.len() <= MAX_COLUMNS && wanted.iter().all(|name| columns.iter().any(|column| column == name))
}

impl Export {
    fn database(&self, table: &str) -> rusqlite::Result<Vec<u8>> {
        let mut connection = Connection::open_in_memory()?;
        let id = self.columns.iter().position(|column| column == "id").filter(|at| self.has_numbers(*at));
        let column = |(n, name): (usize, &String)| {
            let kind = match () {
                () if Some(n) == id => "INTEGER PRIMARY KEY",
                () if NUMBERS.contains(&name.as_str()) => "INTEGER",
                () => "TEXT",
            };
            format!("\"{}\" {kind}", name.replace('"', "\"\""))
        };
        let columns: Vec<String> = self.columns.iter().enumerate().map(column).collect();
        connection.execute_batch(&format!("CREATE TABLE {table} ({})", columns.join(", ")))?;
        let marks = vec!["?"; self.columns.len()].join(", ");
        let transaction = connection.transaction()?;
        {
            let mut statement = transaction.prepare(&format!("INSERT INTO {table} VALUES ({marks})"))?;
            for row in &self.rows {
                statement.execute(params_from_iter(row))?;
            }
        }
        transaction.commit()?;
        Ok(connection.serialize(MAIN_DB)?.to_vec())
    }

    /// Returns whether each row has another whole number in this column.
    fn has_numbers(&self, column: usize) -> bool {
        let number = |row: &Vec<Value>| match row.get(column)? {
            Value::Text(text) => text.parse::<i64>().ok(),
            _ => None,
        };
        let numbers: Option<std::collections::BTreeSet<i64>> = self.rows.iter().map(number).collect();
        numbers.is_some_and(|numbers| numbers.len() == self.rows.len())
    }
}

/// The objects of a list, or of the lines, as rows.
fn of_json(files: &Files, is_it: impl Fn(&[String]) -> bool) -> Option<Export> {
    let look = Look::of(files);
    let is_named = |document: &Document<'_>| is_it(&names(document.root()));
    let parsed: Vec<Document<'_>>;
    let items: Vec<Json<'_, '_>> = match look.document() {
        Some(document) if document.root().is_array() => document.root().items().take(MAX_ROWS).collect(),
        Some(document) => vec![document.root()],
        None if !look.head().first().is_some_and(is_named) => return None,
        None => {
            let all: Result<Vec<_>, _> = lines(look.main()).map(|line| Document::parse(line.bytes)).collect();
            parsed = all.ok()?;
            parsed.iter().map(Document::root).collect()
        }
    };
    let first = items.first().filter(|first| first.is_object())?;
    let columns = names(*first);
    is_it(&columns).then_some(())?;
    let cell = |value: Json<'_, '_>| match value.as_str() {
        Some(text) => Value::Text(text.into_owned()),
        None if value.is_null() || value.span().is_empty() => Value::Null,
        None => Value::Text(value.raw().to_owned()),
    };
    let row = |item: &Json<'_, '_>| columns.iter().map(|column| cell(item.field(column))).collect();
    let rows = items.iter().map(row).collect();
    Some(Export { rows, columns })
}

/// The names of the fields of an object.
fn names(object: Json<'_, '_>) -> Vec<String> {
    object.fields().filter_map(|(name, _)| Some(name.as_str()?.into_owned())).collect()
}

/// The rows of a CSV file with a header.
fn of_csv(bytes: &[u8], is_it: impl Fn(&[String]) -> bool) -> Option<Export> {
    let text = std::str::from_utf8(bytes).ok()?;
    let head = text.lines().next()?;
    let separators = [',', ';', '\t'].into_iter();
    let header = |separator: char| Some((separator, records(head, separator, 1).pop()?));
    let (separator, columns) =
        separators.filter_map(header).find(|(_, columns)| columns.len() > 1 && is_it(columns))?;
    let cells = |row: Vec<String>| {
        let cell =
            |cell: String| if cell.is_empty() || cell == "NULL" { Value::Null } else { Value::Text(cell) };
        row.into_iter().map(cell).chain(std::iter::repeat(Value::Null)).take(columns.len()).collect()
    };
    let rows = records(text, separator, MAX_ROWS).into_iter().skip(1).map(cells).collect();
    Some(Export { rows, columns })
}

/// The records of a text in CSV (RFC 4180). A quote that is not closed ends with the text.
fn records(text: &str, separator: char, max: usize) -> Vec<Vec<String>> {
    let (mut records, mut record, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut is_quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' if is_quoted || cell.is_empty() => is_quoted = !is_quoted,
            _ if is_quoted => cell.push(char),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' => {
                record.push(std::mem::take(&mut cell));
                records.push(std::mem::take(&mut record));
                if records.len() == max {
                    return records;
                }
            }
            _ if char == separator => record.push(std::mem::take(&mut cell)),
            _ => cell.push(char),
        }
    }
    if !cell.is_empty() || !record.is_empty() {
        record.push(cell);
        records.push(record);
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    const ROWS: [(&str, &str); 3] = [
        ("7", r#"{"type":"human","content":"Look, \"both\".","additional_kwargs":{}}"#),
        ("9", r#"{"type":"human","content":"Well?","additional_kwargs":{}}"#),
        ("8", r#"{"type":"ai","content":"Seen.","additional_kwargs":{},"tool_calls":[]}"#),
    ];

    fn csv(separator: &str, end: &str) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let row = |(id, message): &(&str, &str)| [id, "s-1", quoted(message).as_str()].join(separator) + end;
        ["id", "session_id", "message"].join(separator) + end + &ROWS.iter().map(row).collect::<String>()
    }

    fn json(lines: bool) -> String {
        let row = |(id, message): &(&str, &str)| {
            serde_json::json!({ "id": id.parse::<i64>().unwrap(), "session_id": "s-1", "message": message })
                .to_string()
        };
        let rows: Vec<String> = ROWS.iter().map(row).collect();
        if lines { rows.join("\n") } else { format!("[{}]", rows.join(",")) }
    }

    #[test]
    fn each_export_of_a_table_is_read_like_the_table() {
        let texts = [csv(",", "\n"), csv(";", "\r\n"), csv("\t", "\n"), json(false), json(true)];
        for text in texts {
            let session = read(&Files::one("rows.csv", text.as_bytes())).unwrap().remove(0);
            assert_eq!((session.product, session.messages.len()), (Product::N8n, 3), "{text}");
            let rows: Vec<i64> =
                session.messages.iter().map(|message| message.place.row.as_ref().unwrap().id).collect();
            assert_eq!(rows, [7, 8, 9], "{text}");
        }
    }

    #[test]
    fn other_tables_and_texts_are_no_export() {
        for text in [
            "",
            "a,b\n1,2",
            "id,session_id,message\n1,s,\"hello",
            "[{\"id\":1}]",
            "\"",
            "id,message,created_at\n1,x,y",
        ] {
            assert!(read(&Files::one("rows.csv", text.as_bytes())).is_err(), "{text}");
        }
    }
}
