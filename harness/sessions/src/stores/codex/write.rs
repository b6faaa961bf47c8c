//! Edits to a rollout: lines and list items are added and removed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use brickbat_rules::json::Document;
use serde_json::{Value, json};

use super::items::{CUSTOM, CUSTOM_OUTPUT, SEARCH, text};
use super::unpack::{is_packed, pack, unpack};
use crate::EditError::{self, Missing, NoForm, Unreadable};
use crate::json::{Line, lines, splice};
use crate::stores::list::Changes;
use crate::stores::{Edit, WriteError};
use crate::{Block, Files, Lost, NOT_RECORDED, Place, Product, Session, Trouble};

const PAYLOAD: &str = "/payload";
const REPLACEMENT: &str = "/payload/replacement_history";

/// An item without content. Codex reads every item of an unknown type as this one, and never sends it
/// (`ResponseItem::Other` in `codex-rs/protocol/src/models.rs`).
const SILENT: &str = r#"{"type":"other"}"#;

const OUT_OF_STEP: EditError = NoForm(
    "the records after it would move, but the database of Codex and the forks of a paginated rollout refer to them by \
     place",
);

/// The files after the edits. A packed rollout is packed again.
pub(super) fn write(files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
    let unpacked = unpack(files.main()).map_err(|cause| error(&Place::default(), cause.into()))?;
    let mut plan = Plan::new(&unpacked.bytes, session);
    for edit in edits.iter().filter(|edit| !is_of_ordinal(session, edit)) {
        plan.add(edit)?;
    }
    let mut bytes = splice(&unpacked.bytes, plan.edits());
    if edits.iter().any(|edit| is_of_ordinal(session, edit)) {
        bytes = renumbered(&bytes);
    }
    let mut files = files.clone();
    if let Some(first) = files.files.first_mut() {
        first.bytes = if is_packed(&first.bytes) { pack(&bytes) } else { bytes };
    }
    Ok(files)
}

/// Returns whether an edit is for an ordinal that is wrong or missing.
fn is_of_ordinal(session: &Session, edit: &Edit) -> bool {
    let Edit::Discard { place } = edit else { return false };
    let is_own = |trouble: &Trouble| trouble.loses == Some(Lost::Bookkeeping) && trouble.place == *place;
    session.troubles.iter().any(is_own)
}

/// The rollout with increasing ordinals: each one that is not greater than the one before becomes the next number, and so
/// does each one that is missing at the end. Everything before the first of these stays where it is, and what Codex has
/// indexed ends there.
fn renumbered(bytes: &[u8]) -> Vec<u8> {
    let ordinal = |line: &Line<'_>| {
        let document = Document::parse(line.bytes).ok()?;
        let found = document.root().get("ordinal")?;
        Some((found.as_u64()?, line.start + found.span().start..line.start + found.span().end))
    };
    let records: Vec<_> = lines(bytes)
        .filter(|line| line.bytes.starts_with(b"{"))
        .map(|line| (line.start, ordinal(&line)))
        .collect();
    let n_numbered = records.iter().rposition(|(_, own)| own.is_some()).map_or(0, |at| at + 1);
    let mut next = 0;
    let mut changes = Vec::new();
    for (n, (start, own)) in records.into_iter().enumerate() {
        match own {
            Some((own, _)) if own >= next => next = own + 1,
            Some((_, span)) => {
                changes.push((span, next.to_string().into_bytes()));
                next += 1;
            }
            None if n < n_numbered => {}
            None => {
                changes.push((start + 1..start + 1, format!("\"ordinal\":{next},").into_bytes()));
                next += 1;
            }
        }
    }
    splice(bytes, changes)
}

struct Plan<'a> {
    bytes: &'a [u8],
    lines: BTreeMap<u64, Line<'a>>,
    session: &'a Session,
    /// The blocks by place. The flag is true for blocks on the branch.
    blocks: BTreeMap<&'a Place, (&'a Block, bool)>,
    /// The messages that contain a block, by file, line and pointer.
    messages: BTreeSet<(usize, Option<u64>, &'a str)>,
    /// The records that can be removed although they are not blocks.
    discardable: BTreeSet<&'a Place>,
    gone: BTreeSet<u64>,
    /// New lines, by the line after which they are inserted.
    come: BTreeMap<u64, Vec<String>>,
    /// Changes to lists, by line and pointer.
    lists: BTreeMap<(u64, String), Changes>,
    /// Byte ranges to overwrite, each with as many bytes as before.
    over: Vec<(Range<usize>, Vec<u8>)>,
}

impl<'a> Plan<'a> {
    fn new(bytes: &'a [u8], session: &'a Session) -> Plan<'a> {
        let mut blocks = BTreeMap::new();
        for (messages, is_on_branch) in [(&session.off_branch, false), (&session.messages, true)] {
            for block in messages.iter().flat_map(|message| &message.blocks) {
                blocks.insert(&block.place, (block, is_on_branch));
            }
        }
        let parts = blocks.keys().flat_map(|place: &&Place| {
            let ends = place.pointer.match_indices("/content/");
            ends.map(|(at, _)| (place.file, place.line, &place.pointer[..at]))
        });
        let messages = parts.collect();
        let troubles = session.troubles.iter().filter(|trouble| trouble.loses.is_some());
        Plan {
            bytes,
            lines: lines(bytes).map(|line| (line.n, line)).collect(),
            session,
            blocks,
            messages,
            discardable: troubles.map(|trouble| &trouble.place).collect(),
            gone: BTreeSet::new(),
            come: BTreeMap::new(),
            lists: BTreeMap::new(),
            over: Vec::new(),
        }
    }

    fn add(&mut self, edit: &Edit) -> Result<(), WriteError> {
        if self.session.generation.ends_with("paginated") {
            return self.add_in_step(edit);
        }
        match edit {
            Edit::Move { result, call, .. } => self.bring(result, call),
            Edit::Synthesise { call, id } => self.synthesise(call, id),
            Edit::Drop { block } => self.drop(block),
            Edit::Discard { place } => self.discard(place),
            Edit::Truncate { last } => self.truncate(last),
        }
    }

    /// Edits a paginated rollout so that each record keeps its ordinal and its offset. The database next to
    /// the rollout stores the ordinal and the offset up to which it has read
    /// (`thread_history_projection_state`), and each fork stores those up to which it inherits its parent.
    fn add_in_step(&mut self, edit: &Edit) -> Result<(), WriteError> {
        let (place, with) = match edit {
            Edit::Drop { block } if self.is_message(block) => {
                (&self.item(block.pointer.as_str(), block).unwrap_or_else(|| block.clone()), SILENT)
            }
            Edit::Drop { block } => {
                self.block(block)?;
                (&self.item_of(block).unwrap_or_else(|| block.clone()), SILENT)
            }
            Edit::Discard { place } if self.discardable.contains(place) && place.line.is_some() => {
                (place, "")
            }
            Edit::Discard { place: at }
            | Edit::Move { call: at, .. }
            | Edit::Synthesise { call: at, .. }
            | Edit::Truncate { last: at } => return Err(error(at, OUT_OF_STEP)),
        };
        self.line(place)?;
        let is_item = place.pointer.is_empty()
            || place.pointer == PAYLOAD
            || in_list(&place.pointer).is_some_and(|(list, _)| list == REPLACEMENT);
        let span = usize::try_from(place.start).ok().zip(usize::try_from(place.end).ok());
        match span.filter(|(start, end)| is_item && start + with.len() <= *end) {
            Some((start, end)) => {
                self.over.push((start..end, silent(with, end - start)));
                Ok(())
            }
            None => Err(error(place, OUT_OF_STEP)),
        }
    }

    /// Returns whether this place refers to a complete message and not to one of its blocks.
    fn is_message(&self, place: &Place) -> bool {
        let own = (place.file, place.line, place.pointer.as_str());
        !self.blocks.contains_key(place) && self.messages.contains(&own)
    }

    /// The place of the item that has this block as its only part.
    fn item_of(&self, block: &Place) -> Option<Place> {
        let (list, _) = in_list(&block.pointer)?;
        let line = self.line(block).ok()?;
        let pointer = list.strip_suffix("/content")?;
        let document = Document::parse(line.bytes).ok()?;
        let has_one_part = document.root().pointer(list).len() == 1;
        self.item(pointer, block).filter(|_| has_one_part)
    }

    /// The place of the item at this pointer, on the same line as one of its blocks.
    fn item(&self, pointer: &str, block: &Place) -> Option<Place> {
        let line = self.line(block).ok()?;
        let document = Document::parse(line.bytes).ok()?;
        let span = document.root().pointer(pointer).span();
        let (start, end) = ((line.start + span.start) as u64, (line.start + span.end) as u64);
        Some(Place { pointer: pointer.to_owned(), start, end, ..block.clone() })
    }

    /// Moves a recorded output directly behind its call.
    fn bring(&mut self, result: &Place, call: &Place) -> Result<(), WriteError> {
        self.block(call)?;
        let (_, is_on_branch) = self.block(result)?;
        let line = self.line(result)?;
        let item = self.raw(result.start..result.end, result)?;
        let whole = (result.pointer == PAYLOAD).then(|| self.raw(line.span(), result)).transpose()?;
        if is_on_branch {
            self.drop(result)?;
        }
        self.answer(call, item, whole)
    }

    fn synthesise(&mut self, call: &Place, id: &str) -> Result<(), WriteError> {
        let kind = match self.block(call)?.0.state.as_deref() {
            Some(SEARCH) => {
                return Err(error(
                    call,
                    NoForm("a tool search has no output that says that none was recorded"),
                ));
            }
            Some(CUSTOM) => CUSTOM_OUTPUT,
            _ => "function_call_output",
        };
        let item = json!({ "type": kind, "call_id": id, "output": NOT_RECORDED });
        self.answer(call, item.to_string(), None)
    }

    /// Inserts an item after a call: in the call's list, or on a line. An item that had its own line keeps
    /// it.
    fn answer(&mut self, call: &Place, item: String, whole: Option<String>) -> Result<(), WriteError> {
        let line = self.line(call)?;
        if let Some((list, n)) = in_list(&call.pointer) {
            let changes = self.lists.entry((line.n, list.to_owned())).or_default();
            changes.come.entry(Some(n)).or_default().push(item);
            return Ok(());
        }
        let text = match whole {
            Some(whole) => whole,
            None => record(&line, &item),
        };
        self.come.entry(line.n).or_default().push(text);
        Ok(())
    }

    fn drop(&mut self, block: &Place) -> Result<(), WriteError> {
        if !self.is_message(block) {
            self.block(block)?;
        }
        let n = self.line(block)?.n;
        if block.pointer == PAYLOAD {
            self.gone.insert(n);
            return Ok(());
        }
        let (list, item) =
            in_list(&block.pointer).ok_or_else(|| error(block, NoForm("a summary cannot be taken out")))?;
        self.lists.entry((n, list.to_owned())).or_default().gone.insert(item);
        Ok(())
    }

    fn discard(&mut self, place: &Place) -> Result<(), WriteError> {
        if !self.discardable.contains(place) {
            return Err(error(place, Missing("nothing there can be taken out")));
        }
        // Truncated packed bytes have no line, and disappear when the readable rest is packed again.
        self.gone.extend(place.line);
        Ok(())
    }

    fn truncate(&mut self, last: &Place) -> Result<(), WriteError> {
        let holds = |message: &&crate::Message| message.blocks.iter().any(|block| block.place == *last);
        let message = self.session.messages.iter().find(holds);
        let blocks = &message.ok_or_else(|| error(last, Missing("no block of the branch is there")))?.blocks;
        let key = |place: &Place| (place.line, place.start);
        let end =
            blocks.iter().map(|block| &block.place).max_by_key(|place| key(place)).unwrap_or(last).clone();
        let branch = self.session.messages.iter().flat_map(|message| &message.blocks);
        let mut summaries = branch.filter(|block| block.place.pointer == "/payload/message");
        if summaries.any(|summary| summary.place.line > end.line) {
            return Err(error(last, NoForm("what was before a compaction cannot be the end")));
        }
        let line = self.line(&end)?;
        self.gone.extend(self.lines.range(line.n + 1..).map(|(n, _)| *n));
        if let Some((n, _)) = end.pointer.strip_prefix(REPLACEMENT).and_then(|rest| in_item(rest)) {
            let document = Document::parse(line.bytes)
                .map_err(|_| error(&end, Unreadable("the line is no longer JSON")))?;
            let n_items = document.root().pointer(REPLACEMENT).len();
            let changes = self.lists.entry((line.n, REPLACEMENT.to_owned())).or_default();
            changes.gone.extend(n + 1..n_items);
        }
        Ok(())
    }

    fn edits(mut self) -> Vec<(Range<usize>, Vec<u8>)> {
        let mut edits = self.edits_of_lists();
        edits.append(&mut self.over);
        for n in &self.gone {
            let Some(line) = self.lines.get(n) else { continue };
            let end = line.start + line.bytes.len();
            match self.come.remove(n) {
                Some(texts) => edits.push((line.start..end, texts.join("\n").into_bytes())),
                None => edits.push((line.start..(end + 1).min(self.bytes.len()), Vec::new())),
            }
        }
        for (n, texts) in &self.come {
            let Some(line) = self.lines.get(n) else { continue };
            let end = line.start + line.bytes.len();
            edits.push((end..end, format!("\n{}", texts.join("\n")).into_bytes()));
        }
        edits
    }

    /// Inner lists come first, since a message is removed with the last part of its content.
    fn edits_of_lists(&mut self) -> Vec<(Range<usize>, Vec<u8>)> {
        let mut edits = Vec::new();
        let mut by_line: BTreeMap<u64, Vec<(String, Changes)>> = BTreeMap::new();
        for ((n, pointer), changes) in std::mem::take(&mut self.lists) {
            by_line.entry(n).or_default().push((pointer, changes));
        }
        for (n, lists) in by_line {
            let Some(line) = self.lines.get(&n).copied().filter(|_| !self.gone.contains(&n)) else {
                continue;
            };
            let Ok(document) = Document::parse(line.bytes) else { continue };
            let (outer, inner): (Vec<_>, Vec<_>) =
                lists.into_iter().partition(|(pointer, _)| pointer == REPLACEMENT);
            let mut outer = outer.into_iter().next().map(|(_, changes)| changes).unwrap_or_default();
            let replacement: Vec<_> = document.root().pointer(REPLACEMENT).items().collect();
            let mut found = Vec::new();
            for (pointer, changes) in inner {
                let item = pointer.strip_prefix(REPLACEMENT).and_then(in_item).map(|(item, _)| item);
                let message = match item {
                    Some(item) => replacement.get(item).copied(),
                    None => Some(document.root().field("payload")),
                };
                let Some(content) = message.map(|message| message.field("content")) else { continue };
                match (changes.leave_nothing(content.len()), item) {
                    (true, Some(item)) => {
                        outer.gone.insert(item);
                    }
                    (true, None) => {
                        self.gone.insert(n);
                    }
                    (false, _) => found.push((item, changes.edits(content))),
                }
            }
            let stays = |item: &Option<usize>| item.is_none_or(|item| !outer.gone.contains(&item));
            let inner = found.into_iter().filter(|(item, _)| stays(item)).flat_map(|(_, edits)| edits);
            let mut of_line: Vec<_> = inner.collect();
            of_line.extend(outer.edits(document.root().pointer(REPLACEMENT)));
            if !self.gone.contains(&n) {
                let shift = |(span, with): (Range<usize>, Vec<u8>)| {
                    (line.start + span.start..line.start + span.end, with)
                };
                edits.extend(of_line.into_iter().map(shift));
            }
        }
        edits
    }

    fn block(&self, place: &Place) -> Result<(&'a Block, bool), WriteError> {
        self.blocks
            .get(place)
            .copied()
            .ok_or_else(|| error(place, Missing("no block of the session is there")))
    }

    fn line(&self, place: &Place) -> Result<Line<'a>, WriteError> {
        if place.file != 0 {
            let cause = NoForm("it is in the rollout that this one was forked from; repair that one");
            return Err(error(place, cause));
        }
        let line = place.line.and_then(|n| self.lines.get(&n));
        line.copied().ok_or_else(|| error(place, Missing("no such line")))
    }

    fn raw(&self, span: Range<u64>, place: &Place) -> Result<String, WriteError> {
        let bytes = self.bytes.get(span.start as usize..span.end as usize);
        let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.map(str::to_owned).ok_or_else(|| error(place, Unreadable("no text is there")))
    }
}

/// An item, or nothing, padded with blanks to this number of bytes.
fn silent(item: &str, n_bytes: usize) -> Vec<u8> {
    let (head, end) = item.split_at(item.len().saturating_sub(1));
    let blanks = " ".repeat(n_bytes.saturating_sub(item.len()));
    format!("{head}{blanks}{end}").into_bytes()
}

/// The line of an item, with the time of the line before it.
fn record(line: &Line<'_>, item: &str) -> String {
    let time =
        Document::parse(line.bytes).map(|document| text(document.root(), "timestamp")).unwrap_or_default();
    format!("{{\"timestamp\":{},\"type\":\"response_item\",\"payload\":{item}}}", Value::String(time))
}

/// Splits a pointer to a list item into the pointer to the list and the index.
fn in_list(pointer: &str) -> Option<(&str, usize)> {
    let (list, n) = pointer.rsplit_once('/')?;
    Some((list, n.parse().ok()?))
}

/// Splits the rest of a pointer into its leading index and the remainder.
fn in_item(rest: &str) -> Option<(usize, &str)> {
    let rest = rest.strip_prefix('/')?;
    let (n, rest) = rest.split_once('/').unwrap_or((rest, ""));
    Some((n.parse().ok()?, rest))
}

fn error(place: &Place, cause: EditError) -> WriteError {
    cause.at(Product::Codex, place)
}
