//! Edits to a session in a store that is a JSON list of messages.
//!
//! The place of a block is `/3` (the complete message), `/3/content` (its text), or an item of a list in the
//! message, such as `/3/parts/2`.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::histories::Block as Content;
use brickbat_rules::json::Document;

use super::json_changes::JsonChanges;
use super::json_text::whole;
use crate::EditError::{self, Missing, NoPart, NotJson};
use crate::json::splice;
use crate::{Block, Files, Message, Place, Session, WriteError};

/// The changes to a message list.
pub(crate) struct ListWriter<'s> {
    session: &'s Session,
    /// The first and the last message with a block at each place. A call and its result may share a place.
    places: BTreeMap<&'s Place, (usize, usize)>,
    /// The messages at each place.
    messages: BTreeMap<&'s Place, Vec<&'s Message>>,
    /// The changes so far.
    pub(crate) changes: JsonChanges,
    /// The places of the blocks to remove.
    gone: BTreeSet<&'s Place>,
    /// Stored messages that receive something new, so they are kept.
    kept: BTreeSet<&'s str>,
    /// The first message that is not kept on the branch.
    cut: Option<usize>,
    is_closed: bool,
}

impl<'s> ListWriter<'s> {
    /// A writer without any changes.
    pub(crate) fn new(session: &'s Session) -> ListWriter<'s> {
        let mut places: BTreeMap<&Place, (usize, usize)> = BTreeMap::new();
        for (n, message) in session.messages.iter().enumerate() {
            for block in &message.blocks {
                places.entry(&block.place).or_insert((n, n)).1 = n;
            }
        }
        let mut messages: BTreeMap<&Place, Vec<&Message>> = BTreeMap::new();
        for message in &session.messages {
            messages.entry(&message.place).or_default().push(message);
        }
        let (gone, kept) = (BTreeSet::new(), BTreeSet::new());
        ListWriter {
            session,
            places,
            messages,
            changes: JsonChanges::default(),
            gone,
            kept,
            cut: None,
            is_closed: false,
        }
    }

    /// The first message with a block at the place.
    ///
    /// # Errors
    ///
    /// No message has such a block.
    pub(crate) fn message_of(&self, place: &Place) -> Result<usize, WriteError> {
        match self.places.get(place) {
            Some((first, _)) => Ok(*first),
            None => Err(self.refuse(place, NoPart)),
        }
    }

    /// Removes a block, and its message if that was the last block. If the place refers to a message,
    /// removes the message if it has no content.
    pub(crate) fn drop(&mut self, place: &Place) -> Result<(), WriteError> {
        if let Some((own, _)) = self.places.get_key_value(place) {
            self.gone.insert(own);
            return Ok(());
        }
        let own = self.messages.get(place);
        let mut blocks = own.into_iter().flatten().flat_map(|message| &message.blocks);
        let says_nothing =
            |block: &Block| matches!(&block.content, Content::Text(text) if text.trim().is_empty());
        if own.is_none() || !blocks.all(says_nothing) {
            return Err(self.refuse(place, NoPart));
        }
        self.changes.remove(&place.pointer);
        Ok(())
    }

    /// Removes everything after the message of this block.
    pub(crate) fn truncate(&mut self, last: &Place) -> Result<(), WriteError> {
        self.message_of(last)?;
        let after = self.places.get(last).map_or(0, |(_, last)| last + 1);
        self.cut = Some(self.cut.map_or(after, |cut| cut.min(after)));
        Ok(())
    }

    /// Removes the lost end of the file.
    pub(crate) fn discard(&mut self, place: &Place) -> Result<(), WriteError> {
        if !self.session.troubles.iter().any(|trouble| trouble.place == *place && trouble.loses.is_some()) {
            return Err(self.refuse(place, Missing("nothing there that can be taken out")));
        }
        self.is_closed = true;
        Ok(())
    }

    /// Marks the stored message of this one as kept, because something new is added to it.
    pub(crate) fn keep(&mut self, message: usize) {
        if let Some(message) = self.session.messages.get(message) {
            self.kept.insert(&message.place.pointer);
        }
    }

    /// An error of this product.
    pub(crate) fn refuse(&self, place: &Place, cause: EditError) -> WriteError {
        cause.at(self.session.product, place)
    }

    /// The files after all changes.
    pub(crate) fn finish(mut self, files: &Files) -> Result<Files, WriteError> {
        let bytes = files.main();
        let Some(whole) = whole(bytes) else {
            return Err(self.refuse(&Place::default(), NotJson));
        };
        let Ok(document) = Document::parse(&whole.text) else {
            return Err(self.refuse(&Place::default(), NotJson));
        };
        self.take_out();
        let n_messages = document.root().len();
        let n_parts = |message: usize| document.root().item(message).field("parts").len();
        self.cut_off(n_messages, n_parts);
        let mut edits = self.changes.edits(document.root());
        if self.is_closed {
            edits.extend(whole.closing());
        }
        let mut written = files.clone();
        if let Some(first) = written.files.first_mut() {
            first.bytes = splice(bytes, edits);
        }
        Ok(written)
    }

    /// Removes the blocks, and the messages that become empty.
    fn take_out(&mut self) {
        let mut stays: BTreeMap<&str, bool> = BTreeMap::new();
        for message in &self.session.messages {
            let has_some = message.blocks.iter().any(|block| !self.gone.contains(&block.place));
            let has_some = has_some || message.blocks.is_empty();
            *stays.entry(&message.place.pointer).or_default() |= has_some;
        }
        for (message, stays) in &mut stays {
            *stays |= self.kept.contains(message);
        }
        for place in &self.gone {
            let owner = self.places.get(*place).and_then(|(first, _)| self.session.messages.get(*first));
            let Some(owner) = owner.map(|message| message.place.pointer.as_str()) else { continue };
            if stays.get(owner) == Some(&false) {
                self.changes.remove(owner);
            } else if place.pointer.ends_with("/content") {
                self.changes.set(owner, "content", "\"\"".to_owned());
            } else {
                self.changes.remove(&place.pointer);
            }
        }
    }

    /// Removes everything after the cut: later messages, and later parts of the last stored message.
    fn cut_off(&mut self, n_messages: usize, n_parts: impl Fn(usize) -> usize) {
        let Some(cut) = self.cut else { return };
        let Some(last) = cut.checked_sub(1).and_then(|last| self.session.messages.get(last)) else { return };
        let Some(item) = index(&last.place.pointer, 0) else { return };
        for n in item + 1..n_messages {
            self.changes.remove(&format!("/{n}"));
        }
        let own = self.session.messages[..cut].iter().rev();
        let own = own.take_while(|message| message.place.pointer == last.place.pointer);
        let blocks = own.flat_map(|message| &message.blocks);
        let parts = blocks.filter(|block| block.place.pointer.contains("/parts/"));
        let Some(last) = parts.filter_map(|block| index(&block.place.pointer, 2)).max() else { return };
        for n in last + 1..n_parts(item) {
            self.changes.remove(&format!("/{item}/parts/{n}"));
        }
    }
}

/// The text of a value in its file.
pub(crate) fn raw<'f>(files: &'f Files, place: &Place) -> &'f str {
    let span = usize::try_from(place.start).ok().zip(usize::try_from(place.end).ok());
    let bytes = span.and_then(|(start, end)| files.main().get(start..end));
    bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or("null")
}

/// A step of a pointer, as an index.
pub(crate) fn index(pointer: &str, step: usize) -> Option<usize> {
    pointer.split('/').nth(step + 1)?.parse().ok()
}
