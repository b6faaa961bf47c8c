//! The dialects, each with its requirements for requests and streams.
//!
//! To add a dialect, create a folder here and a line in [`Dialect::definition`]. All other code finds the
//! dialect there.

mod anthropic;
mod bedrock;
mod gemini;
mod mistral;
mod openai;
mod responses;
#[cfg(feature = "toy-dialect")]
mod toy;

pub(crate) use anthropic::{Bound, Thoughts};
pub(crate) use gemini::Issued;
pub(crate) use mistral::is_mistral_model;
pub(crate) use responses::Replies;

use serde_json::Value;

use crate::histories::Codec;
use crate::json::Json;
use crate::streams::{Framing, Machine, StreamRule};
use crate::{Delivery, Dialect, Memory, Profile, Retention, Rule, Violations};

/// Everything specific to a dialect.
pub(crate) struct Definition {
    /// The name used in scenario ids, options and reports.
    pub(crate) name: &'static str,
    /// Every rule, in the order in which the provider checks.
    pub(crate) rules: &'static [&'static Rule],
    /// The profiles. The default comes first, and the newest comes first among profiles of the same name.
    pub(crate) profiles: &'static [Profile],
    /// The field of the body that contains the conversation, for example `messages`.
    pub(crate) list: &'static str,
    /// How the dialect writes and reads a conversation.
    pub(crate) codec: &'static Codec,
    /// A body that contains only the type of the conversation. It replaces the fields around a bare list
    /// of messages, so it breaks no rule.
    pub(crate) bare: &'static [u8],
    /// Rejects a body that is not JSON.
    pub(crate) refuse_unreadable: fn(&[u8], &serde_json::Error, &mut Violations),
    /// Returns the part of its reply that the provider keeps.
    pub(crate) keeps: fn(Json) -> Retention,
    /// Adds a reply, given as an unstreamed body, to the provider's memory.
    pub(crate) remember: fn(&mut Memory, Json, &Value, Delivery),
    /// Every stream rule.
    pub(crate) stream_rules: &'static [&'static StreamRule],
    /// Stream rules that compatible providers were seen to break. For an unknown provider, breaking one is
    /// only a warning.
    pub(crate) tolerated_of_relatives: &'static [&'static StreamRule],
    /// How the bytes of a stream are split into events.
    pub(crate) framing: Framing,
    /// Creates the state machine that judges a stream.
    pub(crate) machine: fn() -> Box<dyn Machine>,
}

impl Dialect {
    #[warn(clippy::wildcard_enum_match_arm)]
    pub(crate) fn definition(self) -> &'static Definition {
        match self {
            Dialect::AnthropicMessages => &anthropic::DEFINITION,
            Dialect::OpenaiChat => &openai::DEFINITION,
            Dialect::OpenaiResponses => &responses::DEFINITION,
            Dialect::Gemini => &gemini::DEFINITION,
            Dialect::BedrockConverse => &bedrock::DEFINITION,
            Dialect::Mistral => &mistral::DEFINITION,
            #[cfg(feature = "toy-dialect")]
            Dialect::Toy => &toy::DEFINITION,
        }
    }
}

/// Differences between the profiles of a dialect beyond the choice of rules.
pub(crate) trait Switches: std::fmt::Debug + Sync {
    /// Creates the checker of one request for a profile with these switches.
    fn checker<'a>(&'static self, profile: &'static Profile, memory: &'a Memory)
    -> Box<dyn Checker<'a> + 'a>;
}

/// Judges one request message by message, while a long history is read.
///
/// A checker keeps no messages, only the facts that later messages depend on.
pub(crate) trait Checker<'a> {
    /// Sets the model in the path before the first message, for dialects whose body does not name it.
    fn model(&mut self, _model: &'a str) {}

    /// Checks the next message; `n` is its index. Reports violations in the message, and between it and
    /// earlier messages, at once.
    fn message(&mut self, n: usize, message: Json<'_, 'a>, out: &mut Violations);

    /// Checks all other fields of the body after the last message, because `messages` may be the first
    /// field.
    ///
    /// `body` can be any JSON value; the items of the list are left out. `n_messages` is `None` if the
    /// body has no list.
    fn finish(&mut self, body: Json<'_, 'a>, n_messages: Option<usize>, out: &mut Violations);
}

/// Returns whether a text is not empty and has only ASCII letters, digits, `_` and `-`.
pub(crate) fn is_plain_name(text: &str) -> bool {
    // Check every byte without stopping early, so that the compiler can use vector instructions. Ids are
    // short.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() | (byte == b'_') | (byte == b'-');
    !text.is_empty() && text.bytes().fold(true, |all, byte| all & is_plain(byte))
}
