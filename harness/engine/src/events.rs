//! Call events in an SDK's own stream, the stored state of each call after every event, and the invariants of
//! that state for any event order.
//!
//! A call is declared, its arguments stream, it becomes ready, and it gets a result or the turn ends without
//! one. `store` is a correct store, with bugs to plant; `breach` judges the contents of any store; `shuffle`
//! creates random sequences out of order; `sequence` reads handwritten sequences.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod breach;
mod sequence;
mod shuffle;
mod store;

pub use breach::{Breach, Wrong, breaches};
pub use sequence::{Sequence, without};
pub use shuffle::{MAX_EVENTS, shuffled};
pub use store::{Store, StoreBug, consume};

/// A call event in a stream. Every SDK has an event for each of these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Event {
    /// The model begins a call.
    Start {
        /// The id of the call.
        call: String,
        /// The name of its tool.
        tool: String,
    },
    /// A piece of the arguments.
    Arguments {
        /// The id of the call.
        call: String,
        /// The piece, as text.
        text: String,
    },
    /// The arguments are complete.
    Ready {
        /// The id of the call.
        call: String,
    },
    /// The tool has answered, or has failed.
    Result {
        /// The id of the call.
        call: String,
        /// The answer, or the error.
        text: String,
        /// True if it is an error.
        failed: bool,
    },
    /// The turn has ended.
    Finish,
}

impl Event {
    /// The call of the event. `None` if the event is about the turn.
    pub fn call(&self) -> Option<&str> {
        match self {
            Event::Start { call, .. }
            | Event::Arguments { call, .. }
            | Event::Ready { call }
            | Event::Result { call, .. } => Some(call),
            Event::Finish => None,
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Start { call, .. } => write!(f, "start {call}"),
            Event::Arguments { call, text } => write!(f, "arguments {call} {text:?}"),
            Event::Ready { call } => write!(f, "ready {call}"),
            Event::Result { call, text, failed: false } => write!(f, "result {call} {text:?}"),
            Event::Result { call, text, failed: true } => write!(f, "error {call} {text:?}"),
            Event::Finish => f.write_str("finish"),
        }
    }
}

/// The state of a stored call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Its arguments are not complete.
    Streaming,
    /// It has its arguments but no result.
    Ready,
    /// It has the result of its tool.
    Succeeded,
    /// It has the error of its tool.
    Failed,
    /// The turn ended before it had a result, and that is stored.
    Interrupted,
}

impl State {
    /// True if no other state may follow.
    pub fn is_terminal(self) -> bool {
        matches!(self, State::Succeeded | State::Failed | State::Interrupted)
    }
}

/// A stored call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    /// The id of the call.
    pub call: String,
    /// The state of the call.
    pub state: State,
    /// The stored part of its arguments, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// The text of its result or error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// The contents of a store after each event in a sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Told")]
pub struct Consumed {
    /// The stored calls after each event, and once more after the end of the stream.
    pub stored: Vec<Vec<Stored>>,
    /// The first event that the store rejected with an error, and the error; the turn ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
}

/// An event that a store rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    /// Its 0-based position in the sequence.
    pub at: usize,
    /// The error message of the store.
    pub message: String,
}
