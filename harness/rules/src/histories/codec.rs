//! How a dialect writes a conversation, and the facts about it that differ between dialects.

use serde_json::{Map, Value};

use super::render::Writer;
use super::{CallResult, Message};
use crate::Dialect;

/// The conversation of a dialect. Nothing else in the project writes one for all dialects, or compares dialects to find out
/// how one writes.
#[derive(Debug)]
pub struct Codec {
    /// Writes the messages into the list, and what the body has around the list.
    pub(crate) write: fn(&mut Writer, &mut Map<String, Value>, &[Message]),
    /// A result as it is in a message, or in the list if [`Placement::Apart`].
    pub result: fn(&CallResult) -> Value,
    /// Where results are.
    pub placement: Placement,
    /// A text of the user as an entry of the list, as short as the dialect allows.
    pub prompt: fn(&str) -> Value,
    /// The form of the ids that the provider gives to calls.
    pub call_id: IdForm,
    /// Returns whether the provider accepts a call id that it did not issue.
    pub takes_id: fn(&str) -> bool,
    /// Models on which the provider is strict.
    pub(crate) models: &'static [&'static str],
    /// The one of them that a conversation from another dialect is for.
    pub model: &'static str,
    /// The name of the provider in the packages of SDKs.
    pub vendor: &'static str,
    /// The blocks that the provider signs.
    pub signs: Signs,
    /// True if instructions are messages of the list, rather than a field next to it.
    pub lists_instructions: bool,
    /// True if the user and the model must take turns in the list.
    pub alternates: bool,
    /// True if a message without a role is the user's.
    pub may_lack_role: bool,
    /// True if a result can contain images.
    pub has_pictures_in_results: bool,
    /// Fields of a body that name what the provider keeps of the conversation.
    pub kept_at: &'static [&'static str],
}

impl Dialect {
    /// How the dialect writes a conversation.
    pub fn codec(self) -> &'static Codec {
        self.definition().codec
    }
}

/// Where the results of calls are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Each is an entry of the list, after the calls of its reply.
    Apart,
    /// They are blocks of the user's next message.
    InMessage {
        /// The field of a message that has its blocks.
        blocks: &'static str,
        /// True if the user's words may be in the same message.
        with_words: bool,
    },
}

impl Placement {
    /// The field of a message that has its blocks.
    pub fn blocks(self) -> &'static str {
        match self {
            Placement::Apart => "content",
            Placement::InMessage { blocks, .. } => blocks,
        }
    }
}

/// The blocks that a provider signs or encrypts, and expects back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signs {
    /// Nothing.
    Nothing,
    /// Thoughts.
    Thoughts,
    /// Thoughts, which are items with ids of their own, as calls are.
    Items,
    /// The first call of a reply.
    Calls,
}

/// The form of an id: some letters after a prefix.
#[derive(Debug, Clone, Copy)]
pub struct IdForm {
    /// The prefix of every id.
    pub prefix: &'static str,
    /// The letters to choose from.
    pub alphabet: &'static [u8],
    /// How many letters follow the prefix.
    pub n_letters: usize,
}

impl IdForm {
    /// The id of this form with that number.
    pub fn numbered(&self, number: usize) -> String {
        format!("{}{number:0width$}", self.prefix, width = self.n_letters)
    }
}

pub(crate) const ALPHANUMERICS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
pub(crate) const LOWER_CASE: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// [`Codec::takes_id`] of most dialects. The shortest known limit is that of OpenAI Chat Completions.
pub fn is_short_id(id: &str) -> bool {
    (1..=40).contains(&id.len()) && crate::dialects::is_plain_name(id)
}

/// [`Codec::takes_id`] of Mistral.
pub fn is_mistral_id(id: &str) -> bool {
    id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// [`Codec::kept_at`] of the dialects without such fields: those of other providers, which SDKs pass on.
pub(crate) const KEPT_ELSEWHERE: &[&str] =
    &["container", "context_management", "mcp_servers", "previous_response_id", "thread"];
