//! A store's JSON as item lists, at the places that its reader reported.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::product::Form;
use crate::{Files, Place, Session};

/// A store that is one JSON file.
pub(super) struct Items {
    root: Value,
    /// The number of blocks in each entry of the message list, by the pointer of the entry.
    n_blocks: BTreeMap<String, usize>,
    /// The pointer of the entry that contains each block.
    entries: BTreeMap<Place, String>,
}

impl Items {
    /// The items of a store. `None` if it is not a JSON file.
    pub(super) fn of(files: &Files, session: &Session) -> Option<Items> {
        match session.product.form() {
            Form::Parts(_) | Form::Json => {}
            Form::Other => return None,
        }
        let (mut n_blocks, mut entries) = (BTreeMap::new(), BTreeMap::new());
        for message in &session.messages {
            let entry = &message.place.pointer;
            for block in &message.blocks {
                *n_blocks.entry(entry.clone()).or_default() += 1;
                entries.insert(block.place.clone(), entry.clone());
            }
            entries.insert(message.place.clone(), entry.clone());
        }
        Some(Items { root: parse(files)?, n_blocks, entries })
    }

    /// Moves a block behind the entry at a place: the complete entry, or the block as the only one in a copy
    /// of its entry.
    pub(super) fn move_after(&mut self, block: &Place, after: &Place) -> Option<()> {
        let (from, to) = (self.item(block)?, self.entries.get(after)?.clone());
        let entry = self.entry(block)?;
        let item = self.root.pointer(&from)?.clone();
        let moved = match from == entry {
            true => item,
            false => {
                let (list, _) = parted(from.strip_prefix(entry.as_str())?)?;
                let mut whole = self.root.pointer(&entry)?.clone();
                *whole.pointer_mut(list)? = Value::Array(vec![item]);
                whole
            }
        };
        // The later place first, so that the earlier one stays valid.
        inserted(&mut self.root, &to, vec![moved])?;
        removed(&mut self.root, &from)
    }

    /// Inserts a copy of a block behind it.
    pub(super) fn repeat(&mut self, block: &Place) -> Option<()> {
        let at = self.item(block)?;
        let item = self.root.pointer(&at)?.clone();
        inserted(&mut self.root, &at, vec![item])
    }

    /// Inserts a copy of a range of entries directly after the range.
    pub(super) fn repeat_entries(&mut self, first: &Place, last: &Place) -> Option<()> {
        let (first, last) = (self.entries.get(first)?.clone(), self.entry(last)?);
        let ((list, from), (same, to)) = (parted(&first)?, parted(&last)?);
        if list != same {
            return None;
        }
        let copies = self.root.pointer(list)?.as_array()?.get(from..=to)?.to_vec();
        inserted(&mut self.root, &last, copies)
    }

    /// Replaces the text in a text block or a thought.
    pub(super) fn empty(&mut self, block: &Place, words: &str) -> Option<()> {
        let value = self.root.pointer_mut(&block.pointer)?;
        let text = match value {
            Value::Object(own) => {
                let name = ["thinking", "text", "textContent", "content"]
                    .into_iter()
                    .find(|name| own.get(*name).is_some_and(Value::is_string))?;
                own.get_mut(name)?
            }
            text => text,
        };
        text.is_string().then(|| *text = Value::String(words.to_owned()))
    }

    /// The files with these items.
    pub(super) fn into_files(self, files: &Files) -> Files {
        let mut files = files.clone();
        if let Some(main) = files.files.first_mut() {
            main.bytes = self.root.to_string().into_bytes();
        }
        files
    }

    /// The pointer of the message list's entry that contains a block. If each block is an entry, the block's
    /// own pointer.
    fn entry(&self, block: &Place) -> Option<String> {
        let entry = self.entries.get(block)?;
        let is_entry =
            parted(&block.pointer).is_some_and(|(list, _)| Some(list) == parted(entry).map(|(list, _)| list));
        Some(if is_entry { block.pointer.clone() } else { entry.clone() })
    }

    /// The pointer to a block as a list item. If the block is the only content of its entry, the pointer to
    /// the entry.
    fn item(&self, block: &Place) -> Option<String> {
        let entry = self.entries.get(block)?;
        if self.n_blocks.get(entry) == Some(&1) {
            return Some(entry.clone());
        }
        parted(&block.pointer).map(|_| block.pointer.clone())
    }
}

/// The store as a JSON value.
pub(super) fn parse(files: &Files) -> Option<Value> {
    serde_json::from_slice(files.main()).ok()
}

/// Removes an item from its list.
pub(super) fn removed(root: &mut Value, pointer: &str) -> Option<()> {
    let (list, n) = parted(pointer)?;
    let list = root.pointer_mut(list)?.as_array_mut()?;
    (n < list.len()).then(|| {
        list.remove(n);
    })
}

/// Inserts values behind an item of a list.
fn inserted(root: &mut Value, pointer: &str, values: Vec<Value>) -> Option<()> {
    let (list, n) = parted(pointer)?;
    let list = root.pointer_mut(list)?.as_array_mut()?;
    (n < list.len()).then(|| {
        list.splice(n + 1..n + 1, values);
    })
}

/// Splits a pointer to an item into the pointer to its list and the index.
fn parted(pointer: &str) -> Option<(&str, usize)> {
    let (list, n) = pointer.rsplit_once('/')?;
    Some((list, n.parse().ok()?))
}
