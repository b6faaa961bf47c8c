//! A thread: what a client keeps of a conversation, and writes into its requests.

use serde::{Deserialize, Serialize};

/// One message of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Message {
    /// The user's words.
    User(String),
    /// What the model said in one reply.
    Assistant(Vec<Block>),
    /// The results of the calls before.
    Results(Vec<CallResult>),
}

/// A piece of an assistant message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Block {
    /// What the model thought.
    Thought(Thought),
    /// Text.
    Text(String),
    /// A call.
    Call(Call),
}

impl Block {
    /// The call, if it is one.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Block::Call(call) => Some(call),
            Block::Thought(_) | Block::Text(_) => None,
        }
    }
}

/// What the model thought before it spoke.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thought {
    /// What it shows of it.
    pub text: String,
    /// What the provider signed it with. It wants both back, or neither.
    pub signature: String,
}

/// A call that the model made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The provider's id.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// A JSON object as text.
    pub args: String,
    /// What the provider signed it with, which it wants back; only some dialects sign calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// The result of a call, as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    /// The id of the call.
    pub call_id: String,
    /// Its text.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
}

/// Calls of a thread that have no result.
pub fn unanswered(thread: &[Message]) -> Vec<&Call> {
    let answered: Vec<&str> = thread
        .iter()
        .flat_map(|message| match message {
            Message::Results(results) => results.as_slice(),
            _ => &[],
        })
        .map(|result| result.call_id.as_str())
        .collect();
    let blocks = thread.iter().flat_map(|message| match message {
        Message::Assistant(blocks) => blocks.as_slice(),
        _ => &[],
    });
    blocks
        .filter_map(|block| match block {
            Block::Call(call) if !answered.contains(&call.id.as_str()) => Some(call),
            _ => None,
        })
        .collect()
}
