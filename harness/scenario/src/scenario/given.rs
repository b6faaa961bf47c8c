//! A history that a system finds in its store when the scenario begins: what an earlier process has left there.
//!
//! It is neutral like the scenario itself: calls have symbolic names, and lowering mints the ids that a provider of the
//! dialect would have given them, and the signatures of what the model thought. A call with an `id` of its own comes from
//! another provider, at which the thread began.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Picture};

/// What a system finds when the scenario begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// The file of a stored history, below the folder of the scenario: its name ends in `.json`.
    pub history: String,
    /// What the file says, once it has been read.
    #[serde(skip)]
    pub content: Option<GivenHistory>,
}

impl Given {
    /// The messages; none before the file has been read.
    pub fn messages(&self) -> &[GivenMessage] {
        self.content.as_ref().map_or(&[], |content| &content.messages)
    }

    /// The calls that the store has lost.
    pub fn lost(&self) -> &[Call] {
        self.content.as_ref().map_or(&[], |content| &content.lost)
    }
}

/// The file of a stored history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenHistory {
    /// Version of this format; 1 is the only one.
    pub schema: u32,
    /// How such a history comes about, in a sentence or two.
    pub comment: String,
    /// The public thread that shows it, as `owner/repo#number` or an address; left out for a history of one's own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Calls that the store has lost: results speak of them, and no message has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Call>,
    /// The messages, in order. They may break any rule of a provider: that is what they are for.
    pub messages: Vec<GivenMessage>,
}

/// One message of a stored history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum GivenMessage {
    /// What the user said.
    User(String),
    /// A picture that the user showed.
    Picture(Picture),
    /// Instructions of the program, in between.
    System(String),
    /// What the model said in one reply: `think`, `text` and `call`.
    Assistant(Vec<GivenBlock>),
    /// A reply that failed: the error that the product stored in its place.
    Failed(String),
    /// What came of calls, as one message of the store.
    Results(Vec<GivenResult>),
    /// A compaction: this summary stands for all that came before it.
    Compacted(String),
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
}

/// A piece of a stored reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum GivenBlock {
    /// What the model thought.
    Think(GivenThought),
    /// What the model said. A blank text is stored as it is.
    Text(String),
    /// A call. With `raw` its arguments are that text, JSON or not; with `id` it has an id that is none of this provider's.
    Call(Call),
}

impl GivenBlock {
    /// The call that it is.
    pub fn call(&self) -> Option<&Call> {
        match self {
            GivenBlock::Call(call) => Some(call),
            GivenBlock::Think(_) | GivenBlock::Text(_) => None,
        }
    }
}

/// What the model thought, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenThought {
    /// The words; empty where the store has lost them.
    pub text: String,
    /// What is left of the provider's signature.
    #[serde(default = "full")]
    pub signature: Signature,
}

crate::named! {
    /// What a store has of the signature of a thought.
    pub enum Signature {
        /// All of it, as the provider gave it.
        Full = "full",
        /// A field without content.
        Empty = "empty",
        /// No field.
        Absent = "absent",
        /// Something that the provider never gave.
        Altered = "altered",
    }
}

fn full() -> Signature {
    Signature::Full
}

/// What came of a call. Exactly one of `returns` and `fails` is given; with `shows` it may be neither.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenResult {
    /// The call, by its name.
    pub of: String,
    /// The tool returned this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<String>,
    /// The tool failed, and said this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails: Option<String>,
    /// A picture stands in the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shows: Option<Picture>,
}
