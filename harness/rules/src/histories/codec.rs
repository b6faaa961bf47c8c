//! How a dialect writes and reads a conversation, and how dialects differ in this.

use serde_json::{Map, Value};

use super::read::Reader;
use super::render::Writer;
use super::{CallResult, Message, Role};
use crate::Dialect;
use crate::json::Json;

/// How a dialect represents a conversation in histories, stores and filters: code there asks the codec, and does not compare
/// dialects. The provider and the reference agent use the wire of the dialect in the crate `brickbat-scenario` instead, which
/// writes a request as bytes, and reads it back.
#[derive(Debug)]
pub struct Codec {
    /// Writes the messages into the list, and the fields of the body around the list.
    pub(crate) write: fn(&mut Writer, &mut Map<String, Value>, &[Message]),
    /// Reads an entry of the list, and returns its role.
    pub(crate) read: fn(&mut Reader<'_>, Json<'_, '_>) -> Role,
    /// A result as it appears in a message, or in the list if [`Placement::Apart`].
    pub result: fn(&CallResult) -> Value,
    /// The position of results.
    pub placement: Placement,
    /// A user text as an entry of the list, as short as the dialect allows.
    pub prompt: fn(&str) -> Value,
    /// The format of the call ids that the provider issues.
    pub call_id: IdForm,
    /// Returns whether the provider accepts a call id that it did not issue.
    pub takes_id: fn(&str) -> bool,
    /// Models on which the provider is strict.
    pub models: &'static [&'static str],
    /// The strict model to use for a conversation from another dialect.
    pub model: &'static str,
    /// The name of the provider in the packages of SDKs.
    pub vendor: &'static str,
    /// The blocks that the provider signs.
    pub signs: Signs,
    /// Body fields with the instructions. Empty if instructions are messages in the list.
    pub instructions_at: &'static [&'static str],
    /// True if user and model messages must alternate in the list.
    pub alternates: bool,
    /// True if a message without a role is the user's.
    pub may_lack_role: bool,
    /// True if a result can contain images.
    pub has_pictures_in_results: bool,
    /// Body fields that refer to the parts of the conversation that the provider stores.
    pub kept_at: &'static [&'static str],
}

impl Dialect {
    /// How the dialect writes and reads a conversation.
    pub fn codec(self) -> &'static Codec {
        self.definition().codec
    }
}

/// The position of call results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Each result is an entry of the list, after the calls of its reply.
    Apart,
    /// Results are blocks of the next user message.
    InMessage {
        /// The message field that contains the blocks.
        blocks: &'static str,
        /// True if user text may be in the same message.
        with_words: bool,
    },
}

impl Placement {
    /// The message field that contains the blocks.
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
    /// Thoughts, which are items with their own ids, as calls are.
    Items,
    /// The first call in a reply.
    Calls,
}

/// The format of an id: letters after a prefix.
#[derive(Debug, Clone, Copy)]
pub struct IdForm {
    /// The prefix of every id.
    pub prefix: &'static str,
    /// The letters to choose from.
    pub alphabet: &'static [u8],
    /// The number of letters after the prefix.
    pub n_letters: usize,
}

impl IdForm {
    /// Returns the id in this format for a number.
    pub fn numbered(&self, number: usize) -> String {
        format!("{}{number:0width$}", self.prefix, width = self.n_letters)
    }
}

/// The alphabet of most ids.
pub const ALPHANUMERICS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// [`Codec::takes_id`] for most dialects. The shortest known limit is the OpenAI Chat Completions one.
pub(crate) fn is_short_id(id: &str) -> bool {
    (1..=40).contains(&id.len()) && crate::dialects::is_plain_name(id)
}

/// [`Codec::takes_id`] for Mistral. Its ids have nine letters and digits.
pub(crate) fn is_mistral_id(id: &str) -> bool {
    id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// [`Codec::kept_at`] for the dialects that do not define such fields: the fields of other providers, which
/// SDKs pass on.
pub(crate) const KEPT_ELSEWHERE: &[&str] =
    &["container", "context_management", "mcp_servers", "previous_response_id", "thread"];
