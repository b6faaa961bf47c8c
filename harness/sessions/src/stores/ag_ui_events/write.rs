//! Edits to an event list: events are removed and added.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::histories::{Block as Content, Role};
use brickbat_rules::json::{Document, Json};
use serde_json::json;

use super::fold::{Folded, fold};
use crate::EditError::{self, Missing, NoForm, NoPart, NotJson, Unreadable};
use crate::json::splice;
use crate::stores::ag_ui_messages::synthetic;
use crate::stores::json_changes::JsonChanges;
use crate::stores::json_text::whole;
use crate::stores::list_writer::raw;
use crate::stores::{Edit, WriteError};
use crate::{Files, NOT_RECORDED, Place, Product, Session};

pub(super) fn write(files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
    let nowhere = Place::default();
    let whole = whole(files.main()).ok_or_else(|| refuse(&nowhere, NotJson))?;
    let document = Document::parse(&whole.text).map_err(|_| refuse(&nowhere, NotJson))?;
    let folded =
        fold(document.root()).map_err(|_| refuse(&nowhere, Unreadable("no longer the same session")))?;
    let mut writer = Writer::new(files, session, document.root(), folded);
    let mut closing = None;
    for edit in edits {
        match edit {
            Edit::Move { result, call, .. } => writer.put_after(call, result)?,
            Edit::Synthesise { call, id } => writer.synthesise(call, id)?,
            Edit::Drop { block } => writer.drop(block)?,
            Edit::Truncate { last } => writer.truncate(last)?,
            Edit::Discard { place } => {
                let is_known = session.troubles.iter().any(|t| t.place == *place && t.loses.is_some());
                closing = whole.closing().filter(|_| is_known);
                if closing.is_none() {
                    return Err(refuse(place, Missing("nothing there that can be taken out")));
                }
            }
        }
    }
    let mut edits = writer.finish();
    edits.extend(closing);
    let mut written = files.clone();
    if let Some(first) = written.files.first_mut() {
        first.bytes = splice(files.main(), edits);
    }
    Ok(written)
}

fn refuse(place: &Place, cause: EditError) -> WriteError {
    cause.at(Product::AgUiEvents, place)
}

struct Writer<'s, 'd> {
    files: &'s Files,
    session: &'s Session,
    root: Json<'d, 'd>,
    folded: Folded,
    /// The index of each block's message.
    owners: BTreeMap<&'s Place, usize>,
    gone: BTreeSet<&'s Place>,
    changes: JsonChanges,
    /// The pointer after which results are inserted for the calls of a complete message, by its index.
    homes: BTreeMap<usize, String>,
}

impl<'s, 'd> Writer<'s, 'd> {
    fn new(files: &'s Files, session: &'s Session, root: Json<'d, 'd>, folded: Folded) -> Writer<'s, 'd> {
        let mut owners = BTreeMap::new();
        for (n, message) in session.messages.iter().enumerate() {
            owners.extend(message.blocks.iter().map(|block| (&block.place, n)));
        }
        Writer {
            files,
            session,
            root,
            folded,
            owners,
            gone: BTreeSet::new(),
            changes: JsonChanges::default(),
            homes: BTreeMap::new(),
        }
    }

    fn owner(&self, place: &Place) -> Result<usize, WriteError> {
        let owner = self.owners.get(place).copied();
        owner.ok_or_else(|| refuse(place, NoPart))
    }

    fn drop(&mut self, place: &Place) -> Result<(), WriteError> {
        let own = self.owners.get_key_value(place).map(|(own, _)| *own);
        self.gone.insert(own.ok_or_else(|| refuse(place, NoPart))?);
        Ok(())
    }

    /// Removes the events of later blocks. Those of runs and states stay.
    fn truncate(&mut self, last: &Place) -> Result<(), WriteError> {
        let after = self.owner(last)? + 1;
        let later = self.session.messages.iter().skip(after);
        self.gone.extend(later.flat_map(|message| &message.blocks).map(|block| &block.place));
        Ok(())
    }

    fn synthesise(&mut self, call: &Place, id: &str) -> Result<(), WriteError> {
        let owner = self.owner(call)?;
        if is_whole(call) {
            let home = self.home(owner);
            self.changes.insert_after(&home, synthetic(id));
            return Ok(());
        }
        let after = self.last_event(call);
        if !self.folded.ended.contains(id) {
            let end = json!({ "type": "TOOL_CALL_END", "toolCallId": id });
            self.changes.insert_after(&after, end.to_string());
        }
        let result = json!({
            "type": "TOOL_CALL_RESULT",
            "messageId": format!("result-{id}"),
            "toolCallId": id,
            "content": NOT_RECORDED,
            "role": "tool",
        });
        self.changes.insert_after(&after, result.to_string());
        Ok(())
    }

    fn put_after(&mut self, call: &Place, result: &Place) -> Result<(), WriteError> {
        let owner = self.owner(call)?;
        if is_whole(call) != is_whole(result) {
            return Err(refuse(result, NoForm("an event cannot be moved into a snapshot, or out of it")));
        }
        let after = if is_whole(call) { self.home(owner) } else { self.last_event(call) };
        self.drop(result)?;
        self.changes.insert_after(&after, raw(self.files, result).to_owned());
        Ok(())
    }

    /// The last event of a call.
    fn last_event(&self, call: &Place) -> String {
        let last = self.folded.events.get(&call.pointer).and_then(|events| events.last());
        last.map_or_else(|| call.pointer.clone(), |n| format!("/{n}"))
    }

    /// The message of a snapshot after which a result for a call of this message must be inserted.
    fn home(&mut self, owner: usize) -> String {
        if let Some(home) = self.homes.get(&owner) {
            return home.clone();
        }
        let Some(own) = self.session.messages.get(owner) else { return String::new() };
        let list = own.place.pointer.rsplit_once('/').map_or("", |(list, _)| list);
        let after = self.session.messages.iter().skip(owner + 1);
        let results = after.take_while(|message| {
            let is_there = message.place.pointer.rsplit_once('/').is_some_and(|(other, _)| other == list);
            is_there && message.role == Role::Tool
        });
        let home = results.last().unwrap_or(own).place.pointer.clone();
        self.homes.insert(owner, home.clone());
        home
    }

    fn finish(mut self) -> Vec<(std::ops::Range<usize>, Vec<u8>)> {
        for message in &self.session.messages {
            let gone = message.blocks.iter().filter(|block| self.gone.contains(&block.place));
            let gone: Vec<_> = gone.collect();
            if gone.is_empty() {
                continue;
            }
            if is_whole(&message.place) && gone.len() == message.blocks.len() {
                self.changes.remove(&message.place.pointer);
            }
            for block in gone {
                let events = self.folded.events.get(&block.place.pointer);
                for n in events.into_iter().flatten() {
                    self.changes.remove(&format!("/{n}"));
                }
                if is_whole(&block.place) {
                    match &block.content {
                        Content::Text(_) if block.place.pointer.ends_with("/content") => {
                            self.changes.set(&message.place.pointer, "content", json!("").to_string());
                        }
                        _ => self.changes.remove(&block.place.pointer),
                    }
                }
            }
        }
        self.changes.edits(self.root)
    }
}

/// Returns whether a place is in a complete message: in a snapshot, or in the input of a run.
fn is_whole(place: &Place) -> bool {
    place.pointer.contains("/messages/")
}
