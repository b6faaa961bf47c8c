//! Anthropic Messages over time.

use super::super::{Envelope, anthropic};
use super::{AnthropicSwitches, ModelVersion, Profile, Switches, SystemMessages};
use crate::dialect::Dialect;

pub(super) static PROFILES: [Profile; 3] = [
    Profile {
        name: "anthropic-messages@2026-09",
        provider: "Anthropic",
        dialect: Dialect::AnthropicMessages,
        added: &[],
        tolerated: &[
            &anthropic::TOOL_USE_ID_REUSED,
            // Contested: a recorded answer of May 2026 is a refusal (anomalyco/opencode#16751), and probes of five models
            // in September were accepted (gotgenes/pi-anthropic-auth#66).
            &anthropic::TEXT_AFTER_TOOL_USE,
            // The documentation says that such a request fails, but nobody showed one.
            &anthropic::SERVER_TOOL_NOT_OFFERED,
        ],
        // Recorded answers show that a conversation may begin with the assistant.
        given_up: &[&anthropic::FIRST_MESSAGE_NOT_USER],
        wording: &[],
        envelope: Envelope::Anthropic,
        switches: Switches::AnthropicMessages(AnthropicSwitches {
            system_messages: SystemMessages::MidConversation,
            first_without_prefill: FIRST_WITHOUT_PREFILL,
            max_tool_name_chars: MAX_TOOL_NAME_CHARS,
        }),
    },
    Profile {
        name: "anthropic-messages@2026-05",
        provider: "Anthropic",
        dialect: Dialect::AnthropicMessages,
        added: &[],
        tolerated: &[
            &anthropic::FIRST_MESSAGE_NOT_USER,
            &anthropic::TOOL_USE_ID_REUSED,
            &anthropic::SERVER_TOOL_NOT_OFFERED,
        ],
        // Claude 5.1 came later.
        given_up: &[&anthropic::THINKING_BOUND_ELSEWHERE],
        wording: &[],
        envelope: Envelope::Anthropic,
        switches: Switches::AnthropicMessages(AnthropicSwitches {
            system_messages: SystemMessages::Refused,
            first_without_prefill: FIRST_WITHOUT_PREFILL,
            max_tool_name_chars: MAX_TOOL_NAME_CHARS,
        }),
    },
    Profile {
        name: "anthropic-messages@2025-03",
        provider: "Anthropic",
        dialect: Dialect::AnthropicMessages,
        added: &[],
        tolerated: &[
            &anthropic::FIRST_MESSAGE_NOT_USER,
            &anthropic::TOOL_USE_ID_REUSED,
            &anthropic::SERVER_TOOL_NOT_OFFERED,
        ],
        // Each was first seen much later.
        given_up: &[
            &anthropic::TEXT_BLANK,
            &anthropic::SIGNATURE_INVALID,
            &anthropic::THINKING_MODIFIED,
            &anthropic::THINKING_BOUND_ELSEWHERE,
            &anthropic::THINKING_LAST,
            &anthropic::SERVER_TOOL_RESULT_MISSING,
            &anthropic::SERVER_TOOL_RESULT_ORPHAN,
            &anthropic::CACHE_CONTROL_ORDER,
        ],
        wording: &[
            (&anthropic::TOOL_RESULT_MISSING, &[NOT_AT_THE_BEGINNING]),
            (&anthropic::TOOL_RESULT_NOT_FIRST, &[NOT_AT_THE_BEGINNING]),
            (&anthropic::USER_MESSAGE_EMPTY, anthropic::ASSISTANT_MESSAGE_EMPTY.sentences),
        ],
        envelope: Envelope::Anthropic,
        switches: Switches::AnthropicMessages(AnthropicSwitches {
            system_messages: SystemMessages::Refused,
            first_without_prefill: FIRST_WITHOUT_PREFILL,
            max_tool_name_chars: OLD_MAX_TOOL_NAME_CHARS,
        }),
    },
];

/// Until the spring of 2025 the message after the calls was named (<https://github.com/nulib/dc-api-v2/pull/296>).
const NOT_AT_THE_BEGINNING: &str = "messages.{answering}: Did not find {count} `tool_result` block(s) at the beginning of this message. Messages \
     following `tool_use` blocks must begin with a matching number of `tool_result` blocks.";

/// Opus and Sonnet 4.6 were the first to refuse a prefill; every 4.5 still takes one.
const FIRST_WITHOUT_PREFILL: ModelVersion = ModelVersion { major: 4, minor: 6 };

/// Older reports say 64; `messages.43.content.1.tool_use.name: String should have at most 200 characters` is the
/// newer sentence for a call in the history (anthropics/claude-code#2673), and the wider bound rejects less.
const MAX_TOOL_NAME_CHARS: usize = 200;

/// "messages.5.content.1.tool_use.name: String should have at most 64 characters" was told until 2025.
const OLD_MAX_TOOL_NAME_CHARS: usize = 64;
