//! `_brickbat/action`: what is done to a running turn for which ACP has no message.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scenario::Cause;

/// Something that happens to the running turn of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// The user says this to the turn, which goes on.
    Steer(String),
    /// A hook adds this context for the model.
    Inject(String),
    /// An exception leaves the SDK's loop for this cause.
    Interrupt(Cause),
}

/// The method.
pub const METHOD: &str = "_brickbat/action";
