//! The JSON of a store as lists of items, at the places that its reader gave.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::product::Form;
use crate::{Files, Place, Session};

/// A store that is one JSON file.
pub(super) struct Items {
    root: Value,
    /// How many blocks lie in each entry of the list of messages, by the entry's pointer.
    n_blocks: BTreeMap<String, usize>,
    /// The entry in which each block lies.
    entries: BTreeMap<Place, String>,
}

impl Items {
    /// The items of a store; nothing if it is no JSON file.
    pub(super) fn of(files: &Files, session: &Session) -> Option<Items> {
        match session.product.form() {
            Form::Parts | Form::Json => {}
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

    /// Moves a block after the entry that lies at a place: whole, or as the only block of a copy of its entry.
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
        // The later place first, so that the earlier one stays where it is.
        inserted(&mut self.root, &to, vec![moved])?;
        removed(&mut self.root, &from)
    }

    /// Puts a copy of a block after it.
    pub(super) fn repeat(&mut self, block: &Place) -> Option<()> {
        let at = self.item(block)?;
        let item = self.root.pointer(&at)?.clone();
        inserted(&mut self.root, &at, vec![item])
    }

    /// Puts a copy of the entries from the one to the other after them.
    pub(super) fn repeat_entries(&mut self, first: &Place, last: &Place) -> Option<()> {
        let (first, last) = (self.entries.get(first)?.clone(), self.entry(last)?);
        let ((list, from), (same, to)) = (parted(&first)?, parted(&last)?);
        if list != same {
            return None;
        }
        let copies = self.root.pointer(list)?.as_array()?.get(from..=to)?.to_vec();
        inserted(&mut self.root, &last, copies)
    }

    /// Gives a text or a thought other words.
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

    /// The entry of the list of messages in which a block lies: itself, where each block is an entry.
    fn entry(&self, block: &Place) -> Option<String> {
        let entry = self.entries.get(block)?;
        let is_entry =
            parted(&block.pointer).is_some_and(|(list, _)| Some(list) == parted(entry).map(|(list, _)| list));
        Some(if is_entry { block.pointer.clone() } else { entry.clone() })
    }

    /// The pointer to the item of a list that a block is, or to its entry if it is all that lies there.
    fn item(&self, block: &Place) -> Option<String> {
        let entry = self.entries.get(block)?;
        if self.n_blocks.get(entry) == Some(&1) {
            return Some(entry.clone());
        }
        parted(&block.pointer).map(|_| block.pointer.clone())
    }
}

/// The store as a value.
pub(super) fn parse(files: &Files) -> Option<Value> {
    serde_json::from_slice(files.main()).ok()
}

/// Takes an item out of its list.
pub(super) fn removed(root: &mut Value, pointer: &str) -> Option<()> {
    let (list, n) = parted(pointer)?;
    let list = root.pointer_mut(list)?.as_array_mut()?;
    (n < list.len()).then(|| {
        list.remove(n);
    })
}

/// Puts values after an item of a list.
fn inserted(root: &mut Value, pointer: &str, values: Vec<Value>) -> Option<()> {
    let (list, n) = parted(pointer)?;
    let list = root.pointer_mut(list)?.as_array_mut()?;
    (n < list.len()).then(|| {
        list.splice(n + 1..n + 1, values);
    })
}

/// A pointer to an item as the pointer to its list, and the index.
fn parted(pointer: &str) -> Option<(&str, usize)> {
    let (list, n) = pointer.rsplit_once('/')?;
    Some((list, n.parse().ok()?))
}
