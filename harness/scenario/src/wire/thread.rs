//! A thread: the conversation that a client stores and writes into its requests.

use serde::{Deserialize, Serialize};

use crate::plan::GivenPicture;

/// One message of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Message {
    User(String),
    Assistant(Vec<Block>),
    Results(Vec<CallResult>),
}

impl Message {
    /// The calls in this message.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        let blocks = match self {
            Message::Assistant(blocks) => blocks.as_slice(),
            Message::User(_) | Message::Results(_) => &[],
        };
        blocks.iter().filter_map(Block::call)
    }

    /// True if the message makes calls.
    pub fn has_calls(&self) -> bool {
        self.calls().next().is_some()
    }

    /// Changes the id of a call, and of its result.
    pub fn rename_call(&mut self, id: &str, new: &str) {
        let ids: Vec<&mut String> = match self {
            Message::User(_) => Vec::new(),
            Message::Assistant(blocks) => blocks.iter_mut().filter_map(Block::call_id_mut).collect(),
            Message::Results(results) => results.iter_mut().map(|result| &mut result.call_id).collect(),
        };
        ids.into_iter().filter(|own| *own == id).for_each(|own| new.clone_into(own));
    }

    /// The results, if the message has results.
    pub fn results(&self) -> Option<&[CallResult]> {
        match self {
            Message::Results(results) => Some(results),
            Message::User(_) | Message::Assistant(_) => None,
        }
    }

    /// Mutable version of [`Message::results`].
    pub fn results_mut(&mut self) -> Option<&mut Vec<CallResult>> {
        match self {
            Message::Results(results) => Some(results),
            Message::User(_) | Message::Assistant(_) => None,
        }
    }
}

/// A block of an assistant message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Block {
    Thought(Thought),
    Text(String),
    Call(Call),
    /// A call or a result of a tool that the provider ran itself.
    Server(ServerBlock),
}

impl Block {
    fn call_id_mut(&mut self) -> Option<&mut String> {
        match self {
            Block::Call(call) => Some(&mut call.id),
            Block::Thought(_) | Block::Text(_) | Block::Server(_) => None,
        }
    }

    /// The call, if this block is one.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Block::Call(call) => Some(call),
            Block::Thought(_) | Block::Text(_) | Block::Server(_) => None,
        }
    }
}

/// A block of a tool that the provider runs itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerBlock {
    /// The call.
    Call {
        /// The id that the result refers to.
        id: String,
        /// The tool.
        tool: String,
        /// The arguments, a JSON object as text.
        args: String,
    },
    /// The result.
    Result {
        /// The id of its call.
        call_id: String,
        /// The complete block as the provider sent it, as JSON. A client only sends it back.
        body: String,
    },
}

/// The model's thinking before it spoke.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thought {
    /// The visible text of the thinking.
    pub text: String,
    /// The provider's signature. Both must be sent back, or neither; a store may have lost it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// A call that the model made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Call {
    pub id: String,
    pub tool: String,
    /// The arguments, a JSON object as text.
    pub args: String,
    /// The provider's signature, which must be sent back; only some dialects sign calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

impl Call {
    /// Creates a call without a signature.
    pub fn new(id: impl Into<String>, tool: impl Into<String>, args: impl Into<String>) -> Call {
        Call { id: id.into(), tool: tool.into(), args: args.into(), signature: None }
    }
}

/// The result of a call, as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct CallResult {
    pub call_id: String,
    pub text: String,
    pub is_error: bool,
    /// An image that the tool returned, for providers that accept images from clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<GivenPicture>,
}

impl CallResult {
    /// A result that contains only text.
    pub fn text(call_id: String, text: String, is_error: bool) -> CallResult {
        CallResult { call_id, text, is_error, picture: None }
    }
}

/// The calls in a thread that have no result.
pub fn unanswered(thread: &[Message]) -> Vec<&Call> {
    let results = thread.iter().filter_map(Message::results).flatten();
    let answered: Vec<&str> = results.map(|result| result.call_id.as_str()).collect();
    let calls = thread.iter().flat_map(Message::calls);
    calls.filter(|call| !answered.contains(&call.id.as_str())).collect()
}
