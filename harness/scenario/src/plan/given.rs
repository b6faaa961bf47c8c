//! A given history, lowered: with the ids that a provider of the dialect would have minted.
//!
//! This is also the form in which adapters get it, to write it into their store in the SDK's own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One message of a given history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum GivenMessage {
    /// What the user said.
    User(String),
    /// What the model said in one reply.
    Assistant(Vec<GivenBlock>),
    /// What came of calls.
    Results(Vec<GivenResult>),
}

/// A piece of what the model said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum GivenBlock {
    /// Text.
    Text(String),
    /// A call.
    Call {
        /// The id that the provider gave it.
        id: String,
        /// The tool.
        tool: String,
        /// The arguments.
        args: Value,
    },
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GivenResult {
    /// The call's id.
    pub id: String,
    /// What the tool said.
    pub text: String,
    /// Whether it failed.
    pub is_error: bool,
}

impl GivenMessage {
    /// Puts the calls under the names that a system offers the tools to the model by.
    pub(super) fn rename_tools(&mut self, name: impl Fn(&str) -> String) {
        let GivenMessage::Assistant(blocks) = self else { return };
        for block in blocks {
            if let GivenBlock::Call { tool, .. } = block {
                *tool = name(tool);
            }
        }
    }
}
