//! How a dialect's rules are asked: message by message, so that a long history is judged while it is read.

use serde_json::Value;

use super::memory::{Keeps, Told, WrittenOut};
use super::violation::Breaches;
use super::{Memory, Profile, Rule};
use crate::dialect::Dialect;
use crate::json::Json;

/// The rules of one dialect.
pub(super) trait Book: Sync {
    /// Every rule, in the order in which the provider checks.
    fn rules(&self) -> &'static [&'static Rule];

    /// The field of the body that holds the conversation, for example `messages`.
    fn list(&self) -> &'static str;

    /// A body of which nothing is known but that its conversation is a list. It stands for the fields around a bare
    /// list of messages, so it breaks no rule.
    fn bare(&self) -> &'static [u8];

    /// A judge of one request.
    fn judge<'a>(&self, profile: &'static Profile, memory: &'a Memory) -> Box<dyn Judge<'a> + 'a>;

    /// Refuses a body that is not JSON.
    fn refuse_unreadable(&self, body: &[u8], error: &serde_json::Error, out: &mut Breaches);

    /// What the provider keeps of its answer to a request.
    fn keeps(&self, _request: Json) -> Keeps {
        Keeps::Nothing
    }

    /// Adds a reply, as the body that says it in one piece, to what the provider remembers.
    fn remember(&self, _memory: &mut Memory, _request: Json, _reply: &Value, _told: Told) {}

    /// A request as if it had been sent with all that it only names, see [`Memory::written_out`].
    fn write_out(&self, _memory: &Memory, _request: Json) -> Option<WrittenOut> {
        None
    }
}

/// Judges one request. It keeps no message, only what later messages are judged by.
pub(super) trait Judge<'a> {
    /// Takes the model that the path names, before the first message, in dialects whose body does not name it.
    fn model(&mut self, _model: &'a str) {}

    /// Takes the next message; `n` is its index. What is wrong with it alone, or with it after the messages before,
    /// is noted at once.
    fn message(&mut self, n: usize, message: Json<'_, 'a>, out: &mut Breaches);

    /// Takes all the other fields of the body, after the last message: `messages` may stand first in it.
    /// `body` may be anything, and lacks the items of the list. `n_messages` is nothing if the body has no list.
    fn finish(&mut self, body: Json<'_, 'a>, n_messages: Option<usize>, out: &mut Breaches);
}

/// The rules of a dialect.
pub(super) fn book(dialect: Dialect) -> &'static dyn Book {
    match dialect {
        Dialect::AnthropicMessages => &super::anthropic::Anthropic,
        Dialect::OpenaiChat => &super::openai::OpenaiChat,
        Dialect::OpenaiResponses => &super::responses::OpenaiResponses,
        Dialect::Gemini => &super::gemini::Gemini,
        Dialect::BedrockConverse => &super::bedrock::BedrockConverse,
        Dialect::Mistral => &super::mistral::Mistral,
    }
}
