//! A history that a system finds in its store when the scenario begins: what an earlier process has left there.
//!
//! It is neutral like the scenario itself: calls have symbolic names, and lowering mints the ids that a provider of the
//! dialect would have given them. A call with an `id` of its own comes from another provider, at which the thread began.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Block;

/// What a system finds when the scenario begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// The file of a stored history, below the folder of the scenario: its name ends in `.json`.
    pub history: String,
    /// What the file says; filled when it has been read.
    #[serde(skip)]
    pub messages: Vec<GivenMessage>,
}

/// The file of a stored history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GivenHistory {
    /// Version of this format; 1 is the only one.
    pub schema: u32,
    /// How such a history comes about, in a sentence or two.
    pub comment: String,
    /// The public thread that shows it, as `owner/repo#number` or an address; empty for a history of one's own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The messages, in order. They may break any rule of a provider: that is what they are for.
    pub messages: Vec<GivenMessage>,
}

/// One message of a stored history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum GivenMessage {
    /// What the user said.
    User(String),
    /// What the model said in one reply: `text` and `call`.
    Assistant(Vec<Block>),
    /// What came of calls, as one message of the store.
    Results(Vec<GivenResult>),
}

/// What came of a call. Exactly one of `returns` and `fails` is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
}
