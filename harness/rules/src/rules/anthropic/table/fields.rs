//! The first phases: the body is JSON, the known fields have their types, and no other is there.

use super::super::super::{Confidence, Rule};

/// "The request body is not valid JSON: no low surrogate in string: line 1 column 604829 (char 604828)"
/// (<https://github.com/anthropics/claude-code/issues/8165>).
pub(in crate::rules) static BODY_NOT_JSON: Rule = Rule {
    id: "anthropic-messages/body-not-json",
    alias: "ANT-BODY-1",
    summary: "The body is JSON.",
    why: "The bytes are not JSON, often because half of a surrogate pair was cut off in a string. Cut \
         strings by code points, and write the body with a JSON library.",
    sentences: &[
        "The request body is not valid JSON: {reason}: line {line} column {column} (char {position})",
    ],
    status: 400,
    phase: 0,
    is_optional: false,
    since: "2025-09",
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
    sentences: &["{path}: {complaint}", "{complaint}"],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-05",
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
    sentences: &["messages: Unexpected role \"{role}\". {hint}"],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-05",
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
    sentences: &["{path}: {complaint}"],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-12",
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
    sentences: &["{path}: String should match pattern '^[a-zA-Z0-9_-]+$'"],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-12",
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
    sentences: &[
        "{path}: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'",
        "{path}: String should have at most {max} characters",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2025-01",
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
    sentences: &["{path}: Input should be a valid dictionary"],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-12",
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
    sentences: &["{path}: {complaint}"],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2026-08",
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
    sentences: &["{path}: {complaint}"],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2025-08",
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
    sentences: &["tools: Tool names must be unique."],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2025-10",
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
    sentences: &["messages: at least one message is required"],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-05",
    confidence: Confidence::Secondary,
    sources: &["https://github.com/langchain-ai/langchain/pull/31696"],
};

/// "messages.N.content.2.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'"
/// (<https://github.com/ding113/claude-code-hub/issues/470>).
pub(in crate::rules) static SERVER_TOOL_ID_PATTERN: Rule = Rule {
    id: "anthropic-messages/server-tool-id-pattern",
    alias: "ANT-SRV-3",
    summary: "Ids of server tools match `^srvtoolu_[a-zA-Z0-9_]+$`, in the call and in its result.",
    why: "The id of a server tool comes from another provider, or a gateway made it up. Keep the id that the API gave, or turn the pair of blocks into text.",
    sentences: &["{path}: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'"],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2025-12",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/ding113/claude-code-hub/issues/470",
        "https://github.com/BerriAI/litellm/pull/31672",
    ],
};

/// "messages.29.content.0.text: cache_control cannot be set for empty text blocks"
/// (<https://github.com/NousResearch/hermes-agent/pull/1216>).
pub(in crate::rules) static CACHE_CONTROL_ON_EMPTY_TEXT: Rule = Rule {
    id: "anthropic-messages/cache-control-on-empty-text",
    alias: "ANT-CC-2",
    summary: "No empty text has a mark for the cache.",
    why: "The mark for the cache was put on the last block without a look at it, and that block is an empty text. Drop empty texts first, then set the mark.",
    sentences: &["{path}: cache_control cannot be set for empty text blocks"],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2026-03",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/NousResearch/hermes-agent/pull/1216",
        "https://github.com/anthropics/claude-code/issues/55302",
        "https://github.com/stakpak/agent/pull/511",
    ],
};

/// "messages.0.name: Extra inputs are not permitted"
/// (<https://github.com/microsoft/autogen/issues/3034>).
pub(in crate::rules) static EXTRA_KEY: Rule = Rule {
    id: "anthropic-messages/extra-key",
    alias: "ANT-BODY-3",
    summary: "Messages, calls and the body hold no key of another API.",
    why: "A field of another API or of the client itself was sent along, such as the id under which a message is stored. Send only the fields that the API documents.",
    sentences: &["{path}: Extra inputs are not permitted"],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2024-06",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/microsoft/autogen/issues/3034",
        "https://github.com/ErlichLiu/DeepClaude/issues/79",
        "https://github.com/anthropics/claude-code/issues/4378",
        "https://github.com/amrit110/oli/issues/7",
        "https://github.com/Aider-AI/aider/issues/3367",
    ],
};
