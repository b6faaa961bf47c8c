//! What must hold of stored calls in whatever order events come: terminal states absorb, and nothing is lost, duplicated or
//! resurrected.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::{Consumed, Event, State, Stored};

/// What a store did wrong with a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Breach {
    /// The id of the call.
    pub call: String,
    /// What was done.
    pub wrong: Wrong,
    /// The event after which it shows, from 0; the number of events, if it shows when the stream has ended.
    pub at: usize,
}

/// What can be done wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wrong {
    /// It was declared and is not stored.
    Lost,
    /// It is stored twice.
    Duplicated,
    /// It was over, and is open again, has another result or is gone.
    Resurrected,
    /// The stream has ended, and it is still open.
    Open,
    /// A result came while the turn ran, and what is stored is not the first one that came.
    ResultLost,
    /// Its arguments changed after they were complete.
    ArgumentsChanged,
}

impl Wrong {
    /// Its name in reports.
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

/// Everything that a store did wrong with a sequence of events; each breach of a call once.
///
/// Not judged: a result whose call was never declared, a call that is declared when the turn is over or was refused, and what
/// a late result does to a call that was interrupted: to keep it and to leave it are both honest.
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

/// What is wrong with how a call has changed with an event.
fn change(was: &Stored, is: Option<&Stored>) -> Option<Wrong> {
    let Some(is) = is else { return Some(Wrong::Resurrected) };
    let is_other = is.state != was.state || is.result != was.result;
    let is_late_result = was.state == State::Interrupted && is.state.is_terminal();
    if was.state.is_terminal() && is_other && !is_late_result {
        return Some(Wrong::Resurrected);
    }
    (was.state != State::Streaming && is.arguments != was.arguments).then_some(Wrong::ArgumentsChanged)
}

/// What is wrong with what is stored in the end.
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
