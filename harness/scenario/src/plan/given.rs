//! A given history, lowered: with the ids and signatures that a provider of the dialect would have minted.
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
    /// A picture that the user showed. It comes only to adapters with `givenPictures`.
    Picture(GivenPicture),
    /// Instructions of the program, in between. They come only to adapters with `givenMarks`.
    System(String),
    /// What the model said in one reply.
    Assistant(Vec<GivenBlock>),
    /// A reply that failed: the error, to be stored as the SDK stores one. It comes only to adapters with `givenMarks`.
    Failed(String),
    /// What came of calls.
    Results(Vec<GivenResult>),
    /// A compaction, with the summary that stands for all that came before it. It comes only to adapters with `givenMarks`.
    Compacted(String),
}

/// A piece of what the model said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum GivenBlock {
    /// What the model thought. It comes only to adapters with `givenThinking`.
    Thinking {
        /// The words.
        text: String,
        /// What the provider signed it with, as much as the store has of it; nothing if the field is missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// Text.
    Text(String),
    /// A call.
    Call {
        /// The id that the provider gave it.
        id: String,
        /// The tool.
        tool: String,
        /// The arguments; a string where they are no JSON.
        args: Value,
        /// The text of the arguments, where they are no JSON object. It comes only to adapters with `givenRawArguments`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<String>,
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
    /// The picture that it returned. It comes only to adapters with `givenPictures`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<GivenPicture>,
    /// The tool of a call that the store has lost. It comes only to adapters with `givenOrphans`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orphan_of: Option<String>,
}

/// A picture of a given history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GivenPicture {
    /// `image/png` or `image/jpeg`.
    pub media_type: String,
    /// The file in base64.
    pub data: String,
}

impl GivenMessage {
    /// The blocks of a reply; none of any other message.
    pub fn blocks(&self) -> &[GivenBlock] {
        match self {
            GivenMessage::Assistant(blocks) => blocks,
            _ => &[],
        }
    }

    /// The results in it.
    pub fn results(&self) -> &[GivenResult] {
        match self {
            GivenMessage::Results(results) => results,
            _ => &[],
        }
    }

    /// Puts the calls under the names that a system offers the tools to the model by.
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
