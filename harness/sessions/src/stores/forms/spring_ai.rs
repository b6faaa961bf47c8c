//! Spring AI: the table `SPRING_AI_CHAT_MEMORY` of its JDBC repository, in SQLite.
//!
//! Only the text of a message is stored. A reply with calls comes back without them, and empty if it had no text, and a
//! message with results comes back without results. Source: `JdbcChatMemoryRepository` in
//! <https://github.com/spring-projects/spring-ai>.

use std::collections::BTreeMap;

use brickbat_rules::histories::Role;
use serde_json::json;

use super::assembled::{Assembled, Assembly};
use super::{BASE, Form, Piece, Saying, Shape, Speaker};
use crate::sqlite::{Database, MAX_ROWS};
use crate::stores::rows::text_of;
use crate::{Files, FormError, Place, Product};

pub(crate) const FORM: Form = Form {
    product: Product::SpringAi,
    generation: "SQLite rows",
    other: Some(Assembly { owns: |look| look.database().is_some_and(is_memory), assemble }),
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Named(
            "/type",
            &[
                ("SYSTEM", Role::System),
                ("USER", Role::User),
                ("ASSISTANT", Role::Assistant),
                ("TOOL", Role::Tool),
            ],
        ),
        pieces: &[Piece::Whole("/content")],
    }]),
    ..BASE
};

const TABLE: &str = "SPRING_AI_CHAT_MEMORY";

/// The columns of version 1; version 2 adds `sequence_id`.
const COLUMNS: [&str; 4] = ["conversation_id", "content", "type", "timestamp"];

fn is_memory(database: &Database) -> bool {
    database.has(TABLE, &COLUMNS)
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let database = Database::open(files)?;
    let order = if database.has(TABLE, &["sequence_id"]) { "sequence_id" } else { "timestamp" };
    let query = format!(
        "SELECT rowid, conversation_id, type, content FROM {TABLE} ORDER BY {order}, rowid LIMIT {MAX_ROWS}"
    );
    let mut statement = database.connection().prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut sessions: BTreeMap<String, Assembled> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let id = row.get_ref(1).map(text_of)?;
        let (kind, content) = (row.get_ref(2).map(text_of)?, row.get_ref(3).map(text_of)?);
        let session = sessions.entry(id.clone()).or_insert_with(|| Assembled {
            id: Some(id),
            generation: FORM.generation,
            ..Assembled::default()
        });
        let record = json!({ "type": kind, "content": content }).to_string();
        session.records.push((Place::in_row(TABLE, row.get(0)?, ""), record));
    }
    Ok(sessions.into_values().collect())
}
