//! Cursor: the composers of `state.vscdb`. Each message is a bubble in a row of its own.
//!
//! `composerData:<id>` lists the ids of the bubbles, and `bubbleId:<composer>:<id>` has one. Cursor's server composes the
//! request from its own copy, so the calls and their ids are not judged here. Source, in want of Cursor's own:
//! <https://github.com/kenn-io/agentsview/pull/168>, and `src/providers/cursor.rs` of
//! <https://github.com/quangdang46/cross_agent_session_resumer>.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::histories::{Block as Content, Role};
use brickbat_rules::json::{Document, Json};
use rusqlite::OptionalExtension;

use super::assembled::{Assembled, Assembly};
use super::{BASE, CallAt, Form, Piece, ResultAt, Saying, Sends, Shape, Speaker};
use crate::sqlite::{Database, MAX_ROWS};
use crate::stores::rows::{bytes_of, text_of};
use crate::{Files, FormError, Place, Product, Session};

pub(crate) const FORM: Form = Form {
    product: Product::Cursor,
    generation: "SQLite rows",
    other: Some(Assembly { owns: |look| look.database().is_some_and(is_cursor), assemble }),
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: Saying::Numbered("/type", &[("1", Role::User), ("2", Role::Assistant)]),
        pieces: &[
            Piece::Thinking("/thinking/text", "/thinking/signature"),
            Piece::Text("/text"),
            Piece::Both(
                CallAt {
                    id: "/toolFormerData/toolCallId",
                    name: "/toolFormerData/name",
                    arguments: "/toolFormerData/rawArgs",
                },
                ResultAt {
                    call: "/toolFormerData/toolCallId",
                    name: "/toolFormerData/name",
                    output: "/toolFormerData/result",
                    failed: Some(("/toolFormerData/status", "error")),
                },
            ),
        ],
    }]),
    model: &["/modelConfig/modelName"],
    sends: Sends::Restores("Cursor's server has the result"),
    finish: Some(with_own_ids),
    ..BASE
};

const TABLE: &str = "cursorDiskKV";
const COMPOSER: &str = "composerData:";

fn is_cursor(database: &Database) -> bool {
    database.has(TABLE, &["key", "value"])
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let database = Database::open(files)?;
    let mut composers = Vec::new();
    for (row, key) in keys(&database, COMPOSER)? {
        let Some(value) = value(&database, row)? else { continue };
        let place = Place::in_row(TABLE, row, "");
        let id = &key[COMPOSER.len()..];
        let Ok(document) = Document::parse(&value) else {
            let mut lost = Assembled { id: Some(id.to_owned()), ..new() };
            lost.lose(place, crate::json::trouble(&value).to_string());
            composers.push(lost);
            continue;
        };
        let composer = composer(&database, id, &place, document.root())?;
        // A composer that was opened and never used has no message.
        composers.extend((!composer.records.is_empty() || !composer.troubles.is_empty()).then_some(composer));
    }
    Ok(composers)
}

fn new() -> Assembled {
    Assembled { generation: FORM.generation, ..Assembled::default() }
}

fn composer(
    database: &Database,
    id: &str,
    place: &Place,
    root: Json<'_, '_>,
) -> Result<Assembled, FormError> {
    let own = format!("{{\"modelConfig\":{}}}", root.field("modelConfig").raw());
    let mut composer = Assembled { id: Some(id.to_owned()), own: Some(own), ..new() };
    // The older form has the messages in the list itself.
    for (n, bubble) in root.field("conversation").items().enumerate() {
        let pointer = format!("/conversation/{n}");
        composer.records.push((Place { pointer, ..place.clone() }, bubble.raw().to_owned()));
    }
    let prefix = format!("bubbleId:{id}:");
    let bubbles: BTreeMap<String, i64> = keys(database, &prefix)?
        .into_iter()
        .map(|(row, key)| (key[prefix.len()..].to_owned(), row))
        .collect();
    let mut seen = BTreeSet::new();
    for (n, header) in root.field("fullConversationHeadersOnly").items().enumerate() {
        let bubble = header.field("bubbleId").as_str().map(|id| id.into_owned()).unwrap_or_default();
        match bubbles.get(&bubble) {
            Some(row) if seen.insert(*row) => {
                let value = value(database, *row)?.unwrap_or_default();
                composer.add(Place::in_row(TABLE, *row, ""), &value);
            }
            Some(_) => {}
            None => {
                let pointer = format!("/fullConversationHeadersOnly/{n}");
                composer.lose(
                    Place { pointer, ..place.clone() },
                    "a message of the list that is not stored".to_owned(),
                );
            }
        }
    }
    Ok(composer)
}

/// The rows with a key that begins with this.
fn keys(database: &Database, prefix: &str) -> Result<Vec<(i64, String)>, FormError> {
    let query = format!(
        "SELECT rowid, key FROM {TABLE} WHERE key >= ?1 AND key < ?2 ORDER BY rowid LIMIT {MAX_ROWS}"
    );
    // `;` is the character after `:`.
    let end = format!("{};", prefix.trim_end_matches(':'));
    let mut statement = database.connection().prepare(&query)?;
    let rows = statement.query_map([prefix, &end], |row| Ok((row.get(0)?, text_of(row.get_ref(1)?))))?;
    let all: Vec<(i64, String)> = rows.collect::<Result<_, _>>()?;
    Ok(all.into_iter().filter(|(_, key)| key.starts_with(prefix)).collect())
}

fn value(database: &Database, row: i64) -> Result<Option<Vec<u8>>, FormError> {
    let query = format!("SELECT value FROM {TABLE} WHERE rowid = ?1");
    let mut statement = database.connection().prepare(&query)?;
    Ok(statement.query_row([row], |row| row.get_ref(0).map(bytes_of)).optional()?.flatten())
}

/// Gives each call an id of its own, because the stored ones are the server's.
fn with_own_ids(session: &mut Session) {
    let mut ids: BTreeMap<String, String> = BTreeMap::new();
    for block in session.messages.iter_mut().flat_map(|message| &mut message.blocks) {
        match &mut block.content {
            Content::Call(call) => {
                let own = format!("call_{}", ids.len() + 1);
                ids.insert(std::mem::replace(&mut call.id, own.clone()), own);
            }
            Content::Result(result) => {
                if let Some(own) = ids.get(&result.call) {
                    result.call.clone_from(own);
                }
            }
            _ => {}
        }
    }
}
