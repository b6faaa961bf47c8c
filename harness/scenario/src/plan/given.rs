//! A lowered given history, with the ids and signatures that a provider of the dialect would have minted.
//!
//! Adapters receive it in this form and write it into their store in the SDK's own format.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One message of a given history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum GivenMessage {
    /// A user message.
    User(String),
    /// An image from the user. Only adapters with `givenPictures` receive it.
    Picture(GivenPicture),
    /// Instructions from the program, in the middle of the conversation. Only adapters with `givenMarks`
    /// receive them.
    System(String),
    /// One reply of the model.
    Assistant(Vec<GivenBlock>),
    /// A failed reply: the error, to be stored as the SDK stores one. Only adapters with `givenMarks` receive
    /// it.
    Failed(String),
    /// The results of calls.
    Results(Vec<GivenResult>),
    /// A compaction, with the summary that replaces everything before it. Only adapters with `givenMarks`
    /// receive it.
    Compacted(String),
}

/// A block of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum GivenBlock {
    /// Thinking of the model. Only adapters with `givenThinking` receive it.
    Thinking {
        /// The text of the thinking.
        text: String,
        /// The part of the provider's signature that the store has; left out if the field is missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// Text of the model.
    Text(String),
    /// A call by the model.
    Call {
        /// The id from the provider.
        id: String,
        /// The tool.
        tool: String,
        /// The arguments; a string if they are not JSON.
        args: Value,
        /// The text of the arguments, if they are not a JSON object. Only adapters with `givenRawArguments`
        /// receive it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<String>,
    },
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GivenResult {
    /// The id of the call.
    pub id: String,
    /// The text that the tool returned.
    pub text: String,
    /// True if the call failed.
    pub is_error: bool,
    /// The image that the tool returned. Only adapters with `givenPictures` receive it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<GivenPicture>,
    /// The tool of a call that the store has lost. Only adapters with `givenOrphans` receive it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orphan_of: Option<String>,
}

/// An image in a given history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GivenPicture {
    /// `image/png` or `image/jpeg`.
    pub media_type: String,
    /// The file in base64.
    pub data: String,
}

impl GivenMessage {
    /// The blocks of a reply; empty for any other message.
    pub fn blocks(&self) -> &[GivenBlock] {
        match self {
            GivenMessage::Assistant(blocks) => blocks,
            _ => &[],
        }
    }

    /// The results in this message; empty for any other kind of message.
    pub fn results(&self) -> &[GivenResult] {
        match self {
            GivenMessage::Results(results) => results,
            _ => &[],
        }
    }

    /// Renames the calls to the tool names that the system shows the model.
    pub(super) fn rename_tools(&mut self, name: impl Fn(&str) -> String) {
        match self {
            GivenMessage::Assistant(blocks) => {
                for block in blocks {
                    if let GivenBlock::Call { tool, .. } = block {
                        *tool = name(tool);
                    }
                }
            }
            GivenMessage::Results(results) => {
                for tool in results.iter_mut().filter_map(|result| result.orphan_of.as_mut()) {
                    *tool = name(tool);
                }
            }
            _ => {}
        }
    }
}
