//! The conversation of a sub-agent: its prompt and its model's replies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Block;

/// The conversation of a sub-agent. Its last text is the result of the call that started it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubAgent {
    /// The sub-agent's prompt, which is the only argument in its call.
    pub asked: String,
    /// The replies of its model: replies with calls, then a text as the last one. Its calls have names like
    /// all others, so that actions can happen when their tools start and settle.
    pub replies: Vec<Vec<Block>>,
    /// The provider answers with this HTTP error instead of the last reply, every time it is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<u16>,
}
