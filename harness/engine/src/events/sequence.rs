//! Handwritten sequences of events, read from files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Event, MAX_EVENTS};
use brickbat_scenario::parse::{self, Diagnostic};

/// The events of a turn in stream order, which may be wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// Its fault, in one sentence.
    pub comment: String,
    /// Sources: issues and pull requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The events, at most [`MAX_EVENTS`].
    pub events: Vec<Event>,
}

impl Sequence {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Reports where the file is wrong.
    pub fn parse(file_name: &str, text: &str) -> Result<Sequence, Diagnostic> {
        parse::document(file_name, text, |sequence: &Sequence| match sequence.events.len() {
            0 => Some(("/events".to_owned(), "there is no event".to_owned())),
            n if n > MAX_EVENTS => {
                Some(("/events".to_owned(), format!("there are {n} events, more than {MAX_EVENTS}")))
            }
            _ => None,
        })
    }
}

/// All sequences with one event removed: first without the last event, then without the one before it, and so
/// on.
pub fn without(events: &[Event]) -> impl Iterator<Item = Vec<Event>> + '_ {
    (0..events.len()).rev().map(|at| {
        let mut fewer = events.to_vec();
        fewer.remove(at);
        fewer
    })
}
