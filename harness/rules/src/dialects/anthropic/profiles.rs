//! Anthropic Messages over time.

use super::{cache_control, content, pairing, server_tools, tags, thinking};
use crate::{Dialect, Envelope, ModelVersion, Profile};

/// What differs between the dates of Anthropic Messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnthropicSwitches {
    /// Whether a message may have the role `system`.
    pub(crate) system_messages: SystemMessages,
    /// The first Claude version that refuses a conversation ending with an assistant message.
    pub(crate) first_without_prefill: ModelVersion,
    pub(crate) tool_names: ToolNames,
}

/// What the name of a call in the history may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolNames {
    pub(crate) max_chars: usize,
    /// Whether it has nothing but letters, digits, underscores and hyphens.
    pub(crate) are_plain: bool,
}

/// Whether Anthropic Messages takes messages with the role `system`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SystemMessages {
    /// The role is unknown: the system prompt has its own top-level field.
    Refused,
    /// System messages may stand in the middle of a conversation (since Opus 4.8, at the end of May 2026).
    MidConversation,
}

const BASE: Profile = Profile::base(Dialect::AnthropicMessages, "Anthropic", Envelope::Anthropic, &SWITCHES);

pub(crate) static PROFILES: [Profile; 3] = [
    Profile {
        name: "anthropic-messages@2026-09",
        tolerated: &[
            &pairing::TOOL_USE_ID_REUSED,
            // Contested: a recorded answer of May 2026 is a refusal (anomalyco/opencode#16751), and probes of five models
            // in September were accepted (gotgenes/pi-anthropic-auth#66).
            &pairing::TEXT_AFTER_TOOL_USE,
            // The documentation says that such a request fails, but nobody showed one.
            &server_tools::SERVER_TOOL_NOT_OFFERED,
        ],
        // Recorded answers show that a conversation may begin with the assistant.
        given_up: &[&content::FIRST_MESSAGE_NOT_USER],
        switches: &AnthropicSwitches { system_messages: SystemMessages::MidConversation, ..SWITCHES },
        ..BASE
    },
    Profile {
        name: "anthropic-messages@2026-05",
        tolerated: &[
            &content::FIRST_MESSAGE_NOT_USER,
            &pairing::TOOL_USE_ID_REUSED,
            &server_tools::SERVER_TOOL_NOT_OFFERED,
        ],
        // Claude 5.1 came later.
        given_up: &[&thinking::THINKING_BOUND_ELSEWHERE],
        ..BASE
    },
    Profile {
        name: "anthropic-messages@2025-03",
        tolerated: &[
            &content::FIRST_MESSAGE_NOT_USER,
            &pairing::TOOL_USE_ID_REUSED,
            &server_tools::SERVER_TOOL_NOT_OFFERED,
        ],
        // Each was first seen much later.
        given_up: &[
            &content::TEXT_BLANK,
            &tags::TOOL_RESULT_ERROR_NOT_TEXT,
            &thinking::SIGNATURE_INVALID,
            &thinking::THINKING_MODIFIED,
            &thinking::THINKING_BOUND_ELSEWHERE,
            &thinking::THINKING_LAST,
            &server_tools::SERVER_TOOL_RESULT_MISSING,
            &server_tools::SERVER_TOOL_RESULT_ORPHAN,
            &cache_control::CACHE_CONTROL_ORDER,
        ],
        wording: &[
            (&pairing::TOOL_RESULT_MISSING, &[NOT_AT_THE_BEGINNING]),
            (&pairing::TOOL_RESULT_NOT_FIRST, &[NOT_AT_THE_BEGINNING]),
            (&content::USER_MESSAGE_EMPTY, content::ASSISTANT_MESSAGE_EMPTY.sentences),
        ],
        switches: &AnthropicSwitches { tool_names: OLD_TOOL_NAMES, ..SWITCHES },
        ..BASE
    },
];

/// Until the spring of 2025 the message after the calls was named (<https://github.com/nulib/dc-api-v2/pull/296>).
const NOT_AT_THE_BEGINNING: &str = "messages.{answering}: Did not find {count} `tool_result` block(s) at the beginning of this message. Messages \
     following `tool_use` blocks must begin with a matching number of `tool_result` blocks.";

const SWITCHES: AnthropicSwitches = AnthropicSwitches {
    system_messages: SystemMessages::Refused,
    // Opus and Sonnet 4.6 were the first to refuse a prefill; every 4.5 still takes one.
    first_without_prefill: ModelVersion { major: 4, minor: 6 },
    // "messages.43.content.1.tool_use.name: String should have at most 200 characters" (anthropics/claude-code#2673), and
    // the published OpenAPI description says the same: from 1 to 200 characters, without a pattern. A tool that is
    // offered has a pattern still.
    tool_names: ToolNames { max_chars: 200, are_plain: false },
};

/// "messages.5.content.1.tool_use.name: String should have at most 64 characters" was reported until 2025, and the OpenAPI
/// description of 2024 has the pattern (<https://github.com/shibeshduw/anthropic-generated>).
const OLD_TOOL_NAMES: ToolNames = ToolNames { max_chars: 64, are_plain: true };
