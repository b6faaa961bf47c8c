//! `_brickbat/action`: events in a session for which ACP has no message.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::protocol::ToolSpec;
use brickbat_scenario::plan::Change;
use brickbat_scenario::scenario::InterruptCause;

/// Something that happens to a session or its running turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Action")]
pub enum SessionAction {
    /// The user sends this message to the turn, which continues.
    Steer(String),
    /// A hook adds this context for the model.
    Inject(String),
    /// An exception leaves the SDK's loop for this cause.
    Interrupt(InterruptCause),
    /// The history is changed, a side question is asked, or thinking or the provider is switched.
    /// It may come between two turns.
    Change(Change),
    /// The list of tools changes to this one. It may also come between two turns; the next request offers it.
    Tools(Vec<ToolSpec>),
}

pub const METHOD: &str = "_brickbat/action";

/// True if an answer reports that there was nothing to change, so that the action proves nothing.
pub(super) fn is_idle(answer: &Value) -> bool {
    answer.get("changed") == Some(&Value::Bool(false))
}
