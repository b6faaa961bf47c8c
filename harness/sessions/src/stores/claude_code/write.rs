//! Edits to a file: lines are added or removed, and their children get a new parent. All other bytes stay
//! unchanged.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use brickbat_rules::json::{Document, Json};
use serde_json::json;

use super::branch::Branch;
use super::companions;
use super::items::Item;
use super::join;
use super::line::{Kind, Lines, Record};
use super::new_line::{self, NewLine, Saying};
use super::tree::{Parent, Tree};
use crate::EditError::{self, Missing, NoForm, Unreadable};
use crate::halves::Halves;
use crate::json::{span_of, splice};
use crate::stores::{Edit, WriteError};
use crate::{Cut, Files, Place, Product};

/// Applies the edits to the first file.
pub(super) fn write(files: &Files, edits: &[Edit]) -> Result<Files, WriteError> {
    let parted = join::parted(files, edits);
    if !parted.is_empty() {
        // The other edits follow in another round, since all places change.
        let mut files = files.clone();
        for parted in &parted {
            let bytes = join::join(files.main(), parted)?;
            if let Some(file) = files.files.first_mut() {
                file.bytes = bytes;
            }
        }
        return Ok(files);
    }
    let lines = Lines::read(files.main());
    let tree = Tree::new(&lines.records, lines.version.unwrap_or_default());
    let branch = Branch::new(files.main(), &tree);
    let mut plan = Plan::new(files, &lines, &tree, &branch);
    for edit in edits {
        match edit {
            Edit::Move { result, call, id } => plan.answer(call, id, Some(result))?,
            Edit::Synthesise { call, id } => plan.answer(call, id, None)?,
            Edit::Drop { block } => plan.drop_block(block)?,
            Edit::Discard { place } => plan.discard(place)?,
            Edit::Truncate { last } => plan.truncate(last)?,
        }
    }
    let end = plan.end;
    let mut files = files.clone();
    let bytes = plan.carried_out();
    if let Some(file) = files.files.first_mut() {
        file.bytes = match end.map(|end| &tree.records[end]) {
            Some(end) => ending_in(bytes, end),
            None => bytes,
        };
    }
    Ok(files)
}

/// Makes the first line of a cut branch a child of the line that it provably follows.
pub(super) fn reattach(files: &Files, cut: Option<&Cut>) -> Result<Files, WriteError> {
    let cut = cut.ok_or_else(|| refused(&Place::default(), Missing("the branch is not cut")))?;
    let parent = cut
        .parent
        .as_ref()
        .ok_or_else(|| refused(&cut.place, Missing("nothing proves what came before it")))?;
    // Places are the same in both versions.
    let halves = Halves::of(files);
    let whole = halves.as_ref().map_or(files, |halves| &halves.files).main();
    let lines = Lines::read(whole);
    let find = |place: &Place| lines.records.iter().find(|record| Some(record.line) == place.line);
    let (line, parent) = find(&cut.place)
        .zip(find(parent))
        .ok_or_else(|| refused(&cut.place, Missing("there is no such line")))?;
    let own = span_of(&whole[line.span.clone()], "/parentUuid")
        .ok_or_else(|| refused(&cut.place, Missing("the line names no parent")))?;
    let span = line.span.start + own.start..line.span.start + own.end;
    let mut files = files.clone();
    let bytes = splice(files.main(), vec![(span, json!(parent.uuid).to_string().into_bytes())]);
    if let Some(file) = files.files.first_mut() {
        file.bytes = bytes;
    }
    Ok(files)
}

/// The changes to each line.
struct Plan<'a> {
    files: &'a Files,
    lines: &'a Lines,
    tree: &'a Tree<'a>,
    branch: &'a Branch,
    by_line: BTreeMap<u64, usize>,
    /// Each line's position on the chain.
    positions: BTreeMap<usize, usize>,
    /// New lines, by the line after which they are inserted.
    added: BTreeMap<usize, Vec<NewLine>>,
    /// The ids of the new lines.
    ids: BTreeSet<String>,
    /// Lines that become children of a new line, with the id of that line.
    hung: BTreeMap<usize, String>,
    /// The items of `message.content` to remove.
    dropped: BTreeMap<usize, BTreeSet<usize>>,
    /// The lines to remove.
    removed: BTreeSet<usize>,
    /// The byte ranges to remove.
    discarded: BTreeSet<(usize, usize)>,
    /// The new last line in the conversation.
    end: Option<usize>,
    /// Lines that were parsed for their calls or results. One line may contain a complete batch.
    read: BTreeMap<(usize, u64), Rc<ReadLine<'a>>>,
    /// The number of ids tried for the new lines of each call.
    n_ids: BTreeMap<String, usize>,
}

/// A parsed line, with the byte ranges of the items in its message's content.
struct ReadLine<'a> {
    document: Document<'a>,
    bytes: &'a [u8],
    items: Vec<Range<usize>>,
}

impl<'a> ReadLine<'a> {
    fn of(bytes: &'a [u8]) -> Option<ReadLine<'a>> {
        let document = Document::parse(bytes).ok()?;
        let items = content(document.root()).items().map(Json::span).collect();
        Some(ReadLine { document, bytes, items })
    }
}

fn content<'t, 'a>(line: Json<'t, 'a>) -> Json<'t, 'a> {
    line.field("message").field("content")
}

impl<'a> Plan<'a> {
    fn new(files: &'a Files, lines: &'a Lines, tree: &'a Tree<'a>, branch: &'a Branch) -> Plan<'a> {
        Plan {
            files,
            lines,
            tree,
            branch,
            by_line: tree.records.iter().enumerate().map(|(at, record)| (record.line, at)).collect(),
            positions: branch.chain.iter().enumerate().map(|(position, at)| (*at, position)).collect(),
            added: BTreeMap::new(),
            ids: BTreeSet::new(),
            hung: BTreeMap::new(),
            dropped: BTreeMap::new(),
            removed: BTreeSet::new(),
            discarded: BTreeSet::new(),
            end: None,
            read: BTreeMap::new(),
            n_ids: BTreeMap::new(),
        }
    }

    /// Adds a line with a call's result after the call's line.
    ///
    /// The product writes the results of a batch in this way: each is a child of the line with its own call.
    /// If the call's line is the last in its reply, its children become children of the result, so that the
    /// chain passes through the result.
    fn answer(&mut self, call: &Place, id: &str, result: Option<&Place>) -> Result<(), WriteError> {
        let at = self.record_at(call)?;
        let record = &self.tree.records[at];
        let line = self.line(0, record.line, record.span.clone());
        let line = line.ok_or_else(|| refused(call, Unreadable("the line cannot be read")))?;
        let (block, display) = match result {
            Some(place) => self.recorded(place, id)?,
            None => (new_line::not_recorded(id), None),
        };
        let parent =
            self.added.get(&at).and_then(|lines| lines.last()).map_or(&record.uuid, |line| &line.uuid);
        let n = self.n_ids.entry(id.to_owned()).or_default();
        let mut uuid = new_line::uuid(id, *n);
        while self.tree.find(&uuid).is_some() || self.ids.contains(&uuid) {
            *n += 1;
            uuid = new_line::uuid(id, *n);
        }
        let edit = if result.is_some() { "moved" } else { "synthesised" };
        let saying = Saying { parent, uuid, block: &block, display: display.as_deref(), edit };
        let line = new_line::of(line.document.root(), record, saying);
        self.ids.insert(line.uuid.clone());
        if let Some(next) = self.next_on_chain(at) {
            self.hung.insert(next, line.uuid.clone());
        }
        self.added.entry(at).or_default().push(line);
        match result {
            Some(place) if self.is_on_branch(place) => self.drop_block(place),
            _ => Ok(()),
        }
    }

    /// The next line on the chain, unless it belongs to the same reply.
    fn next_on_chain(&self, at: usize) -> Option<usize> {
        let next = *self.branch.chain.get(self.positions.get(&at)? + 1)?;
        let (call, hanging) = (&self.tree.records[at], &self.tree.records[next]);
        let is_same_reply = hanging.kind == Kind::Assistant && hanging.message_id == call.message_id;
        (!is_same_reply && self.tree.hangs_as_written(next)).then_some(next)
    }

    /// A recorded result: its block and its display form.
    fn recorded(&mut self, place: &Place, id: &str) -> Result<(String, Option<String>), WriteError> {
        let missing = || refused(place, Missing("there is no result"));
        let file = self.files.files.get(place.file).ok_or_else(missing)?;
        let Some(n) = place.line else {
            companions::call_of(&file.name).ok_or_else(missing)?;
            return Ok((new_line::of_words(id, &String::from_utf8_lossy(&file.bytes)), None));
        };
        let at = usize::try_from(place.start).ok().filter(|at| *at < file.bytes.len()).ok_or_else(missing)?;
        let line = self.line(place.file, n, at..at).ok_or_else(missing)?;
        let root = line.document.root();
        if place.pointer == "/toolUseResult" {
            let words = companions::displayed_words(root.pointer(&place.pointer));
            return Ok((new_line::of_words(id, &words), None));
        }
        let item = place.pointer.strip_prefix("/message/content/").and_then(|n| n.parse::<usize>().ok());
        let raw = item.and_then(|item| line.items.get(item)).map(|span| &line.bytes[span.clone()]);
        let block = Document::parse(raw.ok_or_else(missing)?).map_err(|_| missing())?;
        let value = block.root();
        if !value.field("type").is("tool_result") || !value.field("tool_use_id").is(id) {
            return Err(missing());
        }
        let is_alone = line.items.len() == 1;
        let display = root.get("toolUseResult").filter(|_| is_alone);
        Ok((value.raw().to_owned(), display.map(|display| display.raw().to_owned())))
    }

    /// The line with this number around this byte range of its file, without the NUL bytes at its ends. Each
    /// line is parsed once.
    fn line(&mut self, file: usize, n: u64, within: Range<usize>) -> Option<Rc<ReadLine<'a>>> {
        if let Some(line) = self.read.get(&(file, n)) {
            return Some(Rc::clone(line));
        }
        let bytes: &'a [u8] = &self.files.files.get(file)?.bytes;
        let start = bytes[..within.start].iter().rposition(|byte| *byte == b'\n').map_or(0, |n| n + 1);
        let end = bytes[within.end..].iter().position(|byte| *byte == b'\n');
        let line = &bytes[start..end.map_or(bytes.len(), |n| within.end + n)];
        let is_json = |byte: &u8| *byte != 0;
        let from = line.iter().position(is_json).unwrap_or(0);
        let to = line.iter().rposition(is_json).map_or(0, |n| n + 1);
        let line = Rc::new(ReadLine::of(line.get(from..to).unwrap_or_default())?);
        self.read.insert((file, n), Rc::clone(&line));
        Some(line)
    }

    fn is_on_branch(&self, place: &Place) -> bool {
        let at = self.record_at(place).ok();
        at.is_some_and(|at| self.branch.is_on[at]) && place.pointer.starts_with("/message/content/")
    }

    fn drop_block(&mut self, place: &Place) -> Result<(), WriteError> {
        let at = self.record_at(place)?;
        match place.pointer.strip_prefix("/message/content/").and_then(|n| n.parse().ok()) {
            Some(item) => {
                self.dropped.entry(at).or_default().insert(item);
            }
            None if matches!(place.pointer.as_str(), "/message/content" | "/content") => {
                self.removed.insert(at);
            }
            None => return Err(refused(place, Missing("there is no block"))),
        }
        Ok(())
    }

    /// Removes a byte range. A complete line loses its line end, too.
    fn discard(&mut self, place: &Place) -> Result<(), WriteError> {
        let bytes = self.files.main();
        let span = usize::try_from(place.start).ok().zip(usize::try_from(place.end).ok());
        let (start, end) = span
            .filter(|(start, end)| place.file == 0 && start < end && *end <= bytes.len())
            .ok_or_else(|| refused(place, Missing("there is no such stretch")))?;
        let is_line = start == 0 || bytes[start - 1] == b'\n';
        let end = match bytes.get(end) {
            Some(b'\n') if is_line => end + 1,
            _ => end,
        };
        self.discarded.insert((start, end));
        Ok(())
    }

    /// Removes the lines of the branch after the message of a block.
    fn truncate(&mut self, last: &Place) -> Result<(), WriteError> {
        let at = self.record_at(last)?;
        let mut lines: Vec<usize> = Vec::new();
        let mut kept: Option<usize> = None;
        for item in &self.branch.items {
            let groups = match item {
                Item::Reply(reply) => [reply.lines.as_slice(), reply.results.as_slice()],
                Item::Line(line) => [std::slice::from_ref(line), &[]],
            };
            for group in groups.into_iter().filter(|group| !group.is_empty()) {
                lines.extend(group);
                if group.contains(&at) {
                    kept = Some(lines.len());
                }
            }
        }
        let mut kept = kept.ok_or_else(|| refused(last, Missing("it is not on the branch")))?;
        if self.is_result(at, &last.pointer) {
            // Consecutive results are one message. User text in their lines is the next message.
            let mut at = at;
            loop {
                if self.tree.records[at].has_words {
                    self.drop_words(at);
                    break;
                }
                let next = lines.get(kept).copied();
                let Some(next) = next.filter(|next| !self.tree.records[*next].results.is_empty()) else {
                    break;
                };
                (at, kept) = (next, kept + 1);
            }
        }
        let stays: BTreeSet<usize> = lines[..kept].iter().copied().collect();
        // Lines that connect the remaining lines stay.
        let last_kept = self.branch.chain.iter().rposition(|line| stays.contains(line));
        let last_kept = last_kept.ok_or_else(|| refused(last, NoForm("nothing would be left")))?;
        let goes: BTreeSet<usize> = lines[kept..].iter().copied().collect();
        self.removed.extend(&goes);
        self.removed.extend(&self.branch.chain[last_kept + 1..]);
        self.end = Some(self.branch.chain[last_kept]);
        Ok(())
    }

    /// Returns whether a block of a line is a result.
    fn is_result(&self, at: usize, pointer: &str) -> bool {
        let line = &self.files.main()[self.tree.records[at].span.clone()];
        Document::parse(line).is_ok_and(|line| line.root().pointer(pointer).field("type").is("tool_result"))
    }

    /// Removes everything except results from a line.
    fn drop_words(&mut self, at: usize) {
        let Ok(line) = Document::parse(&self.files.main()[self.tree.records[at].span.clone()]) else {
            return;
        };
        let items = line.root().field("message").field("content").items().enumerate();
        let words = items.filter(|(_, item)| !item.field("type").is("tool_result")).map(|(n, _)| n);
        self.dropped.entry(at).or_default().extend(words);
    }

    fn record_at(&self, place: &Place) -> Result<usize, WriteError> {
        let at = place.line.filter(|_| place.file == 0).and_then(|line| self.by_line.get(&line));
        at.copied().ok_or_else(|| refused(place, Missing("there is no such line in the session's own file")))
    }

    /// The bytes of the file after all changes.
    fn carried_out(mut self) -> Vec<u8> {
        let bytes = self.files.main();
        let mut changes: Vec<(Range<usize>, Vec<u8>)> = Vec::new();
        for (at, items) in std::mem::take(&mut self.dropped) {
            let record = &self.tree.records[at];
            let items: Vec<usize> = items.into_iter().collect();
            match without_items(&bytes[record.span.clone()], &items) {
                Some(spans) if !self.removed.contains(&at) => {
                    let start = record.span.start;
                    changes.extend(
                        spans.into_iter().map(|span| (start + span.start..start + span.end, Vec::new())),
                    );
                }
                _ => {
                    self.removed.insert(at);
                }
            }
        }
        let mut anchors = BTreeMap::new();
        for at in self.branch.is_on.iter().enumerate().filter_map(|(at, is_on)| is_on.then_some(at)) {
            let record = &self.tree.records[at];
            let Some(parent) = self.new_parent(at, &mut anchors) else { continue };
            let line = &bytes[record.span.clone()];
            if let Some(span) = span_of(line, "/parentUuid") {
                let start = record.span.start;
                changes.push((start + span.start..start + span.end, parent.into_bytes()));
            }
        }
        let new_leaves = self.new_leaves();
        for (span, leaf) in &self.lines.leaves {
            if let Some(new) = self.tree.find(leaf).and_then(|at| new_leaves.get(&at)) {
                changes.push((span.clone(), json!(self.tree.records[*new].uuid).to_string().into_bytes()));
            }
        }
        for (at, lines) in &self.added {
            let end = self.tree.records[*at].whole.end;
            let texts: String = lines.iter().map(|line| format!("\n{}", line.text)).collect();
            changes.push((end..end, texts.into_bytes()));
        }
        let mut gone = std::mem::take(&mut self.discarded);
        for at in &self.removed {
            let whole = &self.tree.records[*at].whole;
            gone.insert((whole.start, whole.end + usize::from(whole.end < bytes.len())));
        }
        // Ranges inside a removed range need no other change.
        let gone = joined(gone);
        changes.retain(|(span, _)| {
            let before = gone.range(..=span.start).next_back();
            before.is_none_or(|(_, end)| *end <= span.start)
        });
        changes.extend(gone.into_iter().map(|(start, end)| (start..end, Vec::new())));
        splice(bytes, changes)
    }

    /// The new parent of a remaining line, as JSON. `None` if it keeps its parent.
    fn new_parent(&self, at: usize, anchors: &mut BTreeMap<usize, String>) -> Option<String> {
        if self.removed.contains(&at) || !self.tree.hangs_as_written(at) {
            return None;
        }
        if let Some(added) = self.hung.get(&at) {
            return Some(json!(added).to_string());
        }
        match self.tree.parent(at) {
            Parent::Line(parent) if self.removed.contains(&parent) => Some(self.anchor(parent, anchors)),
            _ => None,
        }
    }

    /// The new parent for the children of a removed line. Each removed line is visited once.
    fn anchor(&self, removed: usize, anchors: &mut BTreeMap<usize, String>) -> String {
        let mut passed = Vec::new();
        let mut at = removed;
        let anchor = loop {
            if let Some(anchor) = anchors.get(&at) {
                break anchor.clone();
            }
            passed.push(at);
            if let Some(added) = self.hung.get(&at) {
                break json!(added).to_string();
            }
            match self.tree.parent(at) {
                // A cycle has no more lines than there are.
                Parent::Line(next) if self.removed.contains(&next) && passed.len() <= self.removed.len() => {
                    at = next
                }
                Parent::Line(next) => break json!(self.tree.records[next].uuid).to_string(),
                Parent::Nothing | Parent::Phantom => break "null".to_owned(),
            }
        };
        anchors.extend(passed.into_iter().map(|at| (at, anchor.clone())));
        anchor
    }

    /// For each removed line of the chain, the nearest remaining conversation line above it.
    fn new_leaves(&self) -> BTreeMap<usize, usize> {
        let mut leaves = BTreeMap::new();
        let mut last = None;
        for at in &self.branch.chain {
            if self.removed.contains(at) {
                leaves.extend(last.map(|last| (*at, last)));
            } else if matches!(self.tree.records[*at].kind, Kind::User | Kind::Assistant) {
                last = Some(*at);
            }
        }
        leaves
    }
}

/// The byte ranges to cut so that these items disappear from the line's list with their commas. `None` if no
/// item would remain.
fn without_items(line: &[u8], dropped: &[usize]) -> Option<Vec<Range<usize>>> {
    let document = Document::parse(line).ok()?;
    let spans: Vec<_> = document.root().field("message").field("content").items().map(Json::span).collect();
    let mut stretches = Vec::new();
    let mut last_kept: Option<usize> = None;
    for (n, span) in spans.iter().enumerate() {
        if dropped.binary_search(&n).is_err() {
            last_kept = Some(n);
            continue;
        }
        // After a remaining item, cut the comma before the removed one. Before the first remaining item, cut
        // the comma after it.
        stretches.push(match (n.checked_sub(1), spans.get(n + 1)) {
            (Some(before), _) if last_kept.is_some() => spans[before].end..span.end,
            (_, Some(next)) => span.start..next.start,
            _ => span.clone(),
        });
    }
    last_kept.is_some().then_some(stretches)
}

/// Merges overlapping ranges into a map from start to end.
fn joined(stretches: BTreeSet<(usize, usize)>) -> BTreeMap<usize, usize> {
    let mut joined: BTreeMap<usize, usize> = BTreeMap::new();
    for (start, end) in stretches {
        match joined.last_entry() {
            Some(mut last) if start < *last.get() => {
                let longest = end.max(*last.get());
                last.insert(longest);
            }
            _ => {
                joined.insert(start, end);
            }
        }
    }
    joined
}

/// The bytes with this line as the end of the conversation.
///
/// The latest line of the file is the end, so if an abandoned fork is later, the line moves to the end of the
/// file. If such a fork is a child of the line itself, an empty line after it becomes the end.
fn ending_in(mut bytes: Vec<u8>, end: &Record) -> Vec<u8> {
    if end.is_meta || is_end(&bytes, &end.uuid) {
        return bytes;
    }
    let lines = Lines::read(&bytes);
    let Some(record) = lines.records.iter().rev().find(|record| record.uuid == end.uuid) else {
        return bytes;
    };
    let (whole, span) = (record.whole.clone(), record.span.clone());
    let line = bytes[whole.clone()].to_vec();
    let mark = Document::parse(&bytes[span]).map(|line| new_line::end_mark(line.root(), &end.uuid));
    let gone = whole.start..whole.end + usize::from(whole.end < bytes.len());
    bytes.drain(gone);
    append(&mut bytes, &line);
    if !is_end(&bytes, &end.uuid)
        && let Ok(mark) = mark
    {
        append(&mut bytes, mark.as_bytes());
    }
    bytes
}

fn is_end(bytes: &[u8], uuid: &str) -> bool {
    let lines = Lines::read(bytes);
    let tree = Tree::new(&lines.records, lines.version.unwrap_or_default());
    tree.leaf().is_some_and(|leaf| Some(leaf.at) == tree.find(uuid))
}

fn append(bytes: &mut Vec<u8>, line: &[u8]) {
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(line);
    bytes.push(b'\n');
}

pub(super) fn refused(place: &Place, cause: EditError) -> WriteError {
    cause.at(Product::ClaudeCode, place)
}
