//! Plans the edits that put each call's result directly after the call.
//!
//! In order of preference, the plan finds and moves the real result, drops an identical second one, or writes
//! an honest error. Only then does it drop anything else. It never guesses: if two results contradict each
//! other, or two different calls share an id, there is no edit.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::histories::{Block, Call, CallResult, Role};

use super::conserved::is_thought;
use super::reason::Reason;
use crate::session::{ASKED, DECLINED};
use crate::state::Progress;
use crate::{Edit, Message, Place};

/// An edit with its reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// The edit.
    pub edit: Edit,
    /// The place shown for the edit in a report.
    pub place: Place,
    /// The reason for the edit, without any content of the session.
    pub reason: Reason,
}

/// The edits that make calls and results match. Missing results are looked up in `elsewhere`.
pub fn plan(messages: &[Message], elsewhere: &[&[Message]]) -> Vec<Planned> {
    let mut pairing = Pairing::of(messages);
    let mut planned = pairing.drop_copies();
    planned.extend(drop_items_twice(messages));
    planned.extend(pairing.answer(elsewhere));
    planned.extend(pairing.drop_leftovers());
    planned
}

/// Drops the second of two equal thoughts or messages with the same id.
fn drop_items_twice(messages: &[Message]) -> Vec<Planned> {
    let mut first: BTreeMap<&str, &Block> = BTreeMap::new();
    let mut planned = Vec::new();
    for block in messages.iter().flat_map(|message| &message.blocks) {
        let (id, reason) = match &block.content {
            Block::Thinking(thinking) => (thinking.id.as_deref(), Reason::DuplicateThought),
            Block::Native { value, .. } if value["type"] == "message" => {
                (value["id"].as_str(), Reason::DuplicateMessage)
            }
            _ => continue,
        };
        let Some(id) = id else { continue };
        match first.get(id) {
            None => {
                first.insert(id, &block.content);
            }
            Some(before) if **before == block.content => planned.push(Planned {
                edit: Edit::Drop { block: block.place.clone() },
                place: block.place.clone(),
                reason,
            }),
            Some(_) => {}
        }
    }
    planned
}

/// Moves the results of the rejected replies directly after their calls, where [`plan`] finds nothing to fix.
/// Some providers want each result at the start of the very next message, with nothing in between.
pub(super) fn straighten(messages: &[Message], refused: &[Place]) -> Vec<Planned> {
    let pairing = Pairing::of(messages);
    let at = |place: &Place| {
        let holds = |message: &Message| message.blocks.iter().any(|block| &block.place == place);
        messages.iter().position(holds)
    };
    let refused: Vec<usize> = refused.iter().filter_map(at).collect();
    let mut planned = Vec::new();
    for call in &pairing.calls {
        let Some(result) = call.result.map(|index| &pairing.results[index]) else { continue };
        let touches = |n: &usize| call.zone.contains(n) || result.message == *n;
        if refused.iter().any(touches) && result.place != call.place {
            planned.push(moved(result.place.clone(), call.place.clone(), call.call, Reason::Misplaced));
        }
    }
    planned
}

/// An edit for each rejected thought. The provider accepts an earlier reply without its thinking, but
/// requires the thinking for the calls that the model is working on. For those calls the edit does not help
/// and is not kept.
pub(super) fn drop_thinking(messages: &[Message], refused: &[Place]) -> Vec<Planned> {
    let blocks = messages.iter().flat_map(|message| &message.blocks);
    let is_refused = |block: &&crate::Block| is_thought(&block.content) && refused.contains(&block.place);
    let drop = |block: &crate::Block| Planned {
        edit: Edit::Drop { block: block.place.clone() },
        place: block.place.clone(),
        reason: Reason::Hollow,
    };
    blocks.filter(is_refused).map(drop).collect()
}

/// An edit for each message without content. Some products send null as its content.
pub(super) fn drop_empty(messages: &[Message]) -> Vec<Planned> {
    let is_null =
        |block: &crate::Block| matches!(&block.content, Block::Native { value, .. } if value.is_null());
    let empty = messages.iter().filter(|message| message.blocks.iter().all(is_null));
    let drop = |message: &Message| {
        let place = message.place.clone();
        Planned { edit: Edit::Drop { block: place.clone() }, place, reason: Reason::Blank }
    };
    empty.map(drop).collect()
}

/// An edit for each blank text at these places.
pub(super) fn drop_blank(messages: &[Message], places: &[Place]) -> Vec<Planned> {
    let blocks = messages.iter().flat_map(|message| &message.blocks);
    let is_blank = |block: &&crate::Block| {
        matches!(&block.content, Block::Text(text) if text.trim().is_empty()) && places.contains(&block.place)
    };
    let drop = |block: &crate::Block| Planned {
        edit: Edit::Drop { block: block.place.clone() },
        place: block.place.clone(),
        reason: Reason::Blank,
    };
    blocks.filter(is_blank).map(drop).collect()
}

/// Moves the result of each rejected tool of the provider to its call, if a later reply has it.
pub(super) fn join(messages: &[Message], refused: &[Place]) -> Vec<Planned> {
    let native = |block: &crate::Block| match &block.content {
        Block::Native { value, .. } => Some(value.clone()),
        _ => None,
    };
    let mut calls: BTreeMap<String, (usize, Place)> = BTreeMap::new();
    let mut planned = Vec::new();
    for (n, message) in messages.iter().enumerate().filter(|(_, message)| message.role == Role::Assistant) {
        for block in &message.blocks {
            let Some(value) = native(block) else { continue };
            if value["type"] == "server_tool_use"
                && let Some(id) = value["id"].as_str()
            {
                calls.insert(id.to_owned(), (n, block.place.clone()));
                continue;
            }
            let Some(id) = value["tool_use_id"].as_str() else { continue };
            let Some((at, call)) = calls.get(id).filter(|(at, _)| *at < n) else { continue };
            let touches = |place: &Place| {
                [*at, n].iter().any(|n| messages[*n].blocks.iter().any(|block| block.place == *place))
            };
            if refused.iter().any(touches) {
                let (result, call, id) = (block.place.clone(), call.clone(), id.to_owned());
                let edit = Edit::Move { result, call: call.clone(), id };
                planned.push(Planned { edit, place: call, reason: Reason::Parted });
            }
        }
    }
    planned
}

/// An edit for each call at these places that the store marks as unfinished, without a result and with
/// arguments that are not JSON. Such a call cannot have run, and the rest of its arguments cannot be guessed.
pub(super) fn drop_unfinished(messages: &[Message], places: &[Place]) -> Vec<Planned> {
    let answered = |id: &str| messages.iter().flat_map(Message::results).any(|result| result.call == id);
    let is_cut = |block: &&crate::Block| match (&block.content, block.state.as_deref()) {
        (Block::Call(call), Some(state)) => {
            Progress::of(state) == Some(Progress::Written)
                && places.contains(&block.place)
                && serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments).is_err()
                && !answered(&call.id)
        }
        _ => false,
    };
    let drop = |block: &crate::Block| Planned {
        edit: Edit::Drop { block: block.place.clone() },
        place: block.place.clone(),
        reason: Reason::Unfinished,
    };
    messages.iter().flat_map(|message| &message.blocks).filter(is_cut).map(drop).collect()
}

/// Calls and results, paired.
struct Pairing<'m> {
    calls: Vec<PlacedCall<'m>>,
    results: Vec<PlacedResult<'m>>,
    /// The results for each key.
    by_key: BTreeMap<&'m str, SameKey>,
}

/// The results of one key, in order. If the product has no ids, all results in a conversation may share a
/// key.
#[derive(Default)]
struct SameKey {
    results: Vec<usize>,
    /// For each result, and for the end of the list, the index at which to continue the search for a free
    /// one. A free result has its own index.
    free: Vec<usize>,
}

impl SameKey {
    /// The first free result from this index on.
    fn free_from(&mut self, from: usize) -> usize {
        let mut at = from;
        while self.free.get(at).is_some_and(|next| *next != at) {
            at = self.free[at];
        }
        // Shorten the path, so that the next search takes one step.
        let mut passed = from;
        while passed < at {
            passed = std::mem::replace(&mut self.free[passed], at);
        }
        at
    }

    fn claim(&mut self, at: usize) {
        self.free[at] = at + 1;
    }
}

struct PlacedCall<'m> {
    place: &'m Place,
    call: &'m Call,
    /// The reason to report if no result of the call was recorded.
    unanswered: Reason,
    /// The messages in which its result may be.
    zone: std::ops::Range<usize>,
    /// The index of its result.
    result: Option<usize>,
    is_dropped: bool,
}

struct PlacedResult<'m> {
    message: usize,
    place: &'m Place,
    result: &'m CallResult,
    /// The index of its call.
    call: Option<usize>,
}

/// The key that a call and its result share: the id, or the tool name if the product has no ids.
fn key<'m>(id: &'m str, name: &'m str) -> &'m str {
    if id.is_empty() { name } else { id }
}

impl<'m> Pairing<'m> {
    fn of(messages: &'m [Message]) -> Pairing<'m> {
        let mut pairing = Pairing { calls: Vec::new(), results: Vec::new(), by_key: BTreeMap::new() };
        let zones = zones(messages);
        for (n, message) in messages.iter().enumerate() {
            for block in &message.blocks {
                match &block.content {
                    Block::Call(call) => pairing.calls.push(PlacedCall {
                        place: &block.place,
                        call,
                        unanswered: unanswered(block.state.as_deref()),
                        zone: n..zones[n],
                        result: None,
                        is_dropped: false,
                    }),
                    Block::Result(result) => {
                        let key = key(&result.call, &result.name);
                        let same = pairing.by_key.entry(key).or_default();
                        same.free.push(same.results.len());
                        same.results.push(pairing.results.len());
                        pairing.results.push(PlacedResult {
                            message: n,
                            place: &block.place,
                            result,
                            call: None,
                        });
                    }
                    _ => {}
                }
            }
        }
        for n in 0..pairing.calls.len() {
            pairing.claim(n);
        }
        pairing
    }

    /// Gives a call the first free result in its zone.
    fn claim(&mut self, n: usize) {
        let call = &self.calls[n];
        let Some(same) = self.by_key.get_mut(key(&call.call.id, &call.call.name)) else { return };
        let message = |index: &usize| self.results[*index].message;
        let from = same.results.partition_point(|index| message(index) < call.zone.start);
        let at = same.free_from(from);
        let Some(index) = same.results.get(at).copied().filter(|index| call.zone.contains(&message(index)))
        else {
            return;
        };
        same.claim(at);
        self.results[index].call = Some(n);
        self.calls[n].result = Some(index);
    }

    /// Gives a call the first free result anywhere.
    fn claim_anywhere(&mut self, n: usize) -> Option<usize> {
        let call = self.calls[n].call;
        let same = self.by_key.get_mut(key(&call.id, &call.name))?;
        let at = same.free_from(0);
        let index = same.results.get(at).copied()?;
        same.claim(at);
        self.results[index].call = Some(n);
        self.calls[n].result = Some(index);
        Some(index)
    }

    /// Drops the second of two equal calls with the same id, together with its result.
    fn drop_copies(&mut self) -> Vec<Planned> {
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        let mut released = BTreeSet::new();
        let mut planned = Vec::new();
        for n in 0..self.calls.len() {
            let call = self.calls[n].call;
            if call.id.is_empty() {
                continue;
            }
            let Some(&before) = first.get(call.id.as_str()) else {
                first.insert(&call.id, n);
                continue;
            };
            let original = &self.calls[before];
            let results = (original.result, self.calls[n].result);
            let contradict = match results {
                (Some(a), Some(b)) => self.results[a].result.output != self.results[b].result.output,
                _ => false,
            };
            if original.call.name != call.name || original.call.arguments != call.arguments || contradict {
                continue;
            }
            let place = self.calls[n].place.clone();
            planned.push(Planned {
                edit: Edit::Drop { block: place.clone() },
                place,
                reason: Reason::DuplicateCall,
            });
            self.calls[n].is_dropped = true;
            let own = self.calls[n].result.take();
            // If one object of the store contains both, the result disappears with its call and needs no edit
            // of its own.
            if let Some(result) = own.filter(|result| *self.results[*result].place != *self.calls[n].place) {
                self.results[result].call = None;
                released.insert(key(&call.id, &call.name));
            }
        }
        for key in released {
            let Some(same) = self.by_key.get_mut(key) else { continue };
            let is_free = |index: &usize| self.results[*index].call.is_none();
            let free = same.results.iter().enumerate();
            same.free = free.map(|(at, index)| if is_free(index) { at } else { at + 1 }).collect();
        }
        planned
    }

    /// Finds or writes a result for each call that has none.
    fn answer(&mut self, elsewhere: &[&[Message]]) -> Vec<Planned> {
        let mut recorded = None;
        let mut planned = Vec::new();
        for n in 0..self.calls.len() {
            if self.calls[n].result.is_some() || self.calls[n].is_dropped {
                continue;
            }
            let call = self.calls[n].call;
            let call_place = self.calls[n].place.clone();
            if let Some(index) = self.claim_anywhere(n) {
                let result = self.results[index].place.clone();
                planned.push(moved(result, call_place, call, Reason::Misplaced));
                continue;
            }
            let recorded = recorded.get_or_insert_with(|| recorded_in(elsewhere));
            // A result that another call of this id has already is not free.
            let free = recorded.get(call.id.as_str()).filter(|place| !self.is_claimed(&call.id, place));
            match free {
                Some(result) => planned.push(moved((*result).clone(), call_place, call, Reason::OffBranch)),
                None => planned.push(Planned {
                    edit: Edit::Synthesise { call: call_place.clone(), id: call.id.clone() },
                    place: call_place,
                    reason: self.calls[n].unanswered,
                }),
            }
        }
        planned
    }

    /// Returns whether the result at this place belongs to a call.
    fn is_claimed(&self, key: &str, place: &Place) -> bool {
        let same = self.by_key.get(key).into_iter().flat_map(|same| &same.results);
        let mut results = same.map(|index| &self.results[*index]);
        results.any(|result| result.call.is_some() && result.place == place)
    }

    /// Drops the results that belong to no call, unless they contradict the one that does.
    fn drop_leftovers(&self) -> Vec<Planned> {
        let mut planned = Vec::new();
        let mut claimed: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for result in self.results.iter().filter(|result| result.call.is_none()) {
            let key = key(&result.result.call, &result.result.name);
            let claimed = claimed.entry(key).or_insert_with(|| self.said(key));
            let reason = match claimed.is_empty() {
                true => Reason::Orphan,
                false if claimed.contains(&said(result.result)) => Reason::Duplicate,
                false => continue,
            };
            let place = result.place.clone();
            planned.push(Planned { edit: Edit::Drop { block: place.clone() }, place, reason });
        }
        planned
    }

    /// The contents of all results under a key that belong to a call.
    fn said(&self, key: &str) -> BTreeSet<String> {
        let same = self.by_key.get(key).into_iter().flat_map(|same| &same.results);
        let claimed = same.map(|index| &self.results[*index]).filter(|result| result.call.is_some());
        claimed.map(|claimed| said(claimed.result)).collect()
    }
}

/// The reason why a call in this state has no result, as far as the store shows it.
fn unanswered(state: Option<&str>) -> Reason {
    match state {
        Some(DECLINED) => Reason::Declined,
        Some(ASKED) => Reason::NotApproved,
        _ => Reason::NotRecorded,
    }
}

fn moved(result: Place, call: Place, of: &Call, reason: Reason) -> Planned {
    Planned { place: call.clone(), edit: Edit::Move { result, call, id: of.id.clone() }, reason }
}

fn says_the_same(a: &CallResult, b: &CallResult) -> bool {
    a.output == b.output && a.is_error == b.is_error
}

/// A result's content as text. Two results have the same text only if their contents are equal.
fn said(result: &CallResult) -> String {
    format!("{} {:?}", result.is_error, result.output)
}

/// For each message, the end of the range in which results of its calls may be: the messages with results
/// directly after it, and after the other messages of the same reply.
fn zones(messages: &[Message]) -> Vec<usize> {
    let mut zones = vec![0; messages.len()];
    let mut end = messages.len();
    for n in (0..messages.len()).rev() {
        let message = &messages[n];
        zones[n] = end.max(n + 1);
        let is_stop = match message.role {
            Role::Assistant => n == 0 || messages[n - 1].role != Role::Assistant,
            Role::Tool => false,
            Role::User | Role::System => message.results().next().is_none(),
        };
        if is_stop {
            end = n;
        }
    }
    zones
}

/// The place where each call's result was recorded. Calls with two different results are left out.
fn recorded_in<'m>(elsewhere: &[&'m [Message]]) -> BTreeMap<&'m str, &'m Place> {
    let mut found: BTreeMap<&str, Option<(&CallResult, &Place)>> = BTreeMap::new();
    let messages = elsewhere.iter().copied().flatten();
    for block in messages.flat_map(|message| &message.blocks) {
        let Block::Result(result) = &block.content else { continue };
        if result.call.is_empty() {
            continue;
        }
        let entry = found.entry(result.call.as_str()).or_insert(Some((result, &block.place)));
        if let Some((first, _)) = entry
            && !says_the_same(first, result)
        {
            *entry = None;
        }
    }
    found.into_iter().filter_map(|(id, found)| Some((id, found?.1))).collect()
}
