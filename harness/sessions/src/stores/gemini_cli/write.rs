//! Edits to a Gemini CLI session.
//!
//! A result is written beside its call, into `toolCalls`. A message is removed with its earlier records,
//! which would otherwise return. A branch is cut with the product's own `$rewindTo`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use brickbat_rules::json::{Document, Json};
use serde_json::{Value, json};

use super::log::{JSON, Log};
use crate::EditError::Missing;
use crate::json::{span_of, text};
use crate::stores::gemini_parts::{not_recorded, response};
use crate::stores::records::{ItemSpans, Record, Splices, parted, with_main};
use crate::stores::{Edit, WriteError};
use crate::{Files, Place, Product};

/// The changes to the file.
struct Changes<'l> {
    bytes: &'l [u8],
    log: &'l Log,
    splices: Splices,
    items: ItemSpans,
    /// Results of the branch that are beside their calls, by their text: the start of the first record with
    /// that result, and the index of the call there. Collected on first use.
    beside_calls: Option<BTreeMap<String, (usize, usize)>>,
    /// The line of the last list that was looked up, and its byte range.
    container: Option<(u64, Range<usize>)>,
    /// The records by their start. The flag is true for records on the branch.
    records: BTreeMap<usize, (&'l Record, bool)>,
    /// The pointers of the blocks to remove, by record.
    drops: BTreeMap<usize, BTreeSet<String>>,
    /// New results, by record and call id. Each contains its tool name.
    answers: BTreeMap<usize, BTreeMap<String, (String, Vec<u8>)>>,
}

pub(super) fn write(files: &Files, edits: &[Edit]) -> Result<Files, WriteError> {
    let log = Log::read(files.main());
    let on_branch = log.active.iter().flatten().map(|record| (record.span.start, (record, true)));
    let off_branch = log.rewound.iter().map(|record| (record.span.start, (record, false)));
    let records = off_branch.chain(on_branch).collect();
    let mut changes = Changes {
        bytes: files.main(),
        log: &log,
        splices: Splices::default(),
        items: ItemSpans::default(),
        beside_calls: None,
        container: None,
        records,
        drops: BTreeMap::new(),
        answers: BTreeMap::new(),
    };
    for edit in edits {
        changes.take(edit)?;
    }
    changes.write_records();
    Ok(with_main(files, changes.splices.carry_out(files.main())))
}

impl<'l> Changes<'l> {
    fn take(&mut self, edit: &Edit) -> Result<(), WriteError> {
        match edit {
            Edit::Synthesise { call, id } => {
                let name = self.name_of(call, id)?;
                let part = not_recorded(id, &name).to_string().into_bytes();
                self.answer(call, id, name, part)?;
            }
            Edit::Move { result, call, id } => {
                let name = self.name_of(call, id)?;
                let (part, is_on_branch) = self.recorded(result, id, &name)?;
                self.answer(call, id, name, part)?;
                if is_on_branch {
                    self.drop_block(result)?;
                }
            }
            Edit::Drop { block } => self.drop_block(block)?,
            Edit::Discard { place } => {
                if !self.splices.discard(self.bytes, place) {
                    return Err(Missing("no such stretch").at(Product::GeminiCli, place));
                }
            }
            Edit::Truncate { last } => self.truncate(last)?,
        }
        Ok(())
    }

    /// The record at a place, whether it is on the branch, and the pointer inside it.
    fn at(&self, place: &Place) -> Result<(&'l Record, bool, String), WriteError> {
        let found = usize::try_from(place.start).ok().and_then(|start| self.records.get(&start));
        let found = found.and_then(|(record, is_on_branch)| {
            let inner = place.pointer.strip_prefix(&record.pointer)?;
            Some((*record, *is_on_branch, inner.to_owned()))
        });
        found.ok_or_else(|| Missing("there is no such block").at(Product::GeminiCli, place))
    }

    fn name_of(&self, call: &Place, id: &str) -> Result<String, WriteError> {
        let (record, _, inner) = self.at(call)?;
        let block = record.value.pointer(&inner).unwrap_or(&Value::Null);
        let block = block.get("functionCall").unwrap_or(block);
        match text(block, "id") == id {
            true => Ok(text(block, "name").to_owned()),
            false => Err(Missing("the call has another id").at(Product::GeminiCli, call)),
        }
    }

    /// The part of a recorded result, and whether it is on the branch.
    fn recorded(&mut self, result: &Place, id: &str, name: &str) -> Result<(Vec<u8>, bool), WriteError> {
        let (record, is_on_branch, inner) = self.at(result)?;
        let own = &self.bytes[record.span.clone()];
        let part = match record.value.pointer(&inner) {
            Some(Value::String(said)) => {
                response(id, name, json!({ "output": said })).to_string().into_bytes()
            }
            Some(Value::Object(_)) => {
                let span = self.items.find(self.bytes, &record.span, &inner);
                let span = span.or_else(|| Some(moved(span_of(own, &inner)?, record.span.start)));
                span.map(|span| self.bytes[span].to_vec()).unwrap_or_default()
            }
            _ => return Err(Missing("there is no result").at(Product::GeminiCli, result)),
        };
        Ok((part, is_on_branch))
    }

    fn answer(&mut self, call: &Place, id: &str, name: String, part: Vec<u8>) -> Result<(), WriteError> {
        let (record, ..) = self.at(call)?;
        self.answers.entry(record.span.start).or_default().insert(id.to_owned(), (name, part));
        Ok(())
    }

    fn drop_block(&mut self, block: &Place) -> Result<(), WriteError> {
        let (record, _, inner) = self.at(block)?;
        let (record, inner) = self.beside_call(record, &inner).unwrap_or((record, inner));
        self.drops.entry(record.span.start).or_default().insert(inner);
        Ok(())
    }

    /// The copy of a result that is next to its call, if the given one is a user message. This copy is
    /// dropped, because the product would recreate the other one from it on each resume. A batch loses one
    /// copy completely, because the responses to one batch must come together.
    fn beside_call(&mut self, record: &Record, inner: &str) -> Option<(&'l Record, String)> {
        let said = record.value.pointer(inner).filter(|_| inner.starts_with("/content/"))?;
        let records = &self.records;
        let beside_calls = self.beside_calls.get_or_insert_with(|| beside_calls(records));
        let (start, n) = beside_calls.get(&said.to_string()).copied()?;
        Some((self.records.get(&start)?.0, format!("/toolCalls/{n}/result/0")))
    }

    fn truncate(&mut self, last: &Place) -> Result<(), WriteError> {
        let (record, ..) = self.at(last)?;
        let mut after =
            self.log.active.iter().flatten().skip_while(|other| other.span.start != record.span.start);
        after.next();
        if self.log.generation == JSON {
            after.for_each(|record| self.remove(record));
        } else if let Some(next) = after.next() {
            let line = json!({ "$rewindTo": next.text("id") });
            let end = self.bytes.len();
            let text = if self.bytes.ends_with(b"\n") { format!("{line}\n") } else { format!("\n{line}") };
            self.splices.replace(end..end, text);
        }
        Ok(())
    }

    /// Applies the planned changes to each record.
    fn write_records(&mut self) {
        let starts: BTreeSet<usize> = self.drops.keys().chain(self.answers.keys()).copied().collect();
        for start in starts {
            let Some((record, _)) = self.records.get(&start).copied() else { continue };
            let drops = self.drops.remove(&start).unwrap_or_default();
            let answers = self.answers.remove(&start).unwrap_or_default();
            let blocks = super::messages(record).unwrap_or_default();
            let mut pointers =
                blocks.iter().flat_map(|message| &message.blocks).map(|block| &block.place.pointer);
            let is_dropped = |pointer: &String| {
                pointer.strip_prefix(&record.pointer).is_some_and(|inner| drops.contains(inner))
            };
            if answers.is_empty() && pointers.all(is_dropped) {
                self.remove_with_earlier(record);
                continue;
            }
            let answered = self.write_answers(record, &drops, answers);
            for inner in drops {
                // The pointer of a block inside a result names its call: `/toolCalls/3/result/0`.
                let call = inner.strip_prefix("/toolCalls/").and_then(|rest| rest.split_once("/result"));
                let call = call.and_then(|(call, _)| call.parse::<usize>().ok());
                let is_rewritten = call.is_some_and(|call| answered.contains(&call));
                if !is_rewritten {
                    self.write_drop(record, &inner);
                }
            }
        }
    }

    fn write_drop(&mut self, record: &Record, inner: &str) {
        if let Some((list, item)) = parted(inner)
            && self.splices.without_item(self.bytes, &record.span, list, item)
        {
            return;
        }
        let with = if inner == "/content" { "\"\"" } else { "null" };
        if let Some(span) = span_of(&self.bytes[record.span.clone()], inner) {
            self.splices.replace(moved(span, record.span.start), with);
        }
    }

    /// Writes results beside their calls. Returns the indices of the calls that got a new result.
    fn write_answers(
        &mut self,
        record: &Record,
        drops: &BTreeSet<String>,
        mut answers: BTreeMap<String, (String, Vec<u8>)>,
    ) -> BTreeSet<usize> {
        let own = &self.bytes[record.span.clone()];
        let document = Document::parse(own).unwrap_or_default();
        let places = document.root().field("toolCalls").items();
        let mut written = BTreeSet::new();
        for (n, (call, place)) in super::list(record, "toolCalls").iter().zip(places).enumerate() {
            let Some((_, part)) = answers.remove(text(call, "id")) else { continue };
            let result = place.get("result");
            let kept = result.into_iter().flat_map(Json::items).enumerate();
            let kept = kept.filter(|(item, _)| !drops.contains(&format!("/toolCalls/{n}/result/{item}")));
            let parts: Vec<&[u8]> =
                kept.map(|(_, item)| &own[item.span()]).chain([part.as_slice()]).collect();
            let list = [b"[".as_slice(), &parts.join(b",".as_slice()), b"]"].concat();
            match result {
                Some(result) => self.splices.replace(moved(result.span(), record.span.start), list),
                None => self.add_in(record, place.span(), [b"\"result\":".as_slice(), &list].concat()),
            }
            written.insert(n);
        }
        let entries = answers.into_iter().map(|(id, (name, part))| {
            let head = json!({ "id": id, "name": name, "args": {}, "status": "error" }).to_string();
            let head = head.strip_suffix('}').unwrap_or_default().to_owned();
            [head.as_bytes(), b",\"result\":[", &part, b"]}"].concat()
        });
        let entries: Vec<Vec<u8>> = entries.collect();
        if !entries.is_empty() {
            self.write_entries(record, &entries.join(b",".as_slice()));
        }
        written
    }

    /// Adds entries to `toolCalls`, for calls that are only in the content.
    fn write_entries(&mut self, record: &Record, entries: &[u8]) {
        let own = &self.bytes[record.span.clone()];
        match record.value.get("toolCalls") {
            Some(Value::Array(_)) => self.add(record, "/toolCalls", entries.to_vec()),
            Some(_) => {
                let span = span_of(own, "/toolCalls").unwrap_or(0..0);
                let list = [b"[".as_slice(), entries, b"]"].concat();
                self.splices.replace(moved(span, record.span.start), list);
            }
            None => self.add(record, "", [b"\"toolCalls\":[".as_slice(), entries, b"]"].concat()),
        }
    }

    /// Adds a field to the object, or an item to the list, at a pointer in a record.
    fn add(&mut self, record: &Record, pointer: &str, what: Vec<u8>) {
        if let Some(span) = span_of(&self.bytes[record.span.clone()], pointer) {
            self.add_in(record, span, what);
        }
    }

    /// Adds a field to the object, or an item to the list, at a byte range of a record.
    fn add_in(&mut self, record: &Record, span: Range<usize>, what: Vec<u8>) {
        let own = &self.bytes[record.span.clone()];
        let is_empty = own[span.start + 1..span.end - 1].iter().all(u8::is_ascii_whitespace);
        let end = record.span.start + span.end - 1;
        let comma: &[u8] = if is_empty { b"" } else { b"," };
        self.splices.replace(end..end, [comma, &what].concat());
    }

    fn remove_with_earlier(&mut self, record: &Record) {
        let log = self.log;
        self.remove(record);
        for earlier in log.earlier.get(record.text("id")).into_iter().flatten() {
            self.remove(earlier);
        }
    }

    fn remove(&mut self, record: &Record) {
        match parted(&record.pointer) {
            None => self.splices.without_line(self.bytes, record),
            Some((list, item)) => {
                let whole = self.container(record);
                self.splices.without_item(self.bytes, &whole, list, item);
            }
        }
    }

    /// The line or file with the list that contains a record.
    fn container(&mut self, record: &Record) -> Range<usize> {
        if record.line.is_none() {
            return 0..self.bytes.len();
        }
        // The messages of one list are on one line, and many of them may be removed.
        if let Some((line, span)) = &self.container
            && Some(*line) == record.line
        {
            return span.clone();
        }
        let is_end = |byte: &u8| *byte == b'\n';
        let start = self.bytes[..record.span.start].iter().rposition(is_end).map_or(0, |at| at + 1);
        let end = self.bytes[record.span.end..].iter().position(is_end);
        let span = start..end.map_or(self.bytes.len(), |at| record.span.end + at);
        self.container = record.line.map(|line| (line, span.clone()));
        span
    }
}

/// The results of the branch that are beside their calls, by their text. If a call of a record has no result
/// or several, the results of that record are not copies.
fn beside_calls(records: &BTreeMap<usize, (&Record, bool)>) -> BTreeMap<String, (usize, usize)> {
    let mut found = BTreeMap::new();
    for (start, (record, _)) in records.iter().filter(|(_, (_, is_on_branch))| *is_on_branch) {
        let only = |call: &Value| match call["result"].as_array().map(Vec::as_slice) {
            Some([part]) => Some(part.to_string()),
            _ => None,
        };
        let results: Option<Vec<String>> = super::list(record, "toolCalls").iter().map(only).collect();
        for (n, said) in results.into_iter().flatten().enumerate() {
            found.entry(said).or_insert((*start, n));
        }
    }
    found
}

fn moved(span: Range<usize>, by: usize) -> Range<usize> {
    span.start + by..span.end + by
}
