//! The provider APIs that Brickbat speaks.
//!
//! A dialect is a wire format: what a request looks like, what a reply looks like, and where it is posted, all of which
//! the crate `brickbat-scenario` says.
//! How strict a provider is belongs to a profile, see [`crate`].

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
    /// No provider's, see "Adding a dialect" in `ARCHITECTURE.md`.
    #[cfg(feature = "toy-dialect")]
    Toy,
}

impl Dialect {
    /// Every dialect, in the order in which reports list them.
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

    /// The name that scenario ids, options and reports use, for example `anthropic-messages`.
    pub fn name(self) -> &'static str {
        self.definition().name
    }

    /// The dialect of that name.
    pub fn from_name(name: &str) -> Option<Dialect> {
        Dialect::ALL.into_iter().find(|dialect| dialect.name() == name)
    }
}

impl std::fmt::Display for Dialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
