//! The rules of OpenAI Chat Completions. Above each stands a sentence of the provider, as somebody received it.

use super::super::{Confidence, Rule};
use super::relatives::*;

/// Every rule, in the order in which it is checked.
pub(in crate::rules) static RULES: &[&Rule] = &[
    &BODY_NOT_JSON,
    &REQUEST_SHAPE,
    &MESSAGES_EMPTY,
    &UNKNOWN_ROLE,
    &TOOL_CALLS_EMPTY,
    &TOOL_CALL_SHAPE,
    &CALL_ID_TOO_LONG,
    &FUNCTION_NAME_PATTERN,
    &TOOL_CALL_ID_REQUIRED,
    &UNKNOWN_MESSAGE_FIELD,
    &TOOL_CALL_NOT_FUNCTION,
    &CONTENT_EMPTY,
    &ARGUMENTS_NOT_JSON,
    &TOOL_MESSAGE_ORPHAN,
    &TOOL_MESSAGE_UNKNOWN_ID,
    &TOOL_MESSAGE_MISSING,
    &TOOL_MESSAGE_DUPLICATE,
    &TOOL_CALL_ID_DUPLICATE,
    &SUCCESSIVE_ROLES,
    &CONTENT_NULL,
    &REASONING_CONTENT_MISSING,
    &REASONING_CONTENT_NOT_RETURNED,
];

/// "We could not parse the JSON body of your request. (HINT: …)"
/// (<https://github.com/ChatGPTNextWeb/NextChat/issues/4064>).
pub(in crate::rules) static BODY_NOT_JSON: Rule = Rule {
    id: "openai-chat/body-not-json",
    alias: "OAI-BODY-1",
    summary: "The body is JSON.",
    why: "The bytes are not JSON. Write the body with a JSON library, and cut strings by code points.",
    sentences: &[
        "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your \
         HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid \
         JSON. If you have trouble figuring out how to fix this, please contact us through our help \
         center at help.openai.com.)",
    ],
    status: 400,
    phase: 0,
    is_optional: false,
    since: "2024-02",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/ChatGPTNextWeb/NextChat/issues/4064",
        "https://github.com/microsoft/graphrag/issues/2286",
    ],
};

/// "Invalid type for 'messages\[1\].content': expected one of a string or array of objects, but got an object
/// instead."
/// (<https://github.com/pydantic/pydantic-ai/issues/2653>).
pub(in crate::rules) static REQUEST_SHAPE: Rule = Rule {
    id: "openai-chat/request-shape",
    alias: "OAI-BODY-2",
    summary: "The known fields of the body and of messages are there and have their types.",
    why: "A field that every message needs is missing or has another type. Send `messages` as a list of \
         objects with a `role` and a `content` that is a string or a list of parts.",
    sentences: &[
        "Missing required parameter: '{path}'.",
        "Invalid type for '{path}': expected {expected}, but got {got} instead.",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-07",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/pydantic/pydantic-ai/issues/2653",
        "https://github.com/microsoft/graphrag/issues/672",
    ],
};

/// "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array
/// instead."
/// (<https://github.com/CopilotKit/CopilotKit/issues/529>).
pub(in crate::rules) static MESSAGES_EMPTY: Rule = Rule {
    id: "openai-chat/messages-empty",
    alias: "OAI-MSG-1",
    summary: "There is at least one message.",
    why: "The list of messages is empty, often because trimming removed everything. Keep or add a user \
         message.",
    sentences: &["Invalid '{path}': {empty}. Expected {expected}, but got {got} instead."],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-06",
    confidence: Confidence::Measured,
    sources: &["https://github.com/CopilotKit/CopilotKit/issues/529"],
};

/// "'' is not one of ['system', 'assistant', 'user', 'function'] - 'messages.0.role'"
/// (<https://github.com/sashabaranov/go-openai/issues/679>).
pub(in crate::rules) static UNKNOWN_ROLE: Rule = Rule {
    id: "openai-chat/unknown-role",
    alias: "OAI-ROLE-1",
    summary: "A role is one of the six that the API knows.",
    why: "The message has a role of another provider, such as `model`. Map it to `assistant`, `user` or \
         `tool`.",
    sentences: &[
        "Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', \
         'tool', and 'developer'.",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-07",
    confidence: Confidence::Observed,
    sources: &["https://github.com/sashabaranov/go-openai/issues/679"],
};

/// "Invalid 'messages\[1\].tool_calls': empty array. Expected an array with minimum length 1, but got an
/// empty array instead."
/// (<https://github.com/openai/openai-python/issues/2061>).
pub(in crate::rules) static TOOL_CALLS_EMPTY: Rule = Rule {
    id: "openai-chat/tool-calls-empty",
    alias: "OAI-TC-2",
    summary: "An assistant message has no empty list of calls.",
    why: "A reply without calls was stored with an empty `tool_calls`. Leave the field out.",
    sentences: &["Invalid '{path}': {empty}. Expected {expected}, but got {got} instead."],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-06",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/openai/openai-python/issues/2061",
        "https://github.com/openai/openai-node/pull/1341",
        "https://github.com/home-assistant/core/pull/118577",
    ],
};

/// "Missing required parameter: 'messages[{n}].tool_calls[{k}].id'."
/// (<https://github.com/continuedev/continue/issues/11645>).
pub(in crate::rules) static TOOL_CALL_SHAPE: Rule = Rule {
    id: "openai-chat/tool-call-shape",
    alias: "OAI-TC-4",
    summary: "A function call has an id, a name and its arguments as text.",
    why: "The call was stored before it was complete, or its arguments were stored as an object. Finish \
         the call, and keep the arguments as the text that the model wrote.",
    sentences: &[
        "Missing required parameter: '{path}'.",
        "Invalid type for '{path}': expected {expected}, but got {got} instead.",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-07",
    confidence: Confidence::Inferred,
    sources: &["https://github.com/continuedev/continue/issues/11645"],
};

/// "Invalid 'messages\[2\].tool_calls\[0\].id': string too long. Expected a string with maximum length 40, but
/// got a string with length 46 instead."
/// (<https://github.com/camel-ai/camel/issues/2215>).
pub(in crate::rules) static CALL_ID_TOO_LONG: Rule = Rule {
    id: "openai-chat/call-id-too-long",
    alias: "OAI-ID-1",
    summary: "The id of a call is not too long.",
    why: "The id was made by another provider or a gateway and is longer than this API takes. Shorten it \
         in the call and in its result alike.",
    sentences: &[
        "Invalid '{path}': string too long. Expected a string with maximum length {max}, but got a string \
         with length {length} instead.",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-01",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/camel-ai/camel/issues/2215",
        "https://github.com/anomalyco/opencode/issues/12653",
        "https://github.com/vercel/ai/issues/8132",
    ],
};

/// "Invalid 'messages\[9\].tool_calls\[0\].function.name': string does not match pattern. Expected a string
/// that matches the pattern '^[a-zA-Z0-9_-]+$'."
/// (<https://github.com/mcp-use/mcp-use/pull/94>).
pub(in crate::rules) static FUNCTION_NAME_PATTERN: Rule = Rule {
    id: "openai-chat/function-name-pattern",
    alias: "OAI-NAME-1",
    summary: "The name of a called function matches `^[a-zA-Z0-9_-]+$`.",
    why: "The model invented a name, or the name comes from a provider that allows more characters. Rename \
         the function in the call.",
    sentences: &[
        "Invalid '{path}': string does not match pattern. Expected a string that matches the pattern \
         '^[a-zA-Z0-9_-]+$'.",
        "Invalid '{path}': {empty}. Expected {expected}, but got {got} instead.",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-06",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/mcp-use/mcp-use/pull/94",
        "https://github.com/continuedev/continue/issues/11645",
        "https://github.com/danishjsheikh/swagger-mcp/issues/13",
    ],
};

/// "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'."
/// (<https://github.com/langchain-ai/langchain/issues/22600>).
pub(in crate::rules) static TOOL_CALL_ID_REQUIRED: Rule = Rule {
    id: "openai-chat/tool-call-id-required",
    alias: "OAI-TM-4",
    summary: "A tool message names the call that it answers.",
    why: "The tool message has no `tool_call_id`, so nobody can tell which call it answers. Copy the id of \
         the call into it.",
    sentences: &[
        "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
        "Invalid type for '{path}': expected {expected}, but got {got} instead.",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-02",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/langchain-ai/langchain/issues/22600",
        "https://github.com/run-llama/multi-agent-concierge/pull/16",
    ],
};

/// "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with
/// 'tool_calls'."
/// (<https://github.com/sdcb/chats/pull/132>).
pub(in crate::rules) static TOOL_MESSAGE_ORPHAN: Rule = Rule {
    id: "openai-chat/tool-message-orphan",
    alias: "OAI-TM-1",
    summary: "Tool messages follow an assistant message with calls.",
    why: "The assistant message with the call is gone, or another message stands between, often because \
         trimming cut between the two. Keep both or drop both, and keep them together.",
    sentences: &[
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with \
         'tool_calls'.",
    ],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2024-02",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/sdcb/chats/pull/132",
        "https://github.com/run-llama/llama_index/issues/10493",
        "https://github.com/openai/openai-go/issues/43",
    ],
};

/// "Invalid parameter: 'tool_call_id' of 'call_XXXXXXXXX' not found in 'tool_calls' of previous message."
/// (<https://github.com/dapr/dapr-agents/issues/145>).
pub(in crate::rules) static TOOL_MESSAGE_UNKNOWN_ID: Rule = Rule {
    id: "openai-chat/tool-message-unknown-id",
    alias: "OAI-TM-2",
    summary: "A tool message answers a call of the assistant message before.",
    why: "The tool message names a call that the assistant message before it did not make. Correct the id, \
         or drop the message.",
    sentences: &[
        "Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of previous message.",
    ],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2024-02",
    confidence: Confidence::Observed,
    sources: &["https://github.com/dapr/dapr-agents/issues/145"],
};

/// "An assistant message with 'tool_calls' must be followed by tool messages responding to each
/// 'tool_call_id'. The following tool_call_ids did not have response messages: call_…"
/// (<https://github.com/BerriAI/litellm/issues/10083>).
pub(in crate::rules) static TOOL_MESSAGE_MISSING: Rule = Rule {
    id: "openai-chat/tool-message-missing",
    alias: "OAI-TC-1",
    summary: "Every call is answered by a tool message directly after.",
    why: "The turn ended before all tools of a batch had answered, and the calls without answer were \
         stored. Add a tool message that says what happened for each of them directly after, or drop \
         those calls.",
    sentences: &[
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
         'tool_call_id'. The following tool_call_ids did not have response messages: {ids}",
    ],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2024-02",
    confidence: Confidence::Measured,
    sources: &["https://github.com/BerriAI/litellm/issues/10083", "https://github.com/sdcb/chats/pull/132"],
};

/// "Invalid parameter: Duplicate value for 'tool_call_id' of 'call_…', in messages\[7\] and messages\[8\]."
/// (<https://github.com/agno-agi/agno/issues/5116>).
pub(in crate::rules) static TOOL_MESSAGE_DUPLICATE: Rule = Rule {
    id: "openai-chat/tool-message-duplicate",
    alias: "OAI-TM-3",
    summary: "A call has one tool message.",
    why: "Two tool messages answer the same call, often a real one and one that was made up when the turn \
         was stopped. Keep the real one; some endpoints refuse the second.",
    sentences: &[
        "Invalid parameter: Duplicate value for 'tool_call_id' of '{id}', in messages[{first}] and \
         messages[{n}].",
    ],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2025-09",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/agno-agi/agno/issues/5116",
        "https://github.com/fatwang2/search2ai/issues/30",
    ],
};

/// "Duplicate value for 'tool_call_id' of {id} in message[{n}]"
/// (<https://github.com/openclaw/openclaw/pull/47136>).
pub(in crate::rules) static TOOL_CALL_ID_DUPLICATE: Rule = Rule {
    id: "openai-chat/tool-call-id-duplicate",
    alias: "OAI-TC-3",
    summary: "The calls of one message have different ids.",
    why: "Two calls of one message have the same id, so that one answer would answer both. Give one of \
         them another id; some endpoints refuse the message.",
    sentences: &["Duplicate value for 'tool_call_id' of {id} in message[{n}]"],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2026-01",
    confidence: Confidence::Inferred,
    sources: &["https://github.com/openclaw/openclaw/pull/47136"],
};

/// "Invalid value for 'content': expected a string, got null."
/// (<https://github.com/docker/docker-agent/issues/63>).
pub(in crate::rules) static CONTENT_NULL: Rule = Rule {
    id: "openai-chat/content-null",
    alias: "OAI-MSG-2",
    summary: "A message has content, unless it is an assistant message with calls or a refusal.",
    why: "A message without content was stored, as happens when a reply is stopped before its first token. \
         Drop the message, or use an empty string.",
    sentences: &["Invalid value for 'content': expected a string, got null."],
    status: 400,
    phase: 3,
    is_optional: false,
    since: "2024-02",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/docker/docker-agent/issues/63",
        "https://github.com/langchain-ai/langchainjs/issues/4153",
    ],
};
