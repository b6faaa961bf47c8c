//! The provider APIs that Brickbat speaks.
//!
//! A dialect is a wire format: what a request looks like, what a reply looks like, and where it is posted.
//! How strict a provider is belongs to a profile, see [`crate::rules`].

use serde::{Deserialize, Serialize};

/// A provider API.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Anthropic Messages, `POST /v1/messages`.
    AnthropicMessages,
    /// OpenAI Chat Completions, `POST /v1/chat/completions`.
    OpenaiChat,
}

impl Dialect {
    /// Every dialect, in the order in which reports list them.
    pub const ALL: [Dialect; 2] = [Dialect::AnthropicMessages, Dialect::OpenaiChat];

    /// The name that scenario ids, options and reports use, for example `anthropic-messages`.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::AnthropicMessages => "anthropic-messages",
            Dialect::OpenaiChat => "openai-chat",
        }
    }

    /// The dialect of that name.
    pub fn from_name(name: &str) -> Option<Dialect> {
        Dialect::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// The path, below the base URL, to which a client posts its requests.
    pub fn path(self) -> &'static str {
        match self {
            Dialect::AnthropicMessages => "/v1/messages",
            Dialect::OpenaiChat => "/v1/chat/completions",
        }
    }
}

impl std::fmt::Display for Dialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
