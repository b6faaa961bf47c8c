//! What else than the user can end a turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named! {
    /// Why an exception leaves the loop of the system.
    pub enum InterruptCause {
        /// The user's credits are used up.
        Credits = "credits",
        /// The limit of steps is reached.
        Steps = "steps",
        /// The limit of tokens is reached.
        Tokens = "tokens",
        /// The endpoint that serves the turn has run for as long as its host lets it.
        EndpointTimeout = "endpoint-timeout",
        /// Nothing has happened for too long.
        IdleTimeout = "idle-timeout",
        /// A guardrail has tripped.
        Guardrail = "guardrail",
        /// A hook stops the turn.
        Hook = "hook",
        /// A newer turn takes the place of this one.
        Superseded = "superseded",
        /// The process is asked to end.
        Shutdown = "shutdown",
    }
}

/// What the system allows a turn, and the model a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Replies with calls after which the system ends the turn by itself, 1 to 16. Some turn has more of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// Bytes of tool results that the model's window holds, 100 to 1,000,000. The provider refuses a request with more as too
    /// long, whatever else is in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
}

impl Limits {
    pub(super) fn is_none(&self) -> bool {
        self.steps.is_none() && self.window.is_none()
    }
}
