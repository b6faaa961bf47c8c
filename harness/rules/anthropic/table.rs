//! The rules of Anthropic Messages. Above each stands the provider's sentence, with the address of its first source.
//!
//! Most addresses lead to somebody who received that sentence. For some sentences no occurrence is public: there the
//! address is the page of the provider's documentation, or the SDK's file, that states the requirement.

use super::super::{Confidence, Rule};

/// Every rule, in the order in which it is checked.
pub(in crate::rules) static RULES: &[&Rule] = &[
    &BODY_NOT_JSON,
    &REQUEST_SHAPE,
    &UNKNOWN_ROLE,
    &TOOL_USE_FIELD_REQUIRED,
    &TOOL_ID_PATTERN,
    &TOOL_NAME_PATTERN,
    &TOOL_INPUT_NOT_OBJECT,
    &TOOL_RESULT_ID_REQUIRED,
    &THINKING_FIELD_REQUIRED,
    &TOOL_NAMES_NOT_UNIQUE,
    &MESSAGES_EMPTY,
    &TEXT_EMPTY,
    &TEXT_BLANK,
    &USER_MESSAGE_EMPTY,
    &ASSISTANT_MESSAGE_EMPTY,
    &FIRST_MESSAGE_NOT_USER,
    &SYSTEM_MESSAGE_FIRST,
    &SYSTEM_MESSAGE_NOT_AFTER_USER,
    &SYSTEM_MESSAGE_NOT_BEFORE_ASSISTANT,
    &SYSTEM_MESSAGE_CONTENT,
    &TOOL_USE_OUTSIDE_ASSISTANT,
    &TOOL_RESULT_OUTSIDE_USER,
    &TOOL_USE_ID_DUPLICATE,
    &TOOL_USE_ID_REUSED,
    &TOOL_RESULT_MISSING,
    &TEXT_AFTER_TOOL_USE,
    &TOOL_RESULT_NOT_FIRST,
    &TOOL_RESULT_DUPLICATE,
    &TOOL_RESULT_ORPHAN,
    &THINKING_MISSING,
    &THINKING_NOT_FIRST,
    &THINKING_WHEN_DISABLED,
    &FINAL_TEXT_TRAILING_SPACE,
    &PREFILL_NOT_SUPPORTED,
];

/// "The request body is not valid JSON: no low surrogate in string: line 1 column 604829 (char 604828)"
/// (<https://github.com/anthropics/claude-code/issues/8165>).
pub(in crate::rules) static BODY_NOT_JSON: Rule = Rule {
    id: "anthropic-messages/body-not-json",
    alias: "ANT-BODY-1",
    summary: "The body is JSON.",
    why: "The bytes are not JSON, often because half of a surrogate pair was cut off in a string. Cut \
         strings by code points, and write the body with a JSON library.",
    status: 400,
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/anthropics/claude-code/issues/8165",
        "https://github.com/anthropics/claude-code/issues/77525",
    ],
};

/// "messages.{n}.content: Input should be a valid list"
/// (pip:anthropic 2.12.0 types/message_create_params.py).
pub(in crate::rules) static REQUEST_SHAPE: Rule = Rule {
    id: "anthropic-messages/request-shape",
    alias: "ANT-BODY-2",
    summary: "The known fields of the body, of messages and of text blocks are there and have their types.",
    why: "A field that every message or block needs is missing or has another type. Send `messages` as a \
         list of objects with a `role` and a `content` that is a string or a list of blocks.",
    status: 400,
    confidence: Confidence::Inferred,
    sources: &["pip:anthropic 2.12.0 types/message_create_params.py"],
};

/// "messages: Unexpected role "tool". Allowed roles are "user" or "assistant""
/// (<https://github.com/Maol-1997/cursor-claude-connector/issues/3>).
pub(in crate::rules) static UNKNOWN_ROLE: Rule = Rule {
    id: "anthropic-messages/unknown-role",
    alias: "ANT-ROLE-2",
    summary: "A role is `user` or `assistant`; newer models also take `system` in mid-conversation.",
    why: "The message has a role that this API does not know, often `tool` from another provider. Tool \
         results are blocks in a user message here, and the system prompt is a field of its own.",
    status: 400,
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/Maol-1997/cursor-claude-connector/issues/3",
        "https://github.com/ianarawjo/ChainForge/issues/271",
    ],
};

/// "messages.{n}.content.{b}.tool_use.id: Field required"
/// (pip:anthropic 2.12.0 types/message_create_params.py).
pub(in crate::rules) static TOOL_USE_FIELD_REQUIRED: Rule = Rule {
    id: "anthropic-messages/tool-use-field-required",
    alias: "ANT-TU-5",
    summary: "A `tool_use` block has an id, a name and an input.",
    why: "The call was stored before it was complete, as happens when a stream is cut. Finish the call \
         from the stream, or drop it together with its result.",
    status: 400,
    confidence: Confidence::Inferred,
    sources: &["pip:anthropic 2.12.0 types/message_create_params.py"],
};

/// "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
/// (<https://github.com/CommandCodeAI/command-code/issues/323>).
pub(in crate::rules) static TOOL_ID_PATTERN: Rule = Rule {
    id: "anthropic-messages/tool-id-pattern",
    alias: "ANT-ID-1",
    summary: "Ids of calls and results match `^[a-zA-Z0-9_-]+$`.",
    why: "The id comes from another provider, such as `functions.bash:0`, or is empty. Rename the id in \
         the call and in its result alike.",
    status: 400,
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/CommandCodeAI/command-code/issues/323",
        "https://github.com/BlockRunAI/ClawRouter/issues/17",
        "https://github.com/anomalyco/opencode/issues/1279",
    ],
};

/// "messages.43.content.1.tool_use.name: String should have at most 200 characters"
/// (<https://github.com/anthropics/claude-code/issues/2673>).
pub(in crate::rules) static TOOL_NAME_PATTERN: Rule = Rule {
    id: "anthropic-messages/tool-name-pattern",
    alias: "ANT-NAME-1",
    summary: "The name of a called tool is plain and not too long.",
    why: "The model invented a tool name, or the name comes from a provider that allows more characters. \
         Rename the tool in the call; the result does not repeat the name.",
    status: 400,
    confidence: Confidence::Observed,
    sources: &["https://github.com/anthropics/claude-code/issues/2673"],
};

/// "messages.3.content.1.tool_use.input: Input should be a valid dictionary"
/// (<https://github.com/anthropics/anthropic-sdk-typescript/issues/648>).
pub(in crate::rules) static TOOL_INPUT_NOT_OBJECT: Rule = Rule {
    id: "anthropic-messages/tool-input-not-object",
    alias: "ANT-INP-1",
    summary: "The input of a call is a JSON object.",
    why: "The arguments were stored as text, as null or as a list, often because the stream ended inside \
         them. Parse them into an object, or use an empty object and an error result.",
    status: 400,
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/anthropics/anthropic-sdk-typescript/issues/648",
        "https://github.com/anthropics/claude-code/issues/6695",
        "https://github.com/prism-php/prism/issues/659",
    ],
};

/// "messages.2.content.0.tool_result.tool_use_id: Field required"
/// (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls>).
pub(in crate::rules) static TOOL_RESULT_ID_REQUIRED: Rule = Rule {
    id: "anthropic-messages/tool-result-id-required",
    alias: "ANT-TR-4",
    summary: "A `tool_result` block names the call that it answers.",
    why: "The result has no `tool_use_id`, so nobody can tell which call it answers. Copy the id of the \
         call into the result.",
    status: 400,
    confidence: Confidence::Measured,
    sources: &["https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls"],
};

/// "messages.{n}.content.{b}.thinking.thinking: Field required"
/// (<https://docs.claude.com/en/docs/build-with-claude/extended-thinking>).
pub(in crate::rules) static THINKING_FIELD_REQUIRED: Rule = Rule {
    id: "anthropic-messages/thinking-field-required",
    alias: "ANT-TH-7",
    summary: "A `thinking` block has its text and its signature.",
    why: "A thinking block was stored without its signature or text, often because the stream was cut \
         before the signature came. Send the block back as it was received, or drop it.",
    status: 400,
    confidence: Confidence::Observed,
    sources: &["https://docs.claude.com/en/docs/build-with-claude/extended-thinking"],
};

/// "tools: Tool names must be unique."
/// (<https://github.com/anthropics/claude-code/issues/10687>).
pub(in crate::rules) static TOOL_NAMES_NOT_UNIQUE: Rule = Rule {
    id: "anthropic-messages/tool-names-not-unique",
    alias: "ANT-TOOLS-1",
    summary: "The offered tools have different names.",
    why: "Two entries of `tools` have the same name. Drop one of them, or prefix the names by their origin.",
    status: 400,
    confidence: Confidence::Observed,
    sources: &["https://github.com/anthropics/claude-code/issues/10687"],
};

/// "messages: at least one message is required"
/// (<https://github.com/langchain-ai/langchain/pull/31696>).
pub(in crate::rules) static MESSAGES_EMPTY: Rule = Rule {
    id: "anthropic-messages/messages-empty",
    alias: "ANT-MSG-3",
    summary: "There is at least one message.",
    why: "The list of messages is empty, often because trimming removed everything or only a system prompt \
         was given. Keep or add a user message.",
    status: 400,
    confidence: Confidence::Secondary,
    sources: &["https://github.com/langchain-ai/langchain/pull/31696"],
};

/// "messages: text content blocks must be non-empty"
/// (<https://github.com/anthropics/claude-code/issues/59812>).
pub(in crate::rules) static TEXT_EMPTY: Rule = Rule {
    id: "anthropic-messages/text-empty",
    alias: "ANT-TXT-1",
    summary: "A text block is not empty.",
    why: "A text block holds the empty string; the API itself can send one in a reply that starts with a \
         call. Drop empty text blocks before the history is sent back.",
    status: 400,
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
    status: 400,
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
    status: 400,
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
    status: 400,
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
    status: 400,
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
    status: 400,
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
    status: 400,
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
    status: 400,
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
    status: 400,
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
    status: 400,
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
    status: 400,
    confidence: Confidence::Measured,
    sources: &["https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls"],
};

/// "messages.43.content.2: `tool_use` ids must be unique"
/// (<https://github.com/anthropics/claude-code/issues/28515>).
pub(in crate::rules) static TOOL_USE_ID_DUPLICATE: Rule = Rule {
    id: "anthropic-messages/tool-use-id-duplicate",
    alias: "ANT-TU-2",
    summary: "The calls of one assistant turn have different ids.",
    why: "Two calls of one turn have the same id, often because a retry or a second writer stored the \
         reply twice. Drop the copy, or give one call and its result another id.",
    status: 400,
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/anthropics/claude-code/issues/28515",
        "https://github.com/anthropics/claude-code/issues/21036",
        "https://github.com/BerriAI/litellm/issues/23510",
    ],
};

/// "`tool_use` ids must be unique"
/// (<https://github.com/cortexkit/magic-context/issues/178>).
pub(in crate::rules) static TOOL_USE_ID_REUSED: Rule = Rule {
    id: "anthropic-messages/tool-use-id-reused",
    alias: "ANT-TU-2b",
    summary: "Calls of different turns have different ids.",
    why: "A later turn uses the id of an earlier call again; several authors report a refusal, but models \
         that number their calls per turn work. Give every call of a thread its own id.",
    status: 400,
    confidence: Confidence::Secondary,
    sources: &[
        "https://github.com/cortexkit/magic-context/issues/178",
        "https://github.com/sipeed/picoclaw/pull/2528",
    ],
};

/// "messages.5: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_…. Each
/// `tool_use` block must have a corresponding `tool_result` block in the next message."
/// (<https://github.com/anthropics/claude-code/issues/3512>).
pub(in crate::rules) static TOOL_RESULT_MISSING: Rule = Rule {
    id: "anthropic-messages/tool-result-missing",
    alias: "ANT-TU-1",
    summary: "Every call is answered in the next message.",
    why: "The turn ended before all tools of a batch had answered, and the calls without answer were \
         stored. Add a result that says what happened for each of them directly after, or drop those \
         calls.",
    status: 400,
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/anthropics/claude-code/issues/3512",
        "https://github.com/anthropics/claude-code/issues/1686",
        "https://github.com/anthropics/claude-code/issues/12526",
    ],
};

/// "`tool_use` ids were found without `tool_result` blocks immediately after"
/// (<https://github.com/anomalyco/opencode/pull/16751>).
pub(in crate::rules) static TEXT_AFTER_TOOL_USE: Rule = Rule {
    id: "anthropic-messages/text-after-tool-use",
    alias: "ANT-TU-3",
    summary: "In an assistant turn nothing but calls follows the first call.",
    why: "Several steps were merged into one assistant message, so that text stands between or after \
         calls. Split the message after each batch of calls, and put their results between.",
    status: 400,
    confidence: Confidence::Measured,
    sources: &["https://github.com/anomalyco/opencode/pull/16751", "https://github.com/vercel/ai/pull/16312"],
};

/// "messages.N: `tool_use` ids were found without `tool_result` blocks immediately after"
/// (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls>).
pub(in crate::rules) static TOOL_RESULT_NOT_FIRST: Rule = Rule {
    id: "anthropic-messages/tool-result-not-first",
    alias: "ANT-TR-5",
    summary: "Results stand before all other content of their message.",
    why: "Something else, such as text of the user, stands before a result in the message after the calls. \
         Move the results to the front.",
    status: 400,
    confidence: Confidence::Measured,
    sources: &[
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
        "https://github.com/open-octo/octo-agent/pull/250",
    ],
};

/// "each tool_use must have a single result. Found multiple `tool_result` blocks with id: ..."
/// (<https://github.com/sipeed/picoclaw/pull/1793>).
pub(in crate::rules) static TOOL_RESULT_DUPLICATE: Rule = Rule {
    id: "anthropic-messages/tool-result-duplicate",
    alias: "ANT-TR-2",
    summary: "A call has one result.",
    why: "Two results answer the same call, often a real one and one that was made up when the turn was \
         stopped. Keep the real one.",
    status: 400,
    confidence: Confidence::Observed,
    sources: &["https://github.com/sipeed/picoclaw/pull/1793"],
};

/// "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_…. Each
/// `tool_result` block must have a corresponding `tool_use` block in the previous message."
/// (<https://github.com/decocms/studio/issues/1803>).
pub(in crate::rules) static TOOL_RESULT_ORPHAN: Rule = Rule {
    id: "anthropic-messages/tool-result-orphan",
    alias: "ANT-TR-1",
    summary: "A result answers a call of the message before.",
    why: "The call of this result is gone, or stands further up, often because trimming or a compaction \
         cut between the two. Keep both or drop both.",
    status: 400,
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/decocms/studio/issues/1803",
        "https://github.com/anthropics/claude-code/issues/13460",
        "https://github.com/anthropics/claude-code/issues/18947",
    ],
};

/// "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. …"
/// (<https://github.com/anomalyco/opencode/issues/3077>).
pub(in crate::rules) static THINKING_MISSING: Rule = Rule {
    id: "anthropic-messages/thinking-missing",
    alias: "ANT-TH-1",
    summary: "With thinking enabled, a tool loop starts with thinking.",
    why: "Thinking is enabled, but the reply whose calls are being answered was stored without its \
         thinking blocks. Send them back, or disable thinking for this request.",
    status: 400,
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/anomalyco/opencode/issues/3077",
        "https://github.com/mastra-ai/mastra/issues/7799",
        "https://github.com/Kilo-Org/kilocode/issues/5219",
    ],
};

/// "messages.7.content.0: If an assistant message contains any thinking blocks, the first block must be
/// `thinking` or `redacted_thinking`. Found `text`."
/// (<https://github.com/anthropics/claude-code/issues/20705>).
pub(in crate::rules) static THINKING_NOT_FIRST: Rule = Rule {
    id: "anthropic-messages/thinking-not-first",
    alias: "ANT-TH-6",
    summary: "With thinking enabled, a reply that holds thinking starts with it.",
    why: "A reply was stored with text or a call before its thinking. Keep the blocks of a reply in the \
         order in which they came.",
    status: 400,
    confidence: Confidence::Observed,
    sources: &["https://github.com/anthropics/claude-code/issues/20705"],
};

/// "messages.1.content.0: When thinking is disabled, an `assistant` message in the final position cannot
/// contain `thinking`. …"
/// (<https://github.com/tailcallhq/forgecode/issues/1853>).
pub(in crate::rules) static THINKING_WHEN_DISABLED: Rule = Rule {
    id: "anthropic-messages/thinking-when-disabled",
    alias: "ANT-TH-3",
    summary: "With thinking disabled, the last message holds no thinking of the assistant.",
    why: "The history ends with a reply that holds thinking, but thinking is disabled. Enable it, or drop \
         the thinking blocks of that reply.",
    status: 400,
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/tailcallhq/forgecode/issues/1853",
        "https://github.com/tailcallhq/forgecode/issues/1195",
    ],
};

/// "messages: final assistant content cannot end with trailing whitespace"
/// (<https://github.com/anomalyco/opencode/issues/1295>).
pub(in crate::rules) static FINAL_TEXT_TRAILING_SPACE: Rule = Rule {
    id: "anthropic-messages/final-text-trailing-space",
    alias: "ANT-FIN-1",
    summary: "A prefill does not end with white space.",
    why: "The last message is the beginning of a reply and ends with white space. Trim its end, or end \
         with a user message.",
    status: 400,
    confidence: Confidence::Measured,
    sources: &["https://github.com/anomalyco/opencode/issues/1295"],
};

/// "This model does not support assistant message prefill. The conversation must end with a user message."
/// (<https://github.com/cortexkit/magic-context/issues/511>).
pub(in crate::rules) static PREFILL_NOT_SUPPORTED: Rule = Rule {
    id: "anthropic-messages/prefill-not-supported",
    alias: "ANT-FIN-2",
    summary: "On newer models the conversation ends with a user message.",
    why: "The history ends with an assistant message, often a reply that was interrupted, and this model \
         does not continue one. Add a user message.",
    status: 400,
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/cortexkit/magic-context/issues/511",
        "https://github.com/Coneja-Chibi/TunnelVision/issues/5",
    ],
};
