//! `_brickbat/action`: what is done to a session for which ACP has no message.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use brickbat_scenario::plan::Change;
use brickbat_scenario::scenario::InterruptCause;

/// Something that happens to a session or its running turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Action")]
pub enum SessionAction {
    /// The user says this to the turn, which goes on.
    Steer(String),
    /// A hook adds this context for the model.
    Inject(String),
    /// An exception leaves the SDK's loop for this cause.
    Interrupt(InterruptCause),
    /// The history is changed, something is asked that does not join it, or thinking or the provider is switched; the
    /// only action that may come between two turns.
    Change(Change),
}

pub const METHOD: &str = "_brickbat/action";

/// Whether an answer says that there was nothing to change, so that nothing is proven.
pub(super) fn is_idle(answer: &Value) -> bool {
    answer.get("changed") == Some(&Value::Bool(false))
}
