//! Edits to rows, to an export and to lines.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use brickbat_rules::histories::Block as Content;
use brickbat_rules::json::Document;
use rusqlite::types::Value as Cell;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::TABLE;
use crate::EditError::{self, Missing, NoForm, Unreadable};
use crate::json::splice;
use crate::sqlite::{Database, is_database};
use crate::stores::records::ItemSpans;
use crate::stores::rows::{Rows, row_of, with_database};
use crate::stores::{Edit, Look, WriteError};
use crate::{Files, NOT_RECORDED, Place, Product, Session};

pub(super) fn write(files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
    if edits.is_empty() {
        return Ok(files.clone());
    }
    let plan = Plan::of(session, edits)?;
    let written = match is_database(files.main()) {
        true => plan.rows(files, session.id.as_deref().unwrap_or_default()),
        false => plan.file(files),
    };
    written.map_err(|cause| refusal(&Place::default(), cause))
}

/// Identifies a message: its row, its line, or its index in the list of an export.
type Key = i64;

/// The changes to the messages.
#[derive(Default)]
struct Plan {
    /// The content to remove, by its index in the message.
    dropped: BTreeMap<Key, BTreeSet<usize>>,
    /// The messages to remove completely.
    deleted: BTreeSet<Key>,
    /// The content of a new message after this one.
    inserted: BTreeMap<Key, Vec<Insertion>>,
    /// The last message to keep.
    last: Option<Key>,
}

/// A result in a new message.
enum Insertion {
    /// The result in this message, at this index.
    Moved(Key, usize),
    /// A result for this call, whose own result was never recorded.
    Made(String),
}

impl Plan {
    fn of(session: &Session, edits: &[Edit]) -> Result<Plan, WriteError> {
        let mut plan = Plan::default();
        let at = |place: &Place| {
            key_of(place)
                .zip(index_of(place))
                .ok_or_else(|| refusal(place, Missing("not a place of this store")))
        };
        let calls: BTreeMap<&Place, &str> = session
            .messages
            .iter()
            .flat_map(|message| &message.blocks)
            .filter_map(|block| match &block.content {
                Content::Call(call) => Some((&block.place, call.id.as_str())),
                _ => None,
            })
            .collect();
        for edit in edits {
            match edit {
                Edit::Move { result, call, .. } => {
                    let (from, n) = at(result)?;
                    plan.dropped.entry(from).or_default().insert(n);
                    plan.inserted.entry(at(call)?.0).or_default().push(Insertion::Moved(from, n));
                }
                Edit::Synthesise { call, id } => {
                    if calls.get(call) != Some(&id.as_str()) {
                        return Err(refusal(call, Missing("no such call")));
                    }
                    plan.inserted.entry(at(call)?.0).or_default().push(Insertion::Made(id.clone()));
                }
                Edit::Drop { block } => {
                    let (key, n) = at(block)?;
                    plan.dropped.entry(key).or_default().insert(n);
                }
                Edit::Discard { place } => {
                    let key = key_of(place)
                        .ok_or_else(|| refusal(place, Missing("nothing that can be taken out")))?;
                    plan.deleted.insert(key);
                }
                Edit::Truncate { last } => plan.last = Some(at(last)?.0),
            }
        }
        Ok(plan)
    }

    fn rows(&self, files: &Files, session: &str) -> Result<Files, EditError> {
        let database = Database::open(files)?;
        let mut rows = Rows::load(&database, TABLE, "created_timestamp, rowid", session)?;
        // A message may contain the results of a batch, and each of them may move.
        let mut read: BTreeMap<Key, Vec<Range<usize>>> = BTreeMap::new();
        for (after, insertions) in &self.inserted {
            let mut cells = rows.cells(*after).ok_or(Missing("no such row"))?;
            let mut items = Vec::new();
            for insertion in insertions {
                items.push(match insertion {
                    Insertion::Made(id) => made(id),
                    Insertion::Moved(from, n) => {
                        let content = rows.text(*from, "content_json").ok_or(Missing("no such row"))?;
                        if !read.contains_key(from) {
                            let spans = spans(content.as_bytes(), "")
                                .ok_or(Unreadable("content that is not a list"))?;
                            read.insert(*from, spans);
                        }
                        let span = read.get(from).and_then(|spans| spans.get(*n)).cloned();
                        let span = span.ok_or(Missing("no such content"))?;
                        content.get(span).ok_or(Missing("no such content"))?.to_owned()
                    }
                });
            }
            let id = format!("msg_{}", digest(&items));
            for (column, cell) in [
                ("message_id", Cell::Text(id)),
                ("role", Cell::Text("user".to_owned())),
                ("content_json", Cell::Text(format!("[{}]", items.join(",")))),
                ("tokens", Cell::Null),
            ] {
                cells = rows.with(cells, column, cell);
            }
            rows.insert(*after, cells);
        }
        for (row, indices) in &self.dropped {
            let content = rows.text(*row, "content_json").ok_or(Missing("no such row"))?.to_owned();
            let spans = spans(content.as_bytes(), "").ok_or(Unreadable("content that is not a list"))?;
            if indices.len() >= spans.len() {
                rows.delete(*row);
                continue;
            }
            let bytes = splice(content.as_bytes(), without(&spans, indices));
            rows.replace(*row, "content_json", String::from_utf8(bytes).map_err(|_| Unreadable("no text"))?);
        }
        self.deleted.iter().for_each(|row| rows.delete(*row));
        self.last.into_iter().for_each(|row| rows.truncate(row));
        rows.write(&database)?;
        Ok(with_database(files, database)?)
    }

    fn file(&self, files: &Files) -> Result<Files, EditError> {
        let bytes = files.main();
        let found = match Look::of(files).is_object(super::is_export) {
            true => Found::export(bytes),
            false => Found::lines(bytes),
        };
        let found = found.ok_or(Unreadable("no JSON"))?;
        let mut deleted: BTreeSet<usize> = BTreeSet::new();
        let index = |key: &Key| found.keys.binary_search(key).map_err(|_| Missing("no such message"));
        let mut edits = Vec::new();
        for (key, indices) in &self.dropped {
            let n = index(key)?;
            let spans = spans_in(bytes, &found.spans[n], "content")
                .ok_or(Unreadable("content that is not a list"))?;
            match indices.len() >= spans.len() {
                true => drop(deleted.insert(n)),
                false => edits.extend(without(&spans, indices)),
            }
        }
        for key in &self.deleted {
            deleted.insert(index(key)?);
        }
        if let Some(last) = &self.last {
            deleted.extend(index(last)? + 1..found.spans.len());
        }
        // Content of a removed message needs no edit of its own.
        edits.retain(|(span, _)| {
            let n = found.spans.partition_point(|message| message.end <= span.start);
            !deleted.contains(&n)
        });
        let mut items = ItemSpans::default();
        for (after, insertions) in &self.inserted {
            let n = index(after)?;
            if deleted.contains(&n) {
                return Err(NoForm("the message of the call is removed"));
            }
            let message = inserted(bytes, &found, &mut items, n, insertions)?;
            edits.push((found.spans[n].end..found.spans[n].end, message));
        }
        edits.extend(found.without(bytes, &deleted));
        let mut files = files.clone();
        let bytes = splice(bytes, edits);
        files.files.iter_mut().take(1).for_each(|file| file.bytes.clone_from(&bytes));
        Ok(files)
    }
}

/// The messages of a file, in file order.
struct Found {
    keys: Vec<Key>,
    spans: Vec<Range<usize>>,
    is_lines: bool,
}

impl Found {
    fn export(bytes: &[u8]) -> Option<Found> {
        let spans = spans_in(bytes, &(0..bytes.len()), "conversation")?;
        Some(Found { keys: (0..spans.len() as Key).collect(), spans, is_lines: false })
    }

    fn lines(bytes: &[u8]) -> Option<Found> {
        let lines = crate::json::lines(bytes).skip(usize::from(super::has_header(bytes)));
        let each = lines.map(|line| {
            let span = line.start..line.start + line.bytes.len();
            Some((Key::try_from(line.n).ok()?, span))
        });
        let each: Vec<(Key, Range<usize>)> = each.collect::<Option<_>>()?;
        let (keys, spans) = each.into_iter().unzip();
        Some(Found { keys, spans, is_lines: true })
    }

    /// The byte ranges to cut in order to remove these messages.
    fn without(&self, bytes: &[u8], deleted: &BTreeSet<usize>) -> Vec<(Range<usize>, Vec<u8>)> {
        if !self.is_lines {
            return without(&self.spans, deleted);
        }
        let line = |n: &usize| {
            let span = self.spans.get(*n)?;
            let end = (span.end + 1).min(bytes.len());
            Some((span.start..end, Vec::new()))
        };
        deleted.iter().filter_map(line).collect()
    }
}

/// A new message after another, with the separator between the two.
fn inserted(
    bytes: &[u8],
    found: &Found,
    spans: &mut ItemSpans,
    after: usize,
    insertions: &[Insertion],
) -> Result<Vec<u8>, EditError> {
    let mut items = Vec::new();
    for insertion in insertions {
        items.push(match insertion {
            Insertion::Made(id) => made(id),
            Insertion::Moved(from, n) => {
                let message = found.keys.binary_search(from).map_err(|_| Missing("no such message"))?;
                let item = spans.find(bytes, &found.spans[message], &format!("/content/{n}"));
                let item = item.and_then(|span| bytes.get(span)).ok_or(Missing("no such content"))?;
                String::from_utf8(item.to_vec()).map_err(|_| Unreadable("no text"))?
            }
        });
    }
    let call = crate::json::parse(&bytes[found.spans[after].clone()]).unwrap_or_default();
    let mut fields = Vec::new();
    // Older messages have neither an id nor metadata.
    if call.get("id").is_some_and(Value::is_string) {
        fields.push(format!("\"id\":\"msg_{}\"", digest(&items)));
    }
    let created = call.get("created").unwrap_or(&Value::Null);
    fields.push(format!("\"role\":\"user\",\"created\":{created},\"content\":[{}]", items.join(",")));
    if call.get("metadata").is_some() {
        fields.push("\"metadata\":{\"userVisible\":true,\"agentVisible\":true}".to_owned());
    }
    let parted = if found.is_lines { '\n' } else { ',' };
    Ok(format!("{parted}{{{}}}", fields.join(",")).into_bytes())
}

/// A result that is marked as not recorded.
fn made(id: &str) -> String {
    let result = json!({ "status": "error", "error": NOT_RECORDED });
    json!({ "type": "toolResponse", "id": id, "toolResult": result }).to_string()
}

/// An id that depends only on the given items.
fn digest(items: &[String]) -> String {
    let digest = Sha256::digest(items.join(",").as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The byte ranges of a list's items. The list is a field or the complete text.
fn spans(bytes: &[u8], field: &str) -> Option<Vec<Range<usize>>> {
    let document = Document::parse(bytes).ok()?;
    let list = match field {
        "" => document.root(),
        field => document.root().get(field)?,
    };
    list.is_array().then(|| list.items().map(|item| item.span()).collect())
}

/// The same for a range of a file, with offsets in the file.
fn spans_in(bytes: &[u8], stretch: &Range<usize>, field: &str) -> Option<Vec<Range<usize>>> {
    let spans = spans(bytes.get(stretch.clone())?, field)?;
    Some(spans.into_iter().map(|span| span.start + stretch.start..span.end + stretch.start).collect())
}

/// The byte ranges to cut from a list, one per run of dropped items, each with one comma.
fn without(spans: &[Range<usize>], dropped: &BTreeSet<usize>) -> Vec<(Range<usize>, Vec<u8>)> {
    let dropped: Vec<usize> = dropped.iter().copied().filter(|n| *n < spans.len()).collect();
    let cut = |run: &[usize]| {
        let (first, last) = (*run.first()?, *run.last()?);
        let stretch = match (first.checked_sub(1), spans.get(last + 1)) {
            (_, Some(next)) => spans[first].start..next.start,
            (Some(before), None) => spans[before].end..spans[last].end,
            (None, None) => spans[first].start..spans[last].end,
        };
        Some((stretch, Vec::new()))
    };
    dropped.chunk_by(|one, next| one + 1 == *next).filter_map(cut).collect()
}

fn key_of(place: &Place) -> Option<Key> {
    match (row_of(place), place.line) {
        (Some(row), _) => Some(row),
        (None, Some(line)) => line.try_into().ok(),
        (None, None) => place.pointer.strip_prefix("/conversation/")?.split('/').next()?.parse().ok(),
    }
}

/// The index of a block in its message.
fn index_of(place: &Place) -> Option<usize> {
    place.pointer.rsplit('/').next()?.parse().ok()
}

fn refusal(place: &Place, cause: impl Into<EditError>) -> WriteError {
    cause.into().at(Product::Goose, place)
}
