//! One order for equal runs.
//!
//! The updates of a system, its requests to the provider and the runs of its tools arrive over different
//! connections. If nothing makes one of two such events wait for the other, their order differs from run to
//! run. So does whether a reply was just complete or just cancelled when the user's stop arrived, and when a
//! tool noticed the stop. The trace is therefore stored turn by turn and connection by connection, which
//! depends only on what happened. The order in which events were seen is a matter of timing and is stored
//! separately.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use brickbat_scenario::plan::CallKey;
use brickbat_scenario::trace::{Event, ExchangeId, Trace};

/// A case's `timing.json`: everything that was seen, in that order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Timing {
    /// Everything that was seen.
    pub(super) seen: Vec<Sighting>,
}

/// The next observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Sighting {
    /// A line of `trace.jsonl`, from 0.
    Line(usize),
    /// A reply or tool that ended during the user's stop.
    End(Event),
    /// This many quiet spells.
    Quiet(usize),
}

/// The replies of turns that were stopped or interrupted: how they ended is a race.
pub(super) fn raced(trace: &Trace) -> BTreeSet<ExchangeId> {
    met_by_stop(trace).0
}

/// The replies, and the calls with running tools, in turns that the user stopped.
fn met_by_stop(trace: &Trace) -> (BTreeSet<ExchangeId>, BTreeSet<CallKey>) {
    let mut calls: BTreeMap<CallKey, usize> = BTreeMap::new();
    let mut turn_of: BTreeMap<ExchangeId, usize> = BTreeMap::new();
    let mut stopped = BTreeSet::new();
    for (turn, event) in trace.by_turn() {
        match event {
            Event::Requested { exchange, .. } => {
                turn_of.insert(*exchange, turn);
            }
            Event::ToolStarted { call: Some(call), .. } => {
                calls.insert(*call, turn);
            }
            Event::Stopped | Event::Interrupted { .. } => {
                stopped.insert(turn);
            }
            _ => {}
        }
    }
    turn_of.retain(|_, turn| stopped.contains(turn));
    calls.retain(|_, turn| stopped.contains(turn));
    (turn_of.into_keys().collect(), calls.into_keys().collect())
}

/// The events in stored order, and the order in which they were seen.
pub(super) fn stored(trace: &Trace) -> (Vec<&Event>, Timing) {
    let (raced, calls) = met_by_stop(trace);
    let is_raced = |event: &Event| match event {
        Event::Replied { exchange, .. } | Event::PeerClosed { exchange } => raced.contains(exchange),
        Event::ToolCancelled { call } => calls.contains(call),
        // The store is a file of its own.
        Event::Stored { .. } => true,
        event => *event == Event::Quiet,
    };
    let ranks = ranks(trace);
    let mut n_prompts = 0;
    let mut sorted: Vec<(usize, (usize, u8, u32), &Event)> = Vec::new();
    for (at, event) in trace.events().iter().enumerate() {
        n_prompts += usize::from(matches!(event, Event::Prompted { .. }));
        if !is_raced(event) {
            let (channel, member) = channel(event, &ranks);
            sorted.push((at, (n_prompts, channel, member), event));
        }
    }
    sorted.sort_by_key(|(_, key, _)| *key);
    let mut line_of = vec![None; trace.events().len()];
    sorted.iter().enumerate().for_each(|(line, (at, _, _))| line_of[*at] = Some(line));
    let mut seen = Vec::new();
    for (event, line) in trace.events().iter().zip(line_of) {
        match (line, event, seen.last_mut()) {
            (Some(line), _, _) => seen.push(Sighting::Line(line)),
            (None, Event::Quiet, Some(Sighting::Quiet(n))) => *n += 1,
            (None, Event::Quiet, _) => seen.push(Sighting::Quiet(1)),
            (None, Event::Stored { .. }, _) => {}
            (None, event, _) => seen.push(Sighting::End(event.clone())),
        }
    }
    (sorted.into_iter().map(|(_, _, event)| event).collect(), Timing { seen })
}

/// The trace in the order in which it was seen, or without a timing, in stored order.
pub(super) fn seen(stored: Vec<Event>, timing: Option<Timing>) -> Trace {
    let mut trace = Trace::default();
    let mut left: Vec<Option<Event>> = stored.into_iter().map(Some).collect();
    for seen in timing.into_iter().flat_map(|timing| timing.seen) {
        match seen {
            Sighting::Line(line) => {
                left.get_mut(line).and_then(Option::take).into_iter().for_each(|e| trace.push(e))
            }
            Sighting::End(event) => trace.push(event),
            Sighting::Quiet(n) => (0..n.min(MAX_QUIET)).for_each(|_| trace.push(Event::Quiet)),
        }
    }
    left.into_iter().flatten().for_each(|event| trace.push(event));
    trace
}

/// The maximum number of quiet spells in a row that are read. The conductor gives up after a few
/// dozen.
const MAX_QUIET: usize = 1000;

/// The ids of calls that the system shows or asks about, by when each was first seen. Which of two parallel
/// calls continues first is a race, but they appear in reply order.
fn ranks(trace: &Trace) -> BTreeMap<&str, u32> {
    let mut ranks = BTreeMap::new();
    for event in trace.events() {
        if let Event::CallShown { id, .. } | Event::Asked { id, .. } = event {
            let next = ranks.len() as u32;
            ranks.entry(id.as_str()).or_insert(next);
        }
    }
    ranks
}

/// The group of an event: events of one connection, and those shown about one call, keep their order. The
/// groups follow one after the other.
fn channel(event: &Event, ranks: &BTreeMap<&str, u32>) -> (u8, u32) {
    match event {
        Event::Prompted { .. }
        | Event::Stopped
        | Event::Interrupted { .. }
        | Event::Said { .. }
        | Event::Waited { .. }
        | Event::LetGo { .. }
        | Event::GaveUp
        | Event::Quiet => (0, 0),
        Event::Requested { exchange, .. }
        | Event::Early { exchange }
        | Event::Held { exchange, .. }
        | Event::Replied { exchange, .. }
        | Event::PeerClosed { exchange } => (1, exchange.0),
        Event::ToolStarted { call: Some(call), .. }
        | Event::ToolSettled { call, .. }
        | Event::ToolCancelled { call }
        | Event::OldRunEnded { call, .. } => (2, call.0),
        Event::ToolStarted { call: None, .. } => (2, u32::MAX),
        Event::CallShown { id, .. } | Event::Asked { id, .. } => {
            (3, ranks.get(id.as_str()).copied().unwrap_or(u32::MAX))
        }
        Event::Answered { .. } => (4, 0),
        Event::Repaired { .. }
        | Event::TurnEnded { .. }
        | Event::PromptRefused
        | Event::Killed
        | Event::Resumed
        | Event::Changed { .. }
        | Event::Switched { .. }
        | Event::Stored { .. } => (5, 0),
        Event::Saving { .. } => (6, 0),
    }
}
