//! The switches of the Anthropic Messages profiles: the differences between profiles that rules ask for.

use super::returned::ReturnedThinking;
use crate::ModelVersion;

/// Differences between the Anthropic Messages profiles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnthropicSwitches {
    /// The positions at which messages with the role `system` are accepted.
    pub(crate) system_messages: SystemMessages,
    /// The first Claude version that rejects a conversation ending with an assistant message.
    pub(crate) first_without_prefill: ModelVersion,
    pub(crate) tool_names: ToolNames,
    pub(crate) api_version: ApiVersion,
    pub(crate) returned_thinking: ReturnedThinking,
}

/// The value of the header `anthropic-version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApiVersion {
    /// 2023-06-01.
    First,
    /// 2026-10-21, which the SDKs have sent since their next major versions.
    October2026,
}

/// Limits on a call's name in the history.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolNames {
    pub(crate) max_chars: usize,
    /// True if only letters, digits, underscores and hyphens are allowed.
    pub(crate) are_plain: bool,
}

/// The positions at which Anthropic Messages accepts messages with the role `system`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SystemMessages {
    /// Nowhere: the role is unknown, and the system prompt has its own top-level field.
    Refused,
    /// In the middle of a conversation (since Opus 4.8, end of May 2026).
    MidConversation,
}
