//! The events in a conversation, without ids. The generator draws outlines and shrinks them.

use super::fault::Fault;
use super::words::{Tool, Words};
use crate::Dialect;

/// The dialects for which conversations are generated: all providers' dialects.
pub const DIALECTS: [Dialect; 6] = [
    Dialect::AnthropicMessages,
    Dialect::OpenaiChat,
    Dialect::OpenaiResponses,
    Dialect::Gemini,
    Dialect::BedrockConverse,
    Dialect::Mistral,
];

/// A dialect that is missing here is not tested by generated conversations. Only the toy is missing, because
/// it has no rules.
const _: () = assert!(DIALECTS.len() + cfg!(feature = "toy-dialect") as usize == Dialect::ALL.len());

/// The events in a conversation, and its fault.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    pub(super) dialect: Dialect,
    /// Its index in the dialect's list of models.
    pub(super) model: usize,
    /// The salt of the ids.
    pub(super) salt: u64,
    pub(super) instructions: Option<Words>,
    pub(super) turns: Vec<Turn>,
    pub(super) planted: Option<Planted>,
}

/// A fault, and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Planted {
    pub(super) fault: Fault,
    /// The index of its position among all possible ones. The count wraps around.
    pub(super) at: usize,
}

/// A user message, and everything that the model does in response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) prompt: Words,
    pub(super) shows: Shown,
    pub(super) steps: Vec<Step>,
    /// `None` if the turn was stopped.
    pub(super) reply: Option<Reply>,
}

/// True if the user message contains an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Nothing,
    Picture,
}

/// A model message with calls, and their results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) thinking: Option<Words>,
    pub(super) before: Option<Words>,
    /// At least one.
    pub(super) calls: Vec<Called>,
    /// The model's text after its calls.
    pub(super) after: Option<Words>,
    pub(super) filing: Filing,
}

/// How the results of a batch are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filing {
    /// In one message, in the order of the calls.
    Together,
    /// Each in its own message.
    Apart,
    /// Each in its own message, in the order in which the tools finished: the last call first.
    LastFirst,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Called {
    pub(super) tool: Tool,
    pub(super) output: Output,
}

/// The output of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    Text(Words),
    /// No block.
    Nothing,
    EmptyText,
    TwoTexts(Words),
    Picture(Words),
    Error(Words),
    /// An error without text.
    SilentError,
}

/// The last message in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) thinking: Option<Words>,
    pub(super) text: Words,
}

impl Outline {
    /// The dialect.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The fault in the conversation. `None` if it is valid.
    pub fn fault(&self) -> Option<Fault> {
        self.planted.map(|planted| planted.fault)
    }

    /// The conversation before it was broken.
    pub fn sound(&self) -> Outline {
        Outline { planted: None, ..self.clone() }
    }

    pub(super) fn model(&self) -> &'static str {
        self.dialect.codec().models.get(self.model).copied().unwrap_or_default()
    }
}
