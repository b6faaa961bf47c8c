//! Edits to a pi session: lines on the branch are added and removed, and the lines around them are linked
//! again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::blocks::ids;
use super::{FIRST_KEPT, KEYS, Log};
use crate::EditError::{Missing, NoForm, Unreadable};
use crate::json::text;
use crate::stores::records::{Record, derived_id, parted, with_main};
use crate::stores::tree::{Branch, Tree};
use crate::stores::{Edit, WriteError};
use crate::{Files, Place, Product};

/// Number of characters in pi's short ids. A derived id is cut to this length.
const ID_LEN: usize = 8;

pub(super) fn write(files: &Files, edits: &[Edit]) -> Result<Files, WriteError> {
    let bytes = files.main();
    let unread = |_| Unreadable("the file cannot be read").at(Product::Pi, &Place::default());
    let log = Log::read(bytes).map_err(unread)?;
    let mut writer = Writer { log: &log, branch: Branch::of(&log.tree), drops: BTreeMap::new() };
    for edit in edits {
        writer.take(bytes, edit)?;
    }
    writer.drop_blocks(bytes)?;
    writer.branch.rename(bytes, FIRST_KEPT);
    Ok(with_main(files, writer.branch.carry_out(bytes)))
}

struct Writer<'l> {
    log: &'l Log,
    branch: Branch<'l>,
    /// The pointers of the blocks to remove, by the start of their line.
    drops: BTreeMap<usize, BTreeSet<String>>,
}

impl<'l> Writer<'l> {
    fn take(&mut self, bytes: &[u8], edit: &Edit) -> Result<(), WriteError> {
        match edit {
            Edit::Synthesise { call, id } => {
                let (record, full, name) = self.call(call, id)?;
                let of = format!("no result of {} in {}", full, record.text(KEYS.id));
                if self.has_result(&of, full) {
                    return Ok(());
                }
                let own = self.free_id(&of);
                let line = json!({
                    "type": "message",
                    "id": own,
                    "parentId": null,
                    "timestamp": record.value["timestamp"],
                    "message": {
                        "role": "toolResult",
                        "toolCallId": full,
                        "toolName": name,
                        "content": [{ "type": "text", "text": crate::NOT_RECORDED }],
                        "isError": true,
                        "timestamp": record.value["message"]["timestamp"],
                    },
                });
                self.insert(call, record, line)
            }
            Edit::Move { result, call, id } => {
                let (record, ..) = self.call(call, id)?;
                let (source, pointer) = self.at(result)?;
                if pointer != "/message" {
                    return Err(
                        NoForm("a result inside a compaction cannot be moved").at(Product::Pi, result)
                    );
                }
                let mut line = source.value.clone();
                let own = source.text(KEYS.id).to_owned();
                if self.log.tree.on_path.contains(&own) {
                    self.branch.remove(&own);
                } else {
                    line[KEYS.id] = json!(self.free_id(&format!("copy of {own}")));
                }
                self.insert(call, record, line)
            }
            Edit::Drop { block } => {
                let (record, pointer) = self.at(block)?;
                self.drops.entry(record.span.start).or_default().insert(pointer.to_owned());
                Ok(())
            }
            Edit::Discard { place } => match self.branch.splices.discard(bytes, place) {
                true => Ok(()),
                false => Err(Missing("there is no such stretch").at(Product::Pi, place)),
            },
            Edit::Truncate { last } => self.truncate(last),
        }
    }

    fn at<'p>(&self, place: &'p Place) -> Result<(&'l Record, &'p str), WriteError> {
        let tree: &'l Tree = &self.log.tree;
        tree.at(place).ok_or_else(|| Missing("there is no such block").at(Product::Pi, place))
    }

    /// A call's line, its complete id, and its tool.
    fn call(&self, call: &Place, id: &str) -> Result<(&'l Record, &'l str, &'l str), WriteError> {
        let (record, pointer) = self.at(call)?;
        let value = record.value.pointer(pointer).unwrap_or(&Value::Null);
        let full = text(value, "id");
        match ids(full).0 == id && pointer.starts_with("/message/") {
            true => Ok((record, full, text(value, "name"))),
            false => Err(Missing("there is no such call in a line of its own").at(Product::Pi, call)),
        }
    }

    /// The ids derived from a text, best first. There are several because two texts can have the same short
    /// id.
    fn ids(of: &str) -> impl Iterator<Item = String> {
        let id = move |n: usize| match n {
            0 => derived_id(of),
            n => derived_id(&format!("{of}, {n}")),
        };
        (0..).map(move |n| id(n).get(..ID_LEN).unwrap_or_default().to_owned())
    }

    /// The first of these ids that no line has.
    fn free_id(&self, of: &str) -> String {
        Self::ids(of).find(|own| !self.branch.has(own)).unwrap_or_default()
    }

    /// Returns whether an earlier repair has already added a call's result.
    fn has_result(&self, of: &str, call: &str) -> bool {
        let of_call = |record: &Record| text(&record.value["message"], "toolCallId") == call;
        let taken = Self::ids(of).take_while(|own| self.log.tree.by_id.contains_key(own));
        taken.into_iter().any(|own| self.log.tree.lines(&own).any(of_call))
    }

    fn insert(&mut self, call: &Place, record: &Record, line: Value) -> Result<(), WriteError> {
        let is_result = |value: &Value| text(&value["message"], "role") == "toolResult";
        match self.branch.insert(record.text(KEYS.id), line, is_result) {
            true => Ok(()),
            false => Err(Missing("the call is not on the branch").at(Product::Pi, call)),
        }
    }

    /// Ends the branch with a line of an extension (`CustomEntry`), which adds nothing to the conversation.
    fn truncate(&mut self, last: &Place) -> Result<(), WriteError> {
        let (record, _) = self.at(last)?;
        if self.log.version < 2 {
            return Err(NoForm("version 1 has no branches").at(Product::Pi, last));
        }
        let id = record.text(KEYS.id);
        let own = self.free_id(&format!("end after {id}"));
        let line = json!({
            "type": "custom",
            "id": own,
            "parentId": null,
            "timestamp": record.value["timestamp"],
            "customType": "brickbat",
        });
        match self.branch.truncate(id, line) {
            true => Ok(()),
            false => Err(Missing("the block is not on the branch").at(Product::Pi, last)),
        }
    }

    fn drop_blocks(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        for (start, pointers) in std::mem::take(&mut self.drops) {
            let place = Place { start: start as u64, ..Place::default() };
            let (record, _) = self.at(&place)?;
            let list = if record.text("type") == "message" { "/message/content" } else { "/content" };
            let n_blocks = record.value.pointer(list).and_then(Value::as_array).map_or(1, Vec::len);
            let is_whole = |pointer: &String| pointer == "/message" || pointer == list;
            if pointers.len() >= n_blocks || pointers.iter().any(is_whole) {
                self.branch.remove(record.text(KEYS.id));
                continue;
            }
            for pointer in pointers {
                let item = parted(&pointer).filter(|(own, _)| *own == list);
                let is_out = item.is_some_and(|(_, item)| {
                    self.branch.splices.without_item(bytes, &record.span, list, item)
                });
                if !is_out {
                    let place = record.place(&pointer);
                    return Err(NoForm("this block cannot be taken out").at(Product::Pi, &place));
                }
            }
        }
        Ok(())
    }
}
