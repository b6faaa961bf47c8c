//! Conversations whatever the dialect, and the request bodies that they make: what readers of stored sessions yield, and
//! what the generator of histories makes.
//!
//! A message is a list of blocks, and each block is what every dialect knows: text, thinking, a call, a result, an image.
//! What only one dialect knows is carried as it stands there, and left out of the others. [`render()`] writes the body that
//! a careful client would send, and says which pointer each block has in it; it mends nothing.

pub mod generate;

mod render;

use serde_json::Value;

use crate::Dialect;

pub use render::{Rendered, render};

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said, in order.
    pub blocks: Vec<Block>,
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Instructions of the program.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool. Dialects without this role have its results in a message of the user.
    Tool,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Words.
    Text(String),
    /// What the model thought.
    Thinking(Thinking),
    /// The model calls a tool.
    Call(Call),
    /// What came of a call.
    Result(CallResult),
    /// A picture.
    Image(Image),
    /// Anything else, as it stands in a request of one dialect.
    Native {
        /// The dialect that knows it.
        dialect: Dialect,
        /// The block, part or item.
        value: Value,
    },
}

/// What the model thought before it spoke.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Thinking {
    /// The words; empty where the provider kept them to itself.
    pub text: String,
    /// What the provider signed or encrypted, if anything was stored.
    pub signature: Option<String>,
    /// The item's own id, in OpenAI Responses.
    pub id: Option<String>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Call {
    /// The id that the result repeats.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as JSON text, as the model wrote them. They may be cut off.
    pub arguments: String,
    /// The signature of the thought before the call, in Gemini.
    pub signature: Option<String>,
    /// The item's own id, in OpenAI Responses.
    pub item: Option<String>,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallResult {
    /// The id of the call.
    pub call: String,
    /// The tool; Gemini pairs by it.
    pub name: String,
    /// What the tool said: texts, images, and what is native.
    pub output: Vec<Block>,
    /// Whether it says that it is an error.
    pub is_error: bool,
    /// The item's own id, in OpenAI Responses.
    pub item: Option<String>,
}

/// A picture inside the history.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Image {
    /// Such as `image/png`.
    pub media_type: String,
    /// Base64.
    pub data: String,
}

impl Message {
    /// A message of one text.
    pub fn text(role: Role, text: impl Into<String>) -> Message {
        Message { role, blocks: vec![Block::Text(text.into())] }
    }
}

impl CallResult {
    /// The texts of the output, one after another.
    pub fn text(&self) -> String {
        let texts = self.output.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}
