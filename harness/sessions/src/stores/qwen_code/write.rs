//! Edits to a Qwen Code session: lines on the branch are added and removed, and the lines around them are
//! linked again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{KEYS, log};
use crate::EditError::{Missing, NoForm};
use crate::json::text;
use crate::stores::gemini_parts::not_recorded;
use crate::stores::records::{Record, derived_id, parted, with_main};
use crate::stores::tree::{Branch, Tree};
use crate::stores::{Edit, WriteError};
use crate::{Files, Place, Product};

const PARTS: &str = "/message/parts";

pub(super) fn write(files: &Files, edits: &[Edit]) -> Result<Files, WriteError> {
    let bytes = files.main();
    let (tree, ..) = log(bytes);
    let mut writer = Writer { bytes, tree: &tree, branch: Branch::of(&tree), drops: BTreeMap::new() };
    for edit in edits {
        writer.take(edit)?;
    }
    writer.drop_blocks()?;
    Ok(with_main(files, writer.branch.carry_out(bytes)))
}

struct Writer<'t> {
    bytes: &'t [u8],
    tree: &'t Tree,
    branch: Branch<'t>,
    /// The pointers of the parts to remove, by the start of their line.
    drops: BTreeMap<usize, BTreeSet<String>>,
}

impl<'t> Writer<'t> {
    fn take(&mut self, edit: &Edit) -> Result<(), WriteError> {
        match edit {
            Edit::Synthesise { call, id } => {
                let (record, name) = self.call(call, id)?;
                let own = uuid(&format!("no result of {id} in {}", record.text(KEYS.id)));
                if self.tree.by_id.contains_key(&own) {
                    return Ok(());
                }
                self.insert(call, record, line_of(record, own, not_recorded(id, name)))
            }
            Edit::Move { result, call, id } => {
                let (record, _) = self.call(call, id)?;
                let (source, pointer) = self.at(result)?;
                let part = source.value.pointer(pointer).cloned().unwrap_or_default();
                if !pointer.starts_with(PARTS) {
                    return Err(
                        NoForm("a result inside a compression cannot be moved").at(Product::QwenCode, result)
                    );
                }
                if self.tree.on_path.contains(source.text(KEYS.id)) {
                    self.drops.entry(source.span.start).or_default().insert(pointer.to_owned());
                }
                let own =
                    uuid(&format!("copy of {id} in {} for {}", source.text(KEYS.id), record.text(KEYS.id)));
                self.insert(call, record, line_of(record, own, part))
            }
            Edit::Drop { block } => {
                let (record, pointer) = self.at(block)?;
                self.drops.entry(record.span.start).or_default().insert(pointer.to_owned());
                Ok(())
            }
            Edit::Discard { place } => match self.branch.splices.discard(self.bytes, place) {
                true => Ok(()),
                false => Err(Missing("there is no such stretch").at(Product::QwenCode, place)),
            },
            Edit::Truncate { last } => {
                let (record, _) = self.at(last)?;
                let own = uuid(&format!("end after {}", record.text(KEYS.id)));
                let mut line = base(record, own, "system");
                line["subtype"] = json!("rewind");
                line["systemPayload"] = json!({});
                match self.branch.truncate(record.text(KEYS.id), line) {
                    true => Ok(()),
                    false => Err(Missing("the block is not on the branch").at(Product::QwenCode, last)),
                }
            }
        }
    }

    fn at<'p>(&self, place: &'p Place) -> Result<(&'t Record, &'p str), WriteError> {
        self.tree.at(place).ok_or_else(|| Missing("there is no such block").at(Product::QwenCode, place))
    }

    /// A call's line and its tool.
    fn call(&self, call: &Place, id: &str) -> Result<(&'t Record, &'t str), WriteError> {
        let (record, pointer) = self.at(call)?;
        let own = record.value.pointer(pointer).and_then(|part| part.get("functionCall"));
        match own {
            Some(own) if text(own, "id") == id && pointer.starts_with(PARTS) => {
                Ok((record, text(own, "name")))
            }
            _ => Err(Missing("there is no such call in a line of its own").at(Product::QwenCode, call)),
        }
    }

    fn insert(&mut self, call: &Place, record: &Record, line: Value) -> Result<(), WriteError> {
        let belongs = |value: &Value| text(value, "type") == "tool_result";
        match self.branch.insert(record.text(KEYS.id), line, belongs) {
            true => Ok(()),
            false => Err(Missing("the call is not on the branch").at(Product::QwenCode, call)),
        }
    }

    fn drop_blocks(&mut self) -> Result<(), WriteError> {
        for (start, pointers) in std::mem::take(&mut self.drops) {
            let place = Place { start: start as u64, ..Place::default() };
            let (record, _) = self.at(&place)?;
            let n_parts = record.value.pointer(PARTS).and_then(Value::as_array).map_or(0, Vec::len);
            // Other lines with the same id keep the message.
            let is_alone = self.tree.lines(record.text(KEYS.id)).count() == 1;
            if pointers.len() >= n_parts && n_parts > 0 && is_alone {
                self.branch.remove(record.text(KEYS.id));
                continue;
            }
            for pointer in pointers {
                let item = parted(&pointer).filter(|(list, _)| *list == PARTS);
                let splices = &mut self.branch.splices;
                let is_out = item
                    .is_some_and(|(list, item)| splices.without_item(self.bytes, &record.span, list, item));
                if !is_out {
                    let place = record.place(&pointer);
                    return Err(NoForm("this block cannot be taken out").at(Product::QwenCode, &place));
                }
            }
        }
        Ok(())
    }
}

/// A results line after the call's line.
fn line_of(call: &Record, id: String, part: Value) -> Value {
    let mut line = base(call, id, "tool_result");
    line["message"] = json!({ "role": "user", "parts": [part] });
    line
}

/// The fields that every line has, copied from another line.
fn base(like: &Record, id: String, kind: &str) -> Value {
    let mut line = json!({ "uuid": id, "parentUuid": null, "type": kind });
    for key in ["sessionId", "timestamp", "cwd", "version", "gitBranch"] {
        if let Some(value) = like.value.get(key) {
            line[key] = value.clone();
        }
    }
    line
}

/// An id derived from a text, in the form of a UUID.
fn uuid(of: &str) -> String {
    let digits = derived_id(of);
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    format!("{}-{}-8{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}
