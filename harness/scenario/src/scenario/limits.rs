//! Ways in which a turn ends without the user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named! {
    /// The cause of an exception in the system's loop.
    pub enum InterruptCause {
        /// The user's credits are used up.
        Credits = "credits",
        /// The step limit is reached.
        Steps = "steps",
        /// The token limit is reached.
        Tokens = "tokens",
        /// The endpoint that serves the turn has run for as long as its host allows.
        EndpointTimeout = "endpoint-timeout",
        /// Nothing has happened for too long.
        IdleTimeout = "idle-timeout",
        /// A guardrail has tripped.
        Guardrail = "guardrail",
        /// A hook stops the turn.
        Hook = "hook",
        /// A newer turn replaces this one.
        Superseded = "superseded",
        /// The process is asked to end.
        Shutdown = "shutdown",
    }
}

/// The limits that the system sets for a turn, and the model for a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The number of replies with calls after which the system ends the turn on its own, 1 to 16. At least
    /// one turn must have more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// The number of tool result bytes that fit the model's window, 100 to 1,000,000. The provider rejects a
    /// request with more as too long, whatever else it contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
}

impl Limits {
    pub(super) fn is_none(&self) -> bool {
        self.steps.is_none() && self.window.is_none()
    }
}
