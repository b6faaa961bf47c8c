//! Conversations in a form that is independent of dialects, and the request bodies for them.
//!
//! The readers of stored sessions and the history generator produce this form. A message is a list of
//! blocks. Their kinds exist in every dialect: text, thinking, a call, a result, an image. A block that
//! only one dialect has is kept unchanged and left out of requests in other dialects. [`render()`] writes
//! the body that a careful client would send, with the pointer of each block in it. It does not fix
//! anything.

#[cfg(feature = "histories")]
pub mod generate;

mod codec;
pub(crate) mod read;
pub(crate) mod render;

use serde_json::Value;

use crate::Dialect;

pub use codec::{ALPHANUMERICS, Codec, IdForm, Placement, Signs};
pub(crate) use codec::{KEPT_ELSEWHERE, is_mistral_id, is_short_id};
pub use read::{Entry, instructions, list_in, read, read_entry};
pub use render::{Rendered, render};

/// One message in a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The speaker.
    pub role: Role,
    /// The content, in order.
    pub blocks: Vec<Block>,
}

/// The speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Instructions from the program.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool. Dialects without this role have results in a user message.
    Tool,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Text.
    Text(String),
    /// The model's thinking.
    Thinking(Thinking),
    /// A call of a tool.
    Call(Call),
    /// The result of a call.
    Result(CallResult),
    /// An image.
    Image(Image),
    /// Anything else, in the form of one dialect.
    Native {
        /// The dialect.
        dialect: Dialect,
        /// The block, part or item.
        value: Value,
    },
}

/// Thinking before an answer or a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Thinking {
    /// The text. Empty if the provider keeps it secret.
    pub text: String,
    /// The provider's signature or encrypted content, if it was stored.
    pub signature: Option<String>,
    /// The item's own id, in OpenAI Responses.
    pub id: Option<String>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Call {
    /// The call's id, which the result repeats.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as JSON text, as the model wrote them. They may be incomplete.
    pub arguments: String,
    /// The signature of the thinking before the call, in Gemini.
    pub signature: Option<String>,
    /// The item's own id, in OpenAI Responses.
    pub item: Option<String>,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallResult {
    /// The id of the call.
    pub call: String,
    /// The name of the tool. Gemini needs it for pairing.
    pub name: String,
    /// The tool's output: texts, images, and native blocks.
    pub output: Vec<Block>,
    /// True if it is marked as an error.
    pub is_error: bool,
    /// The item's own id, in OpenAI Responses.
    pub item: Option<String>,
}

/// An image in the history.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Image {
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The data in base64.
    pub data: String,
}

impl Message {
    /// Creates a message with one text.
    pub fn text(role: Role, text: impl Into<String>) -> Message {
        Message { role, blocks: vec![Block::Text(text.into())] }
    }
}

impl Call {
    /// Creates a call without a signature and without an own id of its item.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Call {
        let (id, name, arguments) = (id.into(), name.into(), arguments.into());
        Call { id, name, arguments, signature: None, item: None }
    }

    /// Creates the result of this call that is an error with these words.
    pub fn failed(&self, words: impl Into<String>) -> CallResult {
        let output = vec![Block::Text(words.into())];
        CallResult { is_error: true, ..CallResult::new(&self.id, &self.name, output) }
    }
}

impl CallResult {
    /// Creates a result that is not marked as an error.
    pub fn new(call: impl Into<String>, name: impl Into<String>, output: Vec<Block>) -> CallResult {
        CallResult { call: call.into(), name: name.into(), output, is_error: false, item: None }
    }

    /// Returns the texts of the output, joined.
    pub fn text(&self) -> String {
        let texts = self.output.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}
