//! Invariants of stored calls for any event order: a terminal state is final, and nothing is lost, duplicated
//! or resurrected.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::{Consumed, Event, State, Stored};

/// An error of a store about a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Breach {
    /// The id of the call.
    pub call: String,
    /// The kind of error.
    pub wrong: Wrong,
    /// The 0-based index of the event after which it occurs, or the number of events if it occurs at the end
    /// of the stream.
    pub at: usize,
}

/// A kind of error about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wrong {
    /// It was declared and is not stored.
    Lost,
    /// It is stored twice.
    Duplicated,
    /// It had ended, but is open again, has a different result or is missing.
    Resurrected,
    /// It is still open when the stream has ended.
    Open,
    /// A result came while the turn ran, but the stored result is not the first one.
    ResultLost,
    /// Its arguments changed after they were complete.
    ArgumentsChanged,
}

impl Wrong {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Wrong::Lost => "lost",
            Wrong::Duplicated => "duplicated",
            Wrong::Resurrected => "resurrected",
            Wrong::Open => "open",
            Wrong::ResultLost => "result-lost",
            Wrong::ArgumentsChanged => "arguments-changed",
        }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Breach { call, wrong, at } = self;
        match wrong {
            Wrong::Lost => write!(f, "call {call} was declared and is not stored"),
            Wrong::Duplicated => write!(f, "call {call} is stored twice after event {at}"),
            Wrong::Resurrected => write!(f, "call {call} was over and has changed with event {at}"),
            Wrong::Open => write!(f, "the stream has ended and call {call} is still open"),
            Wrong::ResultLost => write!(f, "the first result of call {call} is not stored"),
            Wrong::ArgumentsChanged => {
                write!(f, "the complete arguments of call {call} have changed with event {at}")
            }
        }
    }
}

/// All errors that a store makes on an event sequence, each reported once per call.
///
/// These are not judged: a result for a call that was never declared, a call that is declared after the end
/// of the turn or was rejected, and the effect of a late result on an interrupted call, because keeping it
/// and leaving it out are both honest.
pub fn breaches(events: &[Event], consumed: &Consumed) -> BTreeSet<Breach> {
    let mut found = BTreeSet::new();
    let mut before: BTreeMap<&str, &Stored> = BTreeMap::new();
    let mut changed = BTreeSet::new();
    for (at, stored) in consumed.stored.iter().enumerate() {
        let mut now = BTreeMap::new();
        let mut add = |call: &Stored, wrong| {
            if changed.insert(call.call.clone()) {
                found.insert(Breach { call: call.call.clone(), wrong, at });
            }
        };
        for call in stored {
            if now.insert(call.call.as_str(), call).is_some() {
                add(call, Wrong::Duplicated);
            }
        }
        for was in before.values() {
            if let Some(wrong) = change(was, now.get(was.call.as_str()).copied()) {
                add(was, wrong);
            }
        }
        before = now;
    }
    let n_taken = consumed.refused.as_ref().map_or(events.len(), |refused| refused.at.min(events.len()));
    let at_rest = at_rest(&events[..n_taken], &before);
    found.extend(at_rest.into_iter().map(|(call, wrong)| Breach { call, wrong, at: events.len() }));
    found
}

/// The error in how an event changed a call, if there is one.
fn change(was: &Stored, is: Option<&Stored>) -> Option<Wrong> {
    let Some(is) = is else { return Some(Wrong::Resurrected) };
    let is_other = is.state != was.state || is.result != was.result;
    let is_late_result = was.state == State::Interrupted && is.state.is_terminal();
    if was.state.is_terminal() && is_other && !is_late_result {
        return Some(Wrong::Resurrected);
    }
    (was.state != State::Streaming && is.arguments != was.arguments).then_some(Wrong::ArgumentsChanged)
}

/// The errors in the final content of the store.
fn at_rest(events: &[Event], stored: &BTreeMap<&str, &Stored>) -> Vec<(String, Wrong)> {
    let n_in_turn = events.iter().position(|event| *event == Event::Finish).unwrap_or(events.len());
    let in_turn = &events[..n_in_turn];
    let declared = in_turn.iter().filter_map(|event| match event {
        Event::Start { call, .. } => Some(call.as_str()),
        _ => None,
    });
    let mut found = Vec::new();
    for call in declared.collect::<BTreeSet<&str>>() {
        let first = in_turn.iter().find_map(|event| match event {
            Event::Result { call: of, text, failed } if of == call => Some((text, *failed)),
            _ => None,
        });
        match (stored.get(call), first) {
            (None, _) => found.push((call.to_owned(), Wrong::Lost)),
            (Some(stored), Some((text, failed))) => {
                let state = if failed { State::Failed } else { State::Succeeded };
                if stored.state != state || stored.result.as_ref() != Some(text) {
                    found.push((call.to_owned(), Wrong::ResultLost));
                }
            }
            (Some(_), None) => {}
        }
    }
    let is_open = stored.values().filter(|call| !call.state.is_terminal());
    found.extend(is_open.map(|call| (call.call.clone(), Wrong::Open)));
    found
}
