//! Edits to an event file. Each event names the one before it, so the events around an edit are linked
//! again.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::{Value, json};

use super::lines;
use crate::EditError::{Missing, NoForm};
use crate::json::{span_of, text};
use crate::stores::records::{Record, Splices, derived_id, parted, with_main};
use crate::stores::{Edit, WriteError};
use crate::{Files, Place, Product};

pub(super) fn write(files: &Files, edits: &[Edit]) -> Result<Files, WriteError> {
    let bytes = files.main();
    let (records, _) = lines::read(bytes);
    let mut writer = Writer {
        bytes,
        records: &records,
        splices: Splices::default(),
        added: BTreeMap::new(),
        removed: BTreeSet::new(),
        drops: BTreeMap::new(),
        ends: BTreeMap::new(),
        is_whole: BTreeMap::new(),
    };
    for edit in edits {
        writer.take(edit)?;
    }
    writer.drop_blocks()?;
    writer.resettle();
    writer.join();
    Ok(with_main(files, writer.splices.carry_out(bytes)))
}

struct Writer<'r> {
    bytes: &'r [u8],
    records: &'r [Record],
    splices: Splices,
    /// New events, by the index of the event after which they are inserted.
    added: BTreeMap<usize, Vec<Value>>,
    /// The indices of the events to remove.
    removed: BTreeSet<usize>,
    /// The pointers of the blocks to remove, by the index of their event.
    drops: BTreeMap<usize, BTreeSet<String>>,
    /// The last remaining event of each reply, cached by the index of its call event.
    ends: BTreeMap<usize, usize>,
    /// True for each examined event that can be read unchanged.
    is_whole: BTreeMap<usize, bool>,
}

impl<'r> Writer<'r> {
    /// The escape for a raw character in an event's text, and its byte range.
    fn raw(&self, place: &Place) -> Option<(Range<usize>, &'static str)> {
        let span = usize::try_from(place.start).ok()?..usize::try_from(place.end).ok()?;
        let escape = match self.bytes.get(span.clone())? {
            [0xE2, 0x80, 0xA8] => "\\u2028",
            [0xE2, 0x80, 0xA9] => "\\u2029",
            b"\n" | b"\r\n" => "\\n",
            _ => return None,
        };
        let is_inside = |record: &&Record| record.span.start < span.start && span.end < record.span.end;
        self.records.iter().find(is_inside)?;
        Some((span, escape))
    }

    fn take(&mut self, edit: &Edit) -> Result<(), WriteError> {
        match edit {
            Edit::Synthesise { call, id } => {
                let index = self.call(call, id)?;
                let event = json!({
                    "type": "tool.execution_complete",
                    "data": { "toolCallId": id, "success": false, "error": { "message": crate::NOT_RECORDED } },
                    "id": event_id(&format!("no result of {id} in {}", self.records[index].text("id"))),
                    "timestamp": self.records[index].value["timestamp"],
                    "parentId": null,
                });
                self.add(index, event);
            }
            Edit::Move { result, call, id } => {
                let index = self.call(call, id)?;
                let (source, _) = self.at(result)?;
                let mut event = self.records[source].value.clone();
                if self.records[source].value.pointer("/data/parentToolCallId").is_none() {
                    self.removed.insert(source);
                } else {
                    event["id"] = json!(event_id(&format!("copy of {}", self.records[source].text("id"))));
                }
                self.add(index, event);
            }
            Edit::Drop { block } => {
                let (index, pointer) = self.at(block)?;
                self.drops.entry(index).or_default().insert(pointer);
            }
            Edit::Discard { place } => match self.raw(place) {
                Some((span, escape)) => self.splices.replace(span, escape),
                None if self.splices.discard(self.bytes, place) => {}
                None => return Err(Missing("there is no such stretch").at(Product::CopilotCli, place)),
            },
            Edit::Truncate { last } => {
                let (index, _) = self.at(last)?;
                self.removed.extend(index + 1..self.records.len());
            }
        }
        Ok(())
    }

    fn at(&mut self, place: &Place) -> Result<(usize, String), WriteError> {
        let start = usize::try_from(place.start).unwrap_or(usize::MAX);
        let found = self.records.binary_search_by_key(&start, |record| record.span.start).ok();
        let found = found.filter(|index| self.bytes_of(*index).is_some());
        found.map(|index| (index, place.pointer.clone())).ok_or_else(|| {
            Missing("there is no such block in a line that can be read").at(Product::CopilotCli, place)
        })
    }

    /// The bytes of an event, if they can be read unchanged.
    fn bytes_of(&mut self, index: usize) -> Option<&'r [u8]> {
        let own = self.bytes.get(self.records[index].span.clone())?;
        // Cached, since a reply may have many calls and each of them asks.
        self.is_whole.entry(index).or_insert_with(|| !own.contains(&b'\n')).then_some(own)
    }

    fn call(&mut self, call: &Place, id: &str) -> Result<usize, WriteError> {
        let (index, pointer) = self.at(call)?;
        let block = self.records[index].value.pointer(&pointer).unwrap_or(&Value::Null);
        match text(block, "toolCallId") == id && pointer.starts_with("/data/toolRequests/") {
            true => Ok(index),
            false => Err(Missing("there is no such call").at(Product::CopilotCli, call)),
        }
    }

    /// Inserts an event after those that belong to the calls of a reply.
    fn add(&mut self, call: usize, event: Value) {
        let belongs = |record: &&Record| {
            let kind = record.text("type");
            ["tool.", "hook.", "permission."].iter().any(|begin| kind.starts_with(begin))
        };
        let records = self.records;
        let end = self.ends.entry(call);
        let end = end.or_insert_with(|| call + records[call + 1..].iter().take_while(belongs).count());
        // A removed event never returns, so the next search begins where this one ends.
        let after = (call..=*end).rev().find(|index| !self.removed.contains(index)).unwrap_or(call);
        *end = after;
        self.added.entry(after).or_default().push(event);
    }

    fn drop_blocks(&mut self) -> Result<(), WriteError> {
        for (index, pointers) in std::mem::take(&mut self.drops) {
            let record = &self.records[index];
            let n_blocks = match record.text("type") {
                "assistant.message" => super::reply(record).map_or(0, |message| message.blocks.len()),
                _ => 1,
            };
            if pointers.len() >= n_blocks {
                self.removed.insert(index);
                continue;
            }
            for pointer in pointers {
                if !self.drop_block(record, &pointer) {
                    let place = record.place(&pointer);
                    return Err(NoForm("this block cannot be taken out").at(Product::CopilotCli, &place));
                }
            }
        }
        Ok(())
    }

    fn drop_block(&mut self, record: &Record, pointer: &str) -> bool {
        if let Some((list, item)) = parted(pointer) {
            return self.splices.without_item(self.bytes, &record.span, list, item);
        }
        let with = if pointer == "/data/content" { "\"\"" } else { "null" };
        let span = span_of(&self.bytes[record.span.clone()], pointer);
        if let Some(span) = &span {
            self.splices.replace(record.span.start + span.start..record.span.start + span.end, with);
        }
        span.is_some()
    }

    /// Puts new events that are behind a removed one behind the last event before it that stays.
    fn resettle(&mut self) {
        let mut kept = 0;
        for index in 0..self.records.len() {
            if !self.removed.contains(&index) {
                kept = index;
            } else if let Some(events) = self.added.remove(&index) {
                self.added.entry(kept).or_default().extend(events);
            }
        }
    }

    /// Writes the added and removed lines, and the parents around them.
    fn join(&mut self) {
        // The replacement parent for each id: of a removed event, or of one with new events after it.
        let mut heirs: BTreeMap<String, Value> = BTreeMap::new();
        let stays = self.records.iter().enumerate().filter(|(index, _)| !self.removed.contains(index));
        let kept: BTreeSet<&str> = stays.map(|(_, record)| record.text("id")).collect();
        for (index, record) in self.records.iter().enumerate() {
            let parent = record.value.get("parentId").cloned().unwrap_or_default();
            let heir = parent.as_str().and_then(|parent| heirs.get(parent)).cloned();
            if self.removed.contains(&index) {
                if !kept.contains(record.text("id")) {
                    heirs.insert(record.text("id").to_owned(), heir.unwrap_or(parent));
                }
                self.splices.without_line(self.bytes, record);
                continue;
            }
            if let Some(heir) = heir
                && let Some(own) = self.bytes_of(index)
                && let Some(span) = span_of(own, "/parentId")
            {
                let at = record.span.start;
                self.splices.replace(at + span.start..at + span.end, heir.to_string());
            }
            let mut last = json!(record.text("id"));
            for mut event in self.added.remove(&index).unwrap_or_default() {
                event["parentId"] = std::mem::replace(&mut last, event["id"].clone());
                self.splices.line_after(record, &event);
                heirs.insert(record.text("id").to_owned(), last.clone());
            }
        }
    }
}

/// An id derived from a text, in the form of a UUID.
fn event_id(of: &str) -> String {
    let digits = derived_id(of);
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    format!("{}-{}-8{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}
