//! What a sub-agent is asked, and what its model says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Block;

/// The conversation of a sub-agent. What it says last is the result of the call that has started it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubAgent {
    /// What it is asked, the only argument of its call.
    pub asked: String,
    /// What its model answers: replies with calls, and as the last one a text. Its calls have names like all others, so
    /// that things can happen when their tools start and settle.
    pub replies: Vec<Vec<Block>>,
    /// The provider answers with this HTTP error in place of the last reply, as often as it is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<u16>,
}
