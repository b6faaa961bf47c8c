//! The provider APIs that Brickbat supports.
//!
//! A dialect is a wire format: the form of a request, the form of a reply, and the URL path. The crate
//! `brickbat-scenario` defines them. A profile defines how strict a provider is; see [`crate`].

use serde::{Deserialize, Serialize};

/// A provider API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Anthropic Messages, `POST /v1/messages`.
    AnthropicMessages,
    /// OpenAI Chat Completions, `POST /v1/chat/completions`.
    OpenaiChat,
    /// OpenAI Responses, `POST /v1/responses`.
    OpenaiResponses,
    /// Google Gemini, `POST /v1beta/models/{model}:generateContent` and `:streamGenerateContent`.
    Gemini,
    /// Bedrock Converse, `POST /model/{modelId}/converse` and `/converse-stream`.
    BedrockConverse,
    /// Mistral's La Plateforme, `POST /v1/chat/completions`.
    Mistral,
    /// Not a provider's dialect; see "Adding a dialect" in `ARCHITECTURE.md`.
    #[cfg(feature = "toy-dialect")]
    Toy,
}

impl Dialect {
    /// Every dialect, in the order used in reports.
    pub const ALL: [Dialect; if cfg!(feature = "toy-dialect") { 7 } else { 6 }] = [
        Dialect::AnthropicMessages,
        Dialect::OpenaiChat,
        Dialect::OpenaiResponses,
        Dialect::Gemini,
        Dialect::BedrockConverse,
        Dialect::Mistral,
        #[cfg(feature = "toy-dialect")]
        Dialect::Toy,
    ];

    /// Returns the name used in scenario ids, options and reports, for example `anthropic-messages`.
    pub const fn name(self) -> &'static str {
        self.definition().name
    }

    /// Returns the dialect with that name.
    pub fn from_name(name: &str) -> Option<Dialect> {
        Dialect::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// Returns the dialect with which the id of a rule begins. The compiler evaluates it for each rule, and
    /// rejects an id without a dialect.
    pub(crate) const fn of_rule(id: &str) -> Dialect {
        let mut n = 0;
        while n < Dialect::ALL.len() {
            if begins_with(id.as_bytes(), Dialect::ALL[n].name().as_bytes()) {
                return Dialect::ALL[n];
            }
            n += 1;
        }
        panic!("the id of a rule begins with its dialect")
    }
}

/// Returns whether an id has this name before its first slash.
const fn begins_with(id: &[u8], name: &[u8]) -> bool {
    match (id, name) {
        ([b'/', ..], []) => true,
        ([first, id @ ..], [expected, name @ ..]) => *first == *expected && begins_with(id, name),
        _ => false,
    }
}

impl std::fmt::Display for Dialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
