//! The events that a session of any system reports to the harness.

use super::error::DriverError;
use brickbat_scenario::trace::{QuestionId, ShownState, TurnOutcome};

/// One event of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEvent {
    /// The system shows the state of a call.
    Shown {
        /// The call's id, as the system shows it.
        id: String,
        state: ShownState,
    },
    /// The system asks whether a tool may run, and waits for an answer.
    Asked {
        /// Identifies the question in its session.
        question: QuestionId,
        /// The call's id, as the system shows it.
        id: String,
        /// The call's arguments as JSON, if the question shows them.
        args: Option<String>,
    },
    /// The system does not accept another prompt while its turn runs.
    PromptRefused,
    /// The adapter repaired something in the turn that now ends, in the application's place.
    Repaired(String),
    Ended(TurnOutcome),
    /// The adapter has failed; no more events follow.
    Lost(DriverError),
}
