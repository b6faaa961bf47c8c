//! The history that a system finds in its store when the scenario begins, as an earlier process left it.
//!
//! Like the scenario itself, it is neutral: calls have symbolic names, and lowering mints the ids that a
//! provider of the dialect would have given them, and the signatures of the model's thinking. A call with its
//! own `id` comes from another provider, with which the thread began.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Picture};

/// The stored history that a system finds when the scenario begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// The file with the history, below the scenario's folder. Its name ends in `.json`.
    pub history: String,
    /// The content of the file, once it has been read.
    #[serde(skip)]
    pub content: Option<GivenHistory>,
}

impl Given {
    /// The messages; empty until the file has been read.
    pub fn messages(&self) -> &[GivenMessage] {
        self.content.as_ref().map_or(&[], |content| &content.messages)
    }

    /// The calls that the store has lost.
    pub fn lost(&self) -> &[Call] {
        self.content.as_ref().map_or(&[], |content| &content.lost)
    }
}

/// The content of a file with a stored history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenHistory {
    /// Version of this format; 1 is the only one.
    pub schema: u32,
    /// How such a history arises, in a sentence or two.
    pub comment: String,
    /// The public thread that shows it, as `owner/repo#number` or an address; left out for a history of your
    /// own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Calls that the store has lost: results refer to them, but no message contains them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Call>,
    /// The messages, in order. They may break any rule of a provider; that is their purpose.
    pub messages: Vec<GivenMessage>,
}

/// One message of a stored history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum GivenMessage {
    /// A user message.
    User(String),
    /// An image from the user.
    Picture(Picture),
    /// Instructions from the program, in the middle of the conversation.
    System(String),
    /// One reply of the model, with the blocks `think`, `text` and `call`.
    Assistant(Vec<GivenBlock>),
    /// A failed reply: the error that the product stored instead.
    Failed(String),
    /// Call results, as one message in the store.
    Results(Vec<GivenResult>),
    /// A compaction: this summary replaces everything before it.
    Compacted(String),
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
}

/// A block of a stored reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum GivenBlock {
    /// Thinking of the model.
    Think(GivenThought),
    /// Text of the model. Blank text is stored as it is.
    Text(String),
    /// A call. With `raw`, its arguments are that text, valid JSON or not; with `id`, it has an id from
    /// another provider.
    Call(Call),
}

impl GivenBlock {
    /// The call, if this block is one.
    pub fn call(&self) -> Option<&Call> {
        match self {
            GivenBlock::Call(call) => Some(call),
            GivenBlock::Think(_) | GivenBlock::Text(_) => None,
        }
    }
}

/// The model's thinking, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenThought {
    /// The text; empty if the store has lost it.
    pub text: String,
    /// The part of the provider's signature that the store kept.
    #[serde(default = "full")]
    pub signature: Signature,
}

crate::named! {
    /// How much of a thought's signature a store has.
    pub enum Signature {
        /// The complete signature, as the provider gave it.
        Full = "full",
        /// An empty field.
        Empty = "empty",
        /// No field.
        Absent = "absent",
        /// A value that the provider never gave.
        Altered = "altered",
    }
}

fn full() -> Signature {
    Signature::Full
}

/// The result of a call. Give exactly one of `returns` and `fails`; with `shows`, both may be left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenResult {
    /// The call, by its name.
    pub of: String,
    /// The tool returned this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<String>,
    /// The tool failed with this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails: Option<String>,
    /// The result contains this image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shows: Option<Picture>,
}
