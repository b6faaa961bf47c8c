//! Edits to stored records: the state of a call is replaced in place, and parts and messages are removed
//! completely.

mod apply;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use self::apply::Cells;
use super::raw::{Raw, RawMessage};
use super::{events, forms};
use crate::EditError::{Missing, Unreadable};
use crate::json::{span_of, splice, text};
use crate::{Edit, EditError, Files, Look, NOT_RECORDED, Place, Product, Session, WriteError};

/// The changes to the edited records.
#[derive(Debug, Default)]
struct Changes {
    /// Parts with their new bytes.
    parts: BTreeMap<Place, Vec<u8>>,
    /// Parts and messages to remove.
    removed: BTreeSet<Place>,
}

/// The files after the edits.
pub(super) fn write(files: &Files, session: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
    let store = |cause| WriteError { product: Product::Opencode, place: "the store".to_owned(), cause };
    let form = forms::form_of(&Look::of(files)).ok_or_else(|| store(Unreadable("not opencode's")))?;
    let (mut raws, of_events) = forms::read(form, files).map_err(|error| store(error.into()))?;
    raws.extend(events::raws(of_events));
    let mut cells = Cells::open(form, files).map_err(|error| store(error.into()))?;
    let mut changes = Changes::default();
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    let on_branch: BTreeSet<&Place> = blocks.map(|block| &block.place).collect();
    let parts = raws.iter().flat_map(|raw| &raw.messages).flat_map(|message| &message.parts);
    let parts: BTreeSet<&Place> = parts.map(|part| &part.place).collect();
    for edit in edits {
        let (place, result) = match edit {
            Edit::Synthesise { call, .. } => (call, synthesise(&mut cells, &mut changes, call)),
            Edit::Move { result, call, .. } => {
                (call, take_result(&mut cells, &mut changes, &on_branch, result, call))
            }
            Edit::Drop { block } => (block, drop_part(&mut changes, &parts, block)),
            Edit::Discard { place } => {
                changes.removed.insert(place.clone());
                (place, Ok(()))
            }
            Edit::Truncate { last } => (last, truncate(&mut changes, &raws, session, last)),
        };
        result.map_err(|cause| cause.at(Product::Opencode, place))?;
    }
    drop_messages(&mut changes, &raws);
    cells.apply(changes).map_err(store)
}

/// Ends a call with an error. A finished call stays unchanged.
fn synthesise(cells: &mut Cells<'_>, changes: &mut Changes, call: &Place) -> Result<(), EditError> {
    let part = part_of(cells, changes, call)?;
    let value = crate::json::parse(&part).ok_or(Unreadable("the call cannot be read"))?;
    let state = value.get("state").ok_or(Missing("the call has no state"))?;
    let is_event = call.row.as_ref().is_some_and(|row| row.table == events::TABLE);
    let has_ended = match text(state, "status") {
        "completed" => is_event || state.get("output").is_some_and(Value::is_string),
        status => status == "error",
    };
    if has_ended {
        return Ok(());
    }
    let mut new = json!({ "status": "error", "input": input(state) });
    if is_event {
        new["content"] = json!([]);
        new["structured"] = json!({});
        new["error"] = json!({ "type": "unknown", "message": NOT_RECORDED });
    } else {
        new["error"] = json!(NOT_RECORDED);
        if let Some(metadata) = state.get("metadata") {
            new["metadata"] = metadata.clone();
        }
        // The end time is unknown. The start time is the last known time.
        let start = state.pointer("/time/start").cloned().unwrap_or(json!(0));
        new["time"] = json!({ "start": start, "end": start });
    }
    set_state(changes, call, &part, new.to_string().into_bytes())
}

/// The arguments as an object, required for a finished call.
fn input(state: &Value) -> Value {
    let input = match state.get("input") {
        Some(Value::String(written)) => serde_json::from_str(written).unwrap_or(Value::Null),
        Some(input) => input.clone(),
        None => Value::Null,
    };
    if input.is_object() { input } else { json!({}) }
}

/// Gives a call the state of another part. That part is removed if it is on the branch.
fn take_result(
    cells: &mut Cells<'_>,
    changes: &mut Changes,
    on_branch: &BTreeSet<&Place>,
    result: &Place,
    call: &Place,
) -> Result<(), EditError> {
    if result == call {
        return Ok(());
    }
    let from = part_of(cells, changes, result)?;
    let state = span_of(&from, "/state").ok_or(Missing("the result has no state"))?;
    let part = part_of(cells, changes, call)?;
    set_state(changes, call, &part, from[state].to_vec())?;
    if on_branch.contains(result) {
        changes.removed.insert(result.clone());
    }
    Ok(())
}

fn part_of(cells: &mut Cells<'_>, changes: &Changes, place: &Place) -> Result<Vec<u8>, EditError> {
    let edited = changes.parts.get(place).cloned();
    edited.or_else(|| cells.part(place)).ok_or(Missing("there is no part at this place"))
}

fn set_state(changes: &mut Changes, call: &Place, part: &[u8], state: Vec<u8>) -> Result<(), EditError> {
    let span = span_of(part, "/state").ok_or(Missing("the call has no state"))?;
    changes.parts.insert(call.clone(), splice(part, vec![(span, state)]));
    Ok(())
}

fn drop_part(changes: &mut Changes, parts: &BTreeSet<&Place>, place: &Place) -> Result<(), EditError> {
    if !parts.contains(place) {
        return Err(Missing("there is no part at this place"));
    }
    changes.removed.insert(place.clone());
    Ok(())
}

/// Removes everything after a step on the branch: the rest of its reply, and the later messages.
fn truncate(changes: &mut Changes, raws: &[Raw], session: &Session, last: &Place) -> Result<(), EditError> {
    let holds = |message: &crate::Message| message.blocks.iter().any(|block| block.place == *last);
    let at = session
        .messages
        .iter()
        .rposition(holds)
        .ok_or(Missing("there is no message on the branch at this place"))?;
    let (kept, gone) = session.messages.split_at(at + 1);
    let kept_places: BTreeSet<&Place> =
        kept.iter().flat_map(|message| &message.blocks).map(|b| &b.place).collect();
    let gone_ids: BTreeSet<&str> = gone.iter().filter_map(|message| message.id.as_deref()).collect();
    let id = session.id.as_deref().unwrap_or_default();
    let own = raws.iter().filter(|raw| raw.id == id).flat_map(|raw| &raw.messages);
    for message in own.filter(|message| gone_ids.contains(message.id.as_str())) {
        match message.parts.iter().rposition(|part| kept_places.contains(&part.place)) {
            Some(last) => {
                changes.removed.extend(message.parts[last + 1..].iter().map(|part| part.place.clone()))
            }
            None => changes.removed.extend(places(message)),
        }
    }
    Ok(())
}

/// Removes each message with only bookkeeping left, including that bookkeeping.
fn drop_messages(changes: &mut Changes, raws: &[Raw]) {
    let says = |kind: &str| matches!(kind, "text" | "reasoning" | "tool" | "file" | "compaction" | "subtask");
    for message in raws.iter().flat_map(|raw| &raw.messages) {
        let is_touched = message.parts.iter().any(|part| changes.removed.contains(&part.place));
        let mut rest = message.parts.iter().filter(|part| !changes.removed.contains(&part.place));
        if is_touched && !rest.any(|part| says(text(&part.value, "type"))) {
            changes.removed.extend(places(message));
        }
    }
}

fn places(message: &RawMessage) -> impl Iterator<Item = Place> {
    std::iter::once(&message.place).chain(message.parts.iter().map(|part| &part.place)).cloned()
}
