//! Edits to a store according to its description: whole records are added, moved and removed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use brickbat_rules::histories::{Block as Content, Call, Role};
use brickbat_rules::json::Document;

use super::{Form, Framing};
use crate::EditError::{self, Missing, NoForm, NotJson};
use crate::json::splice;
use crate::stores::json_changes::JsonChanges;
use crate::stores::json_text::whole;
use crate::stores::{Edit, Look, READ_ONLY, WriteError};
use crate::{Block, Files, Message, NOT_RECORDED, Place, Session};

const NO_ID: &str = "the file has no id for the call, which a result could name";

const SHARED: &str = "the record has other content too";

/// The files after the edits.
pub(super) fn write(
    form: &Form,
    files: &Files,
    session: &Session,
    edits: &[Edit],
) -> Result<Files, WriteError> {
    if form.other.as_ref().is_some_and(|other| (other.owns)(&Look::of(files))) {
        return Err(NoForm(READ_ONLY).at(form.product, &edits.first().map(Edit::place).unwrap_or_default()));
    }
    let mut writer = Writer { form, session, gone: BTreeSet::new(), come: BTreeMap::new(), is_closed: false };
    for edit in edits {
        writer.take(files, edit)?;
    }
    let bytes = match form.file {
        Framing::Lines => writer.lines(files.main()),
        Framing::None => files.main().to_vec(),
        Framing::List(_) | Framing::Each(..) | Framing::Nested(..) => writer.document(files.main())?,
    };
    let mut files = files.clone();
    if let Some(file) = files.files.first_mut() {
        file.bytes = bytes;
    }
    Ok(files)
}

struct Writer<'a> {
    form: &'a Form,
    session: &'a Session,
    /// The records to remove.
    gone: BTreeSet<Place>,
    /// New records, by the record after which they are inserted.
    come: BTreeMap<Place, Vec<String>>,
    /// True if the lost end of the file is removed.
    is_closed: bool,
}

impl Writer<'_> {
    fn take(&mut self, files: &Files, edit: &Edit) -> Result<(), WriteError> {
        match edit {
            Edit::Synthesise { call, .. } => {
                let answer = self.form.answer.ok_or_else(|| self.refuse(call, NoForm(READ_ONLY)))?;
                let (at, own) = self.call(call)?;
                if !super::has_stored_id(own) {
                    return Err(self.refuse(call, NoForm(NO_ID)));
                }
                let record = answer(own, NOT_RECORDED).to_string();
                self.come.entry(self.behind(at)).or_default().push(record);
            }
            Edit::Move { result, call, .. } => {
                let (at, _) = self.call(call)?;
                let record = self.alone(result)?;
                let span = usize::try_from(record.start).ok().zip(usize::try_from(record.end).ok());
                let raw = span.and_then(|(start, end)| files.main().get(start..end));
                let raw = raw.and_then(|raw| std::str::from_utf8(raw).ok());
                let raw = raw.ok_or_else(|| self.refuse(result, Missing("there is no result")))?;
                self.come.entry(self.behind(at)).or_default().push(raw.trim().to_owned());
                self.gone.insert(record);
            }
            Edit::Drop { block } => {
                let record = self.alone(block)?;
                self.gone.insert(record);
            }
            Edit::Discard { place } if place.line.is_some() => {
                self.gone.insert(place.clone());
            }
            Edit::Discard { .. } => self.is_closed = true,
            Edit::Truncate { last } => {
                let at = self.message(last)?;
                let kept: BTreeSet<&Place> =
                    self.session.messages[..=at].iter().map(|own| &own.place).collect();
                let after = self.session.messages[at + 1..].iter().map(|own| &own.place);
                self.gone.extend(after.filter(|place| !kept.contains(place)).cloned());
            }
        }
        Ok(())
    }

    /// The message with a block at this place.
    fn message(&self, place: &Place) -> Result<usize, WriteError> {
        let has = |message: &Message| message.blocks.iter().any(|block| block.place == *place);
        let at = self.session.messages.iter().position(has);
        at.ok_or_else(|| self.refuse(place, EditError::NoPart))
    }

    fn call(&self, place: &Place) -> Result<(usize, &Call), WriteError> {
        let at = self.message(place)?;
        let is_it = |block: &&Block| block.place == *place;
        match self.session.messages[at].blocks.iter().find(is_it).map(|block| &block.content) {
            Some(Content::Call(call)) => Ok((at, call)),
            _ => Err(self.refuse(place, Missing("there is no call"))),
        }
    }

    /// The record after which the result of a call of this message belongs: the last of its results.
    fn behind(&self, at: usize) -> Place {
        let results = self.session.messages[at + 1..].iter().take_while(|message| message.role == Role::Tool);
        results.last().unwrap_or(&self.session.messages[at]).place.clone()
    }

    /// The record of a block, if it contains nothing else.
    fn alone(&self, place: &Place) -> Result<Place, WriteError> {
        if self.form.answer.is_none() {
            return Err(self.refuse(place, NoForm(READ_ONLY)));
        }
        let record = match self.message(place) {
            Ok(at) => self.session.messages[at].place.clone(),
            Err(_) => place.clone(),
        };
        let own = self.session.messages.iter().filter(|message| message.place == record);
        let n_blocks: usize = own.map(|message| message.blocks.len()).sum();
        if n_blocks > 1 {
            return Err(self.refuse(place, NoForm(SHARED)));
        }
        Ok(record)
    }

    fn refuse(&self, place: &Place, cause: EditError) -> WriteError {
        cause.at(self.form.product, place)
    }

    fn lines(&self, bytes: &[u8]) -> Vec<u8> {
        let range = |place: &Place| -> Option<Range<usize>> {
            Some(usize::try_from(place.start).ok()?..usize::try_from(place.end).ok()?)
        };
        let mut edits = Vec::new();
        for span in self.gone.iter().filter_map(range) {
            edits.push((span.start..span.end + usize::from(span.end < bytes.len()), Vec::new()));
        }
        for (place, records) in &self.come {
            let Some(span) = range(place) else { continue };
            let text: String = records.iter().map(|record| format!("{record}\n")).collect();
            // A file without a line end after its last record.
            let (at, text) = match bytes.get(span.end) {
                Some(_) => (span.end + 1, text),
                None => (span.end, format!("\n{}", text.trim_end())),
            };
            edits.push((at..at, text.into_bytes()));
        }
        splice(bytes, edits)
    }

    fn document(&self, bytes: &[u8]) -> Result<Vec<u8>, WriteError> {
        let not_json = || self.refuse(&Place::default(), NotJson);
        let whole = whole(bytes).ok_or_else(not_json)?;
        let document = Document::parse(&whole.text).map_err(|_| not_json())?;
        let mut changes = JsonChanges::default();
        for place in &self.gone {
            changes.remove(&place.pointer);
        }
        for (place, records) in &self.come {
            for record in records {
                changes.insert_after(&place.pointer, record.clone());
            }
        }
        let mut edits = changes.edits(document.root());
        if self.is_closed {
            edits.extend(whole.closing());
        }
        Ok(splice(bytes, edits))
    }
}
