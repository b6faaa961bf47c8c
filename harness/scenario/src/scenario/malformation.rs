//! What a model says wrongly about its calls and its replies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An id that is none of the call's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallId {
    /// There is no id. Only in dialects in which a call may lack it.
    Missing,
    /// This text, which may be empty or foreign to the provider.
    Text(String),
    /// The id of an earlier call, by its name.
    Same(String),
}

crate::named! {
    /// A stop reason.
    pub enum Stop {
        /// The reply has reached its greatest length.
        Length = "length",
        /// The provider pauses a long turn.
        Pause = "pause",
        /// The provider does not let the model go on.
        Refusal = "refusal",
        /// There are calls to be run.
        Calls = "calls",
        /// The model has said all.
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
