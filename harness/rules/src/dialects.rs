//! The dialects: what each asks of requests and of streams.
//!
//! A dialect is a folder here and its line in [`Dialect::definition`]; everything else finds it there.

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

use crate::json::Json;
use crate::streams::{Framing, Machine, StreamRule};
use crate::{Delivery, Dialect, Memory, Profile, Retention, Rule, Violations};

/// All that is particular to a dialect.
pub(crate) struct Definition {
    /// The name that scenario ids, options and reports use.
    pub(crate) name: &'static str,
    /// Every rule, in the order in which the provider checks.
    pub(crate) rules: &'static [&'static Rule],
    /// The default first, and of each name the newest first.
    pub(crate) profiles: &'static [Profile],
    /// The field of the body that holds the conversation, for example `messages`.
    pub(crate) list: &'static str,
    /// A body of which nothing is known but that its conversation is a list. It stands for the fields around a bare
    /// list of messages, so it breaks no rule.
    pub(crate) bare: &'static [u8],
    /// Refuses a body that is not JSON.
    pub(crate) refuse_unreadable: fn(&[u8], &serde_json::Error, &mut Violations),
    /// What the provider keeps of its answer to a request.
    pub(crate) keeps: fn(Json) -> Retention,
    /// Adds a reply, as the body that says it in one piece, to what the provider remembers.
    pub(crate) remember: fn(&mut Memory, Json, &Value, Delivery),
    /// Every rule of its streams.
    pub(crate) stream_rules: &'static [&'static StreamRule],
    /// The rules of streams that relatives of the provider were seen to break: of somebody of whom nothing is known, a
    /// violation is a warning.
    pub(crate) tolerated_of_relatives: &'static [&'static StreamRule],
    /// How the bytes of a stream become events.
    pub(crate) framing: Framing,
    /// The state machine that judges a stream.
    pub(crate) machine: fn() -> Box<dyn Machine>,
}

impl Dialect {
    /// All that is particular to the dialect.
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

/// What differs between the profiles of a dialect beyond the rules that bind.
pub(crate) trait Switches: std::fmt::Debug + Sync {
    /// What judges one request for a profile with these switches.
    fn checker<'a>(&'static self, profile: &'static Profile, memory: &'a Memory)
    -> Box<dyn Checker<'a> + 'a>;
}

/// Judges one request, message by message, so that a long history is judged while it is read. It keeps no message,
/// only what later messages are judged by.
pub(crate) trait Checker<'a> {
    /// Takes the model that the path names, before the first message, in dialects whose body does not name it.
    fn model(&mut self, _model: &'a str) {}

    /// Takes the next message; `n` is its index. What is wrong with it alone, or with it after the messages before,
    /// is noted at once.
    fn message(&mut self, n: usize, message: Json<'_, 'a>, out: &mut Violations);

    /// Takes all the other fields of the body, after the last message: `messages` may stand first in it.
    /// `body` may be anything, and lacks the items of the list. `n_messages` is nothing if the body has no list.
    fn finish(&mut self, body: Json<'_, 'a>, n_messages: Option<usize>, out: &mut Violations);
}

/// Whether a text is not empty and has only ASCII letters, digits, `_` and `-`.
pub(crate) fn is_plain_name(text: &str) -> bool {
    // Every byte is looked at, whatever was found: of this the compiler makes wide comparisons, and ids are short.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() | (byte == b'_') | (byte == b'-');
    !text.is_empty() && text.bytes().fold(true, |all, byte| all & is_plain(byte))
}
