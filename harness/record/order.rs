//! One order for equal runs.
//!
//! What a system shows, what it posts to the provider and what its tools do come over different connections. Which of
//! two such events is seen first, when nothing makes one wait for the other, differs from run to run. So the trace is
//! stored in an order that depends only on what happened, and the order in which it was seen stands beside it, with the
//! quiet spells, which are a matter of the clock.

use serde::{Deserialize, Serialize};

use crate::trace::{Event, Trace};

/// `timing.json` of a case: the order in which the lines of the trace were seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Timing {
    /// Lines of `trace.jsonl`, from 0.
    pub(super) seen: Vec<Seen>,
}

/// What was seen next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Seen {
    /// A line of the trace.
    Line(usize),
    /// So many quiet spells.
    Quiet(usize),
}

/// The events in stored order, quiet spells left out, and the order in which all was seen.
pub(super) fn stored(trace: &Trace) -> (Vec<&Event>, Timing) {
    let mut indexed: Vec<(usize, &Event)> = Vec::new();
    let mut start = 0;
    for (at, event) in trace.events().iter().enumerate() {
        if *event == Event::Quiet {
            continue;
        }
        indexed.push((at, event));
        if is_ours(event) {
            // What the harness did was done after all that stands before it.
            let end = indexed.len() - 1;
            indexed[start..end].sort_by_key(|(_, event)| rank(event));
            start = indexed.len();
        }
    }
    indexed[start..].sort_by_key(|(_, event)| rank(event));
    let mut line_of = vec![None; trace.events().len()];
    indexed.iter().enumerate().for_each(|(line, (at, _))| line_of[*at] = Some(line));
    let mut seen = Vec::new();
    for line in line_of {
        match (line, seen.last_mut()) {
            (Some(line), _) => seen.push(Seen::Line(line)),
            (None, Some(Seen::Quiet(n))) => *n += 1,
            (None, _) => seen.push(Seen::Quiet(1)),
        }
    }
    (indexed.into_iter().map(|(_, event)| event).collect(), Timing { seen })
}

/// The trace as it was seen; without a timing, as it is stored.
pub(super) fn seen(stored: Vec<Event>, timing: Option<&Timing>) -> Trace {
    let mut trace = Trace::default();
    let mut left: Vec<Option<Event>> = stored.into_iter().map(Some).collect();
    for seen in timing.iter().flat_map(|timing| &timing.seen) {
        match seen {
            Seen::Line(line) => {
                if let Some(event) = left.get_mut(*line).and_then(Option::take) {
                    trace.push(event);
                }
            }
            Seen::Quiet(n) => (0..*n).take(MAX_QUIET).for_each(|_| trace.push(Event::Quiet)),
        }
    }
    left.into_iter().flatten().for_each(|event| trace.push(event));
    trace
}

/// Quiet spells in a row that are believed; the conductor gives up after some dozen.
const MAX_QUIET: usize = 1000;

/// Whether the harness itself did it, so that it stands where it stands.
fn is_ours(event: &Event) -> bool {
    matches!(event, Event::Prompted { .. } | Event::Stopped | Event::GaveUp)
}

/// What comes over one connection keeps its order; the connections come one after the other.
fn rank(event: &Event) -> (u8, u64) {
    match event {
        Event::Requested { exchange, .. }
        | Event::Held { exchange, .. }
        | Event::Replied { exchange, .. }
        | Event::PeerClosed { exchange } => (1, u64::from(exchange.0)),
        Event::ToolStarted { call: Some(call), .. }
        | Event::ToolSettled { call, .. }
        | Event::ToolCancelled { call } => (2, u64::from(call.0)),
        Event::ToolStarted { call: None, .. } => (2, u64::MAX),
        Event::CallShown { .. } => (3, 0),
        Event::TurnEnded { .. } => (4, 0),
        Event::Prompted { .. } | Event::Stopped | Event::GaveUp | Event::Quiet => (0, 0),
    }
}
