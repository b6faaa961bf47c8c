//! The dialects, each with its requirements for requests and streams.
//!
//! To add a dialect, create a folder here and a line in [`Dialect::definition`]. The code of this crate asks a
//! [`Definition`] instead of comparing dialects, except where it recognizes a dialect by a host, a path or a
//! body. "Adding a dialect" in `ARCHITECTURE.md` lists those places, and those in the other crates.

mod anthropic;
mod bedrock;
mod gemini;
mod mistral;
mod names;
mod openai;
mod responses;
#[cfg(feature = "toy-dialect")]
mod toy;

pub(crate) use crate::checker::{Checker, Switches};
pub(crate) use anthropic::{Bound, Thoughts};
pub(crate) use gemini::Issued;
pub(crate) use mistral::is_mistral_model;
pub(crate) use names::is_plain_name;
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
    /// The ends of the paths where clients post requests for a reply, for example `/messages`.
    pub(crate) path_ends: &'static [&'static str],
    /// The only host at which these paths belong to this dialect. `None` if they belong to it at every host
    /// that no other dialect claims.
    pub(crate) only_host: Option<&'static str>,
    /// The field of the body that names the model, in the body on the wire or as an SDK writes it.
    pub(crate) model_field: &'static str,
    /// Finds the model in the path of the URL. `None` if only the body names it.
    pub(crate) model_of_path: Option<fn(&str) -> Option<&str>>,
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
    pub(crate) const fn definition(self) -> &'static Definition {
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
