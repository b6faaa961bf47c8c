//! Edits to an Anthropic message list.
//!
//! A result goes into the user message after its call, before the other blocks. If there is no such message,
//! one is inserted.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::{Value, json};

use super::Log;
use crate::EditError::{Missing, NoForm, Unreadable};
use crate::json::{span_of, text};
use crate::stores::records::{ItemSpans, Record, Splices, item_spans, parted, with_main};
use crate::stores::{Edit, WriteError};
use crate::{Files, Place, Product};

pub(super) fn write(files: &Files, edits: &[Edit]) -> Result<Files, WriteError> {
    let unread = || Unreadable("the file cannot be read").at(Product::Cline, &Place::default());
    let log = Log::read(files).ok_or_else(unread)?;
    let mut changes = Changes {
        bytes: files.main(),
        log: &log,
        splices: Splices::default(),
        items: ItemSpans::default(),
        answers: BTreeMap::new(),
        drops: BTreeMap::new(),
    };
    for edit in edits {
        changes.take(edit)?;
    }
    let answers = std::mem::take(&mut changes.answers);
    for (index, results) in &answers {
        changes.write_answers(*index, results);
    }
    changes.write_drops(&answers)?;
    Ok(with_main(files, changes.splices.carry_out(files.main())))
}

struct Changes<'l> {
    bytes: &'l [u8],
    log: &'l Log,
    splices: Splices,
    items: ItemSpans,
    /// The new results, by the index of the message with their calls.
    answers: BTreeMap<usize, Vec<Vec<u8>>>,
    /// The pointers of the blocks to remove, by the index of their message.
    drops: BTreeMap<usize, BTreeSet<String>>,
}

impl Changes<'_> {
    fn take(&mut self, edit: &Edit) -> Result<(), WriteError> {
        match edit {
            Edit::Synthesise { call, id } => {
                let index = self.call(call, id)?;
                let result = json!({
                    "type": "tool_result",
                    "tool_use_id": id,
                    "content": crate::NOT_RECORDED,
                    "is_error": true,
                });
                self.answers.entry(index).or_default().push(result.to_string().into_bytes());
            }
            Edit::Move { result, call, id } => {
                let index = self.call(call, id)?;
                let (source, inner) = self.at(result)?;
                let record = &self.log.records[source];
                let span = self.items.find(self.bytes, &record.span, &inner).unwrap_or(0..0);
                let block = self.bytes[span].to_vec();
                self.answers.entry(index).or_default().push(block);
                self.drops.entry(source).or_default().insert(inner);
            }
            Edit::Drop { block } => {
                let (index, inner) = self.at(block)?;
                self.drops.entry(index).or_default().insert(inner);
            }
            Edit::Discard { place } => self.close_list(place)?,
            Edit::Truncate { last } => {
                let (index, _) = self.at(last)?;
                (index + 1..self.log.records.len()).for_each(|index| self.remove(index));
            }
        }
        Ok(())
    }

    /// The index of the message that contains a place, and the pointer inside it.
    fn at(&self, place: &Place) -> Result<(usize, String), WriteError> {
        let start = usize::try_from(place.start).unwrap_or(usize::MAX);
        let found = self.log.records.binary_search_by_key(&start, |record| record.span.start).ok();
        let found = found.filter(|_| place.file == 0).and_then(|index| {
            let inner = place.pointer.strip_prefix(&self.log.records[index].pointer)?;
            Some((index, inner.to_owned()))
        });
        found.ok_or_else(|| Missing("there is no such block in the list").at(Product::Cline, place))
    }

    fn call(&self, call: &Place, id: &str) -> Result<usize, WriteError> {
        let (index, inner) = self.at(call)?;
        let block = self.log.records[index].value.pointer(&inner).unwrap_or(&Value::Null);
        match text(block, "type") == "tool_use" && text(block, "id") == id {
            true => Ok(index),
            false => Err(Missing("there is no such call").at(Product::Cline, call)),
        }
    }

    /// Closes a truncated list after its last complete message.
    fn close_list(&mut self, place: &Place) -> Result<(), WriteError> {
        match &self.log.cut {
            Some(cut) if cut == place => {
                let start = usize::try_from(cut.start).unwrap_or(self.bytes.len());
                self.splices.replace(start..self.bytes.len(), "]");
                Ok(())
            }
            _ => Err(Missing("there is no such stretch").at(Product::Cline, place)),
        }
    }

    fn write_answers(&mut self, index: usize, results: &[Vec<u8>]) {
        let results = results.join(b",".as_slice());
        let next = self.log.records.get(index + 1).filter(|next| next.text("role") == "user");
        let Some(next) = next else {
            let end = self.log.records[index].span.end;
            let message = [b",{\"role\":\"user\",\"content\":[".as_slice(), &results, b"]}"].concat();
            self.splices.replace(end..end, message);
            return;
        };
        let own = &self.bytes[next.span.clone()];
        let Some(content) = span_of(own, "/content").map(|span| moved(&span, next.span.start)) else {
            return;
        };
        if next.value["content"].is_string() {
            let words = &self.bytes[content.clone()];
            let blocks = [b"[".as_slice(), &results, b",{\"type\":\"text\",\"text\":", words, b"}]"].concat();
            self.splices.replace(content, blocks);
            return;
        }
        if self.goes_whole(index + 1) {
            self.splices.replace(content, [b"[".as_slice(), &results, b"]"].concat());
            return;
        }
        let (at, text) = match after_results(own, &next.value["content"]) {
            Some(end) => (next.span.start + end, [b",".as_slice(), &results].concat()),
            None if next.value["content"] == json!([]) => (content.start + 1, results),
            None => (content.start + 1, [results.as_slice(), b","].concat()),
        };
        self.splices.replace(at..at, text);
    }

    /// Returns whether no block of a message remains.
    fn goes_whole(&self, index: usize) -> bool {
        let n_blocks = self.log.records[index].value["content"].as_array().map_or(1, Vec::len);
        self.drops.get(&index).is_some_and(|dropped| dropped.len() >= n_blocks)
    }

    fn write_drops(&mut self, answers: &BTreeMap<usize, Vec<Vec<u8>>>) -> Result<(), WriteError> {
        for (index, inner) in std::mem::take(&mut self.drops) {
            let record = &self.log.records[index];
            let n_blocks = record.value["content"].as_array().map_or(1, Vec::len);
            let is_answered = index.checked_sub(1).is_some_and(|before| answers.contains_key(&before));
            if inner.len() >= n_blocks {
                // If results are added to it, they have replaced its entire content.
                if !is_answered {
                    self.remove(index);
                }
                continue;
            }
            for pointer in inner {
                let is_out = parted(&pointer).is_some_and(|(list, item)| {
                    self.splices.without_item(self.bytes, &record.span, list, item)
                });
                if !is_out {
                    let place = record.place(&pointer);
                    return Err(NoForm("this block cannot be taken out").at(Product::Cline, &place));
                }
            }
        }
        Ok(())
    }

    fn remove(&mut self, index: usize) {
        let record: &Record = &self.log.records[index];
        if let Some((list, item)) = parted(&record.pointer) {
            self.splices.without_item(self.bytes, &(0..self.bytes.len()), list, item);
        }
    }
}

/// The end of the results at the start of a content.
fn after_results(message: &[u8], content: &Value) -> Option<usize> {
    let blocks = content.as_array()?;
    let n = blocks.iter().take_while(|block| text(block, "type") == "tool_result").count();
    let last = item_spans(message, "/content").into_iter().nth(n.checked_sub(1)?)?;
    Some(last.end)
}

fn moved(span: &Range<usize>, by: usize) -> Range<usize> {
    span.start + by..span.end + by
}
