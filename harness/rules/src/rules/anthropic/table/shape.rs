//! The second phase: messages are not empty, system messages have their places, and blocks stand under the right role.

use super::super::super::{Confidence, Rule};

/// "messages: text content blocks must be non-empty"
/// (<https://github.com/anthropics/claude-code/issues/59812>).
pub(in crate::rules) static TEXT_EMPTY: Rule = Rule {
    id: "anthropic-messages/text-empty",
    alias: "ANT-TXT-1",
    summary: "A text block is not empty.",
    why: "A text block holds the empty string; the API itself can send one in a reply that starts with a \
         call. Drop empty text blocks before the history is sent back.",
    sentences: &["messages: text content blocks must be non-empty"],
    status: 400,
    phase: 3,
    is_optional: false,
    since: "2025-06",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/anthropics/claude-code/issues/59812",
        "https://github.com/anthropics/claude-code/issues/49171",
        "https://github.com/BiFangKNT/mtga/pull/68",
    ],
};

/// "messages: text content blocks must contain non-whitespace text"
/// (<https://github.com/anthropics/claude-code/issues/23440>).
pub(in crate::rules) static TEXT_BLANK: Rule = Rule {
    id: "anthropic-messages/text-blank",
    alias: "ANT-TXT-2",
    summary: "A text block is more than white space.",
    why: "A text block holds only white space. Drop it, or put a word in its place.",
    sentences: &["messages: text content blocks must contain non-whitespace text"],
    status: 400,
    phase: 3,
    is_optional: false,
    since: "2026-02",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/anthropics/claude-code/issues/23440",
        "https://github.com/langchain-ai/langchain/pull/35504",
    ],
};

/// "messages.N: user messages must have non-empty content"
/// (<https://github.com/NousResearch/hermes-agent/pull/3149>).
pub(in crate::rules) static USER_MESSAGE_EMPTY: Rule = Rule {
    id: "anthropic-messages/user-message-empty",
    alias: "ANT-MSG-2",
    summary: "A user turn has content.",
    why: "A user message is empty and no neighbour of the same role has content. Drop the message, or say \
         in a word what was there.",
    sentences: &["messages.{n}: user messages must have non-empty content"],
    status: 400,
    phase: 4,
    is_optional: false,
    since: "2026-08",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/NousResearch/hermes-agent/pull/3149",
        "https://github.com/langchain-ai/langchain/issues/35081",
    ],
};

/// "messages.0: all messages must have non-empty content except for the optional final assistant message"
/// (<https://github.com/anthropics/claude-code/issues/3196>).
pub(in crate::rules) static ASSISTANT_MESSAGE_EMPTY: Rule = Rule {
    id: "anthropic-messages/assistant-message-empty",
    alias: "ANT-MSG-1",
    summary: "An assistant turn has content, unless it is the last.",
    why: "A reply without content was stored, as happens when the user stops before the first token. Drop \
         the empty message.",
    sentences: &[
        "messages.{n}: all messages must have non-empty content except for the optional final assistant \
         message",
    ],
    status: 400,
    phase: 4,
    is_optional: false,
    since: "2025-07",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/anthropics/claude-code/issues/3196",
        "https://github.com/ding113/claude-code-hub/issues/432",
    ],
};

/// "messages: first message must use the "user" role"
/// (<https://github.com/anthropics/anthropic-sdk-typescript/issues/622>).
pub(in crate::rules) static FIRST_MESSAGE_NOT_USER: Rule = Rule {
    id: "anthropic-messages/first-message-not-user",
    alias: "ANT-MSG-3b",
    summary: "The user speaks first.",
    why: "The history begins with an assistant message, often because trimming cut the user message before \
         it. The API no longer refuses this, but gateways and older endpoints do; cut before a user \
         message.",
    sentences: &["messages: first message must use the \"user\" role"],
    status: 400,
    phase: 4,
    is_optional: false,
    since: "2024-05",
    confidence: Confidence::Secondary,
    sources: &[
        "https://github.com/anthropics/anthropic-sdk-typescript/issues/622",
        "https://github.com/langchain4j/langchain4j/issues/940",
    ],
};

/// "messages.0: use the top-level 'system' parameter for the initial system prompt; the directive-only form
/// (content: [] with output_config) is accepted at any position"
/// (<https://github.com/LeenHawk/gproxy/issues/209>).
pub(in crate::rules) static SYSTEM_MESSAGE_FIRST: Rule = Rule {
    id: "anthropic-messages/system-message-first",
    alias: "ANT-SYS-1",
    summary: "No system message stands first.",
    why: "The system prompt was sent as the first message. Move it to the top-level `system` field.",
    sentences: &["messages.{n}: use the top-level 'system' parameter for the initial system prompt; the \
         directive-only form (content: [] with output_config) is accepted at any position"],
    status: 400,
    phase: 5,
    is_optional: false,
    since: "2026-07",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/LeenHawk/gproxy/issues/209",
        "https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages",
    ],
};

/// "role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result"
/// (<https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages>).
pub(in crate::rules) static SYSTEM_MESSAGE_NOT_AFTER_USER: Rule = Rule {
    id: "anthropic-messages/system-message-not-after-user",
    alias: "ANT-SYS-3",
    summary: "A system message follows a user message.",
    why: "A system message stands after an assistant message or between a call and its result. Put it \
         after the user message that it accompanies.",
    sentences: &[
        "role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool \
         result",
    ],
    status: 400,
    phase: 5,
    is_optional: false,
    since: "2026-08",
    confidence: Confidence::Observed,
    sources: &[
        "https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages",
        "https://github.com/langchain4j/langchain4j/issues/5603",
    ],
};

/// "messages.{i}: role 'system' must precede an 'assistant' message or end the array; …"
/// (<https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages>).
pub(in crate::rules) static SYSTEM_MESSAGE_NOT_BEFORE_ASSISTANT: Rule = Rule {
    id: "anthropic-messages/system-message-not-before-assistant",
    alias: "ANT-SYS-2",
    summary: "A system message stands before an assistant message, or last.",
    why: "A user message follows a system message. Join the two user messages and put the system message \
         after them.",
    sentences: &["messages.{n}: role 'system' must precede an 'assistant' message or end the array; the \
         directive-only form (content: [] with output_config) is accepted at any position"],
    status: 400,
    phase: 5,
    is_optional: false,
    since: "2026-08",
    confidence: Confidence::Measured,
    sources: &[
        "https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages",
        "https://github.com/pydantic/pydantic-ai/issues/5706",
    ],
};

/// "messages.{n}: role 'system' supports text, tool_addition and tool_removal blocks only"
/// (<https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages>).
pub(in crate::rules) static SYSTEM_MESSAGE_CONTENT: Rule = Rule {
    id: "anthropic-messages/system-message-content",
    alias: "ANT-SYS-4",
    summary: "A system message holds text or tool changes, and is not empty.",
    why: "A system message is empty, blank, or holds a block of a conversation. Say it in text, or drop it.",
    sentences: &[
        "messages.{n}: system content must contain at least one block",
        "messages.{n}: system text blocks must contain non-whitespace text",
        "messages.{n}: role 'system' supports text, tool_addition and tool_removal blocks only",
    ],
    status: 400,
    phase: 6,
    is_optional: false,
    since: "2026-08",
    confidence: Confidence::Observed,
    sources: &["https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages"],
};

/// "messages.{n}: `tool_use` blocks can only be in `assistant` messages"
/// (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls>).
pub(in crate::rules) static TOOL_USE_OUTSIDE_ASSISTANT: Rule = Rule {
    id: "anthropic-messages/tool-use-outside-assistant",
    alias: "ANT-TU-4",
    summary: "A `tool_use` block stands in an assistant message.",
    why: "A call was stored under the wrong role. Move it into the assistant message that made it.",
    sentences: &["messages.{n}: `tool_use` blocks can only be in `assistant` messages"],
    status: 400,
    phase: 7,
    is_optional: false,
    since: "2025-11",
    confidence: Confidence::Observed,
    sources: &["https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls"],
};

/// "messages.1: `tool_result` blocks can only be in `user` messages"
/// (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls>).
pub(in crate::rules) static TOOL_RESULT_OUTSIDE_USER: Rule = Rule {
    id: "anthropic-messages/tool-result-outside-user",
    alias: "ANT-TR-3",
    summary: "A `tool_result` block stands in a user message.",
    why: "A result was stored under the wrong role, often in the same message as its call. Move it into a \
         user message directly after the call.",
    sentences: &["messages.{n}: `tool_result` blocks can only be in `user` messages"],
    status: 400,
    phase: 7,
    is_optional: false,
    since: "2025-11",
    confidence: Confidence::Measured,
    sources: &["https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls"],
};
