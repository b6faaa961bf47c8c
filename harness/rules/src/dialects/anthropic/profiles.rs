//! Anthropic Messages profiles by date.

use super::returned::{ReturnedThinking, THINKING_NOT_RETURNED};
use super::switches::{AnthropicSwitches, ApiVersion, SystemMessages, ToolNames};
use super::{
    MAX_BODY, cache_control, content, ending, images, pairing, schema, server_tools, tags, thinking, version,
};
use crate::envelope::RelativeEnvelope;
use crate::{Dialect, Envelope, ModelVersion, Profile, Rule};

const BASE: Profile = Profile {
    max_body: Some(MAX_BODY),
    ..Profile::base(Dialect::AnthropicMessages, "Anthropic", Envelope::Anthropic, &SWITCHES)
};

/// The strictness of the API today, without a name.
const TODAY: Profile = Profile {
    tolerated: &[
        &pairing::TOOL_USE_ID_REUSED,
        // Contested: a recorded reply of May 2026 is a rejection (anomalyco/opencode#16751), but in September,
        // probes of five models were accepted (gotgenes/pi-anthropic-auth#66).
        &pairing::TEXT_AFTER_TOOL_USE,
        // The documentation says that such a request fails, but no recorded rejection is known.
        &server_tools::SERVER_TOOL_NOT_OFFERED,
    ],
    // Recorded replies show that a conversation may begin with the assistant.
    given_up: &[&content::FIRST_MESSAGE_NOT_USER],
    switches: &AnthropicSwitches { system_messages: SystemMessages::MidConversation, ..SWITCHES },
    ..BASE
};

pub(crate) static PROFILES: [Profile; 7] = [
    Profile { name: "anthropic-messages@2026-09", ..TODAY },
    // The same API with the header `anthropic-version: 2026-10-21`.
    Profile {
        name: "anthropic-messages-2026-10-21@2026-10",
        added: &[
            &version::DOCUMENT_OUTSIDE_USER,
            &version::CITATIONS_OUTSIDE_ASSISTANT,
            &version::SAMPLING_PARAMETER,
        ],
        switches: &AnthropicSwitches {
            system_messages: SystemMessages::MidConversation,
            api_version: ApiVersion::October2026,
            ..SWITCHES
        },
        ..TODAY
    },
    // Claude behind InvokeModel, with `anthropic_version: bedrock-2023-05-31` in the body. The model judges the
    // conversation, and the error is Bedrock's: https://github.com/browser-use/browser-use/issues/988.
    Profile {
        name: "bedrock-anthropic@2026-09",
        provider: "Amazon Bedrock",
        envelope: Envelope::Aws,
        max_body: None,
        ..TODAY
    },
    // DeepSeek's endpoint for this dialect. It ignores breakpoints of the cache and the version
    // (https://api-docs.deepseek.com/guides/anthropic_api), and has taken system messages in mid-conversation since
    // 2026-05-31 (https://github.com/deepseek-ai/awesome-deepseek-integration/issues/639).
    Profile {
        name: "deepseek-messages@2026-09",
        provider: "DeepSeek",
        envelope: Envelope::Relative(RelativeEnvelope::Deepseek),
        max_body: None,
        added: &[&THINKING_NOT_RETURNED],
        tolerated: RELATIVES_UNTRIED,
        given_up: RELATIVES_NOT,
        wording: &[
            (
                &schema::UNKNOWN_ROLE,
                // https://github.com/edison7009/EchoBird/issues/155
                &[
                    "Failed to deserialize the JSON body into the target type: messages[{n}].role: unknown variant \
                   `{role}`, expected `user` or `assistant`",
                ],
            ),
            // https://github.com/maximhq/bifrost/pull/5177
            (&thinking::THINKING_WITH_FORCED_TOOL, &["Thinking mode does not support this tool_choice"]),
        ],
        switches: &AnthropicSwitches {
            system_messages: SystemMessages::MidConversation,
            returned_thinking: ReturnedThinking::WithCalls,
            ..SWITCHES
        },
        ..BASE
    },
    // Moonshot's endpoints for this dialect, `/anthropic` and Kimi's `/coding`.
    Profile {
        name: "moonshot-messages@2026-06",
        provider: "Moonshot",
        max_body: None,
        added: &[&THINKING_NOT_RETURNED],
        tolerated: RELATIVES_UNTRIED,
        given_up: RELATIVES_NOT,
        wording: &[(
            &THINKING_NOT_RETURNED,
            // https://github.com/borawong/AiMaMi/issues/10
            &[
                "thinking is enabled but reasoning_content is missing in assistant tool call message at index {n}",
            ],
        )],
        switches: &AnthropicSwitches {
            system_messages: SystemMessages::MidConversation,
            returned_thinking: ReturnedThinking::WithCallsIfEnabled,
            ..SWITCHES
        },
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

/// Until spring 2025, the error named the message after the calls
/// (<https://github.com/nulib/dc-api-v2/pull/296>).
const NOT_AT_THE_BEGINNING: &str = "messages.{answering}: Did not find {count} `tool_result` block(s) at the beginning of this message. Messages \
     following `tool_use` blocks must begin with a matching number of `tool_result` blocks.";

/// Rules that no report about the endpoints of other providers confirms or denies.
const RELATIVES_UNTRIED: &[&Rule] = &[
    &content::FIRST_MESSAGE_NOT_USER,
    &content::TEXT_EMPTY,
    &content::TEXT_BLANK,
    &content::USER_MESSAGE_EMPTY,
    &content::ASSISTANT_MESSAGE_EMPTY,
    &content::TOOL_USE_OUTSIDE_ASSISTANT,
    &content::TOOL_RESULT_OUTSIDE_USER,
    &pairing::TOOL_USE_ID_DUPLICATE,
    &pairing::TOOL_USE_ID_REUSED,
    &pairing::TEXT_AFTER_TOOL_USE,
    &pairing::TOOL_RESULT_NOT_FIRST,
    &pairing::TOOL_RESULT_DUPLICATE,
    &pairing::TOOL_RESULT_ORPHAN,
    &schema::TOOL_ID_PATTERN,
    &schema::TOOL_NAME_PATTERN,
    &schema::TOOL_NAMES_NOT_UNIQUE,
    &schema::EXTRA_KEY,
    &tags::TOOL_RESULT_ERROR_NOT_TEXT,
    &thinking::SIGNATURE_INVALID,
    &thinking::THINKING_NOT_FIRST,
    &ending::FINAL_TEXT_TRAILING_SPACE,
];

/// Rules of Claude, of Anthropic's servers and of fields that the others ignore
/// (<https://api-docs.deepseek.com/guides/anthropic_api>).
const RELATIVES_NOT: &[&Rule] = &[
    // Their own thinking has no signature.
    &schema::THINKING_FIELD_REQUIRED,
    &schema::SERVER_TOOL_ID_PATTERN,
    &cache_control::CACHE_CONTROL_ON_EMPTY_TEXT,
    &cache_control::CACHE_CONTROL_TOO_MANY,
    &cache_control::CACHE_CONTROL_ORDER,
    &images::IMAGE_EMPTY,
    &images::IMAGE_MEDIA_TYPE,
    &images::IMAGE_NOT_BASE64,
    &images::IMAGE_UNREADABLE,
    &images::IMAGE_TYPE_DIFFERS,
    &images::IMAGE_TOO_WIDE,
    &images::IMAGE_TOO_WIDE_AMONG_MANY,
    &content::SYSTEM_MESSAGE_FIRST,
    &content::SYSTEM_MESSAGE_NOT_AFTER_USER,
    &content::SYSTEM_MESSAGE_NOT_BEFORE_ASSISTANT,
    &content::SYSTEM_MESSAGE_MODEL,
    &content::SYSTEM_MESSAGE_CONTENT,
    &server_tools::SERVER_TOOL_RESULT_ORPHAN,
    &server_tools::SERVER_TOOL_RESULT_MISSING,
    &server_tools::SERVER_TOOL_NOT_OFFERED,
    &thinking::THINKING_MODIFIED,
    &thinking::THINKING_BOUND_ELSEWHERE,
    &thinking::THINKING_LAST,
    &thinking::THINKING_MISSING,
    &thinking::THINKING_WHEN_DISABLED,
    &ending::PREFILL_NOT_SUPPORTED,
];

const SWITCHES: AnthropicSwitches = AnthropicSwitches {
    system_messages: SystemMessages::Refused,
    // Opus and Sonnet 4.6 were the first to reject a prefill. Every 4.5 model still accepts one.
    first_without_prefill: ModelVersion { major: 4, minor: 6 },
    // "messages.43.content.1.tool_use.name: String should have at most 200 characters"
    // (anthropics/claude-code#2673). The published OpenAPI description agrees: from 1 to 200 characters,
    // without a pattern. The names of offered tools still have a pattern.
    tool_names: ToolNames { max_chars: 200, are_plain: false },
    api_version: ApiVersion::First,
    returned_thinking: ReturnedThinking::Free,
};

/// "messages.5.content.1.tool_use.name: String should have at most 64 characters" was reported until 2025.
/// The 2024 OpenAPI description contains the pattern
/// (<https://github.com/shibeshduw/anthropic-generated>).
const OLD_TOOL_NAMES: ToolNames = ToolNames { max_chars: 64, are_plain: true };
