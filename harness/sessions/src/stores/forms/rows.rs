//! Messages that are rows of a table of a database.

use std::collections::BTreeMap;

use brickbat_rules::json::Document;
use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::{Map, Value};

use super::assembled::Assembled;
use crate::sqlite::{Database, MAX_ROWS};
use crate::stores::rows::{bytes_of, text_of};
use crate::{FormError, Place};

/// A table with a message in each row.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// The column with the id of the session.
    pub(super) session: &'static str,
    /// The order of the rows.
    pub(super) order: &'static str,
    /// A column, and the condition on rows that are read if the table has that column.
    pub(super) only: Option<(&'static str, &'static str)>,
    /// Columns with texts, which become fields. A column that the table does not have is left out.
    pub(super) texts: &'static [&'static str],
    /// The column with JSON, which becomes a field. A row that has nothing there has `null`.
    pub(super) json: &'static str,
}

impl Table {
    /// Returns whether the database has the table, with its session and its JSON.
    pub(super) fn is_in(&self, database: &Database) -> bool {
        database.has(self.name, &[self.session, self.json])
    }

    /// The sessions, by id, with their messages in order.
    pub(super) fn sessions(
        &self,
        database: &Database,
        generation: &'static str,
    ) -> Result<Vec<Assembled>, FormError> {
        let own = database.columns(self.name);
        let texts: Vec<&str> =
            self.texts.iter().copied().filter(|name| own.iter().any(|own| own == name)).collect();
        let names: Vec<String> =
            [self.session, self.json].iter().chain(&texts).map(|name| format!("\"{name}\"")).collect();
        let only = self.only.filter(|(column, _)| own.iter().any(|own| own == column));
        let query = format!(
            "SELECT rowid, {} FROM {} WHERE {} ORDER BY {} LIMIT {MAX_ROWS}",
            names.join(", "),
            self.name,
            only.map_or("TRUE", |(_, condition)| condition),
            self.order
        );
        let mut statement = database.connection().prepare(&query)?;
        let mut rows = statement.query([])?;
        let mut sessions: BTreeMap<String, Assembled> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let place = Place::in_row(self.name, row.get(0)?, "");
            let id = row.get_ref(1).map(text_of)?;
            let session = sessions.entry(id.clone()).or_insert_with(|| Assembled {
                id: Some(id),
                generation,
                ..Assembled::default()
            });
            let cell = row.get_ref(2)?;
            let json =
                if cell == ValueRef::Null { b"null".to_vec() } else { bytes_of(cell).unwrap_or_default() };
            match std::str::from_utf8(&json).ok().filter(|_| Document::parse(&json).is_ok()) {
                Some(text) => {
                    let record = self.record(row, &texts, text)?;
                    session.records.push((place, record));
                }
                None => session.lose(place, crate::json::trouble(&json).to_string()),
            }
        }
        Ok(sessions.into_values().collect())
    }

    fn record(&self, row: &Row<'_>, texts: &[&str], json: &str) -> Result<String, rusqlite::Error> {
        let mut fields = Map::new();
        for (n, name) in texts.iter().enumerate() {
            fields.insert((*name).to_owned(), Value::String(row.get_ref(3 + n).map(text_of)?));
        }
        let fields = Value::Object(fields).to_string();
        let comma = if texts.is_empty() { "" } else { "," };
        Ok(format!("{}{comma}\"{}\":{json}}}", &fields[..fields.len() - 1], self.json))
    }
}
