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
    pub fn name(self) -> &'static str {
        self.definition().name
    }

    /// Returns the dialect with that name.
    pub fn from_name(name: &str) -> Option<Dialect> {
        Dialect::ALL.into_iter().find(|dialect| dialect.name() == name)
    }
}

impl std::fmt::Display for Dialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
