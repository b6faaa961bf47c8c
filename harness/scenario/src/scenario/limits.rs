//! What else than the user can end a turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why an exception leaves the loop of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InterruptCause {
    /// The user's credits are used up.
    Credits,
    /// The limit of steps is reached.
    Steps,
    /// The limit of tokens is reached.
    Tokens,
    /// The endpoint that serves the turn has run for as long as its host lets it.
    EndpointTimeout,
    /// Nothing has happened for too long.
    IdleTimeout,
    /// A guardrail has tripped.
    Guardrail,
    /// A newer turn takes the place of this one.
    Superseded,
    /// The process is told to end.
    Shutdown,
}

impl InterruptCause {
    /// The word that scenario files and reports use.
    pub fn name(self) -> &'static str {
        match self {
            InterruptCause::Credits => "credits",
            InterruptCause::Steps => "steps",
            InterruptCause::Tokens => "tokens",
            InterruptCause::EndpointTimeout => "endpoint-timeout",
            InterruptCause::IdleTimeout => "idle-timeout",
            InterruptCause::Guardrail => "guardrail",
            InterruptCause::Superseded => "superseded",
            InterruptCause::Shutdown => "shutdown",
        }
    }
}

/// What the system allows a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Replies with calls after which the system ends the turn by itself, 1 to 16. Some turn has more of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
}

impl Limits {
    pub(super) fn is_none(&self) -> bool {
        self.steps.is_none()
    }
}
