//! Malformed calls and malformed replies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An id that is not the call's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallId {
    /// No id. Only in dialects in which a call may lack one.
    Missing,
    /// This text, which may be empty or foreign to the provider.
    Text(String),
    /// The id of an earlier call, given by its name.
    Same(String),
}

crate::named! {
    /// A stop reason.
    pub enum Stop {
        /// The reply has reached its maximum length.
        Length = "length",
        /// The provider pauses a long turn.
        Pause = "pause",
        /// The provider stops the model from continuing.
        Refusal = "refusal",
        /// The model has calls to run.
        Calls = "calls",
        /// The model is done.
        End = "end",
    }
}

/// How the deltas of parallel calls are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Indices {
    /// All calls have the number 0.
    Same,
    /// No call has a number.
    Missing,
}
