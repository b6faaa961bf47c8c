//! The rules of Mistral. Above each stands a sentence of the provider, as somebody received it or as its validator says it.

use super::super::{Confidence, Rule};

/// Every rule, in the order in which it is checked.
pub(in crate::rules) static RULES: &[&Rule] = &[
    &BODY_NOT_JSON,
    &REQUEST_SHAPE,
    &UNKNOWN_ROLE,
    &CONTENT_NULL,
    &CONVERSATION_START,
    &LAST_MESSAGE_ASSISTANT,
    &ROLE_ORDER,
    &CALL_AND_RESULT_COUNTS,
    &RESULT_ID_UNKNOWN,
    &RESULT_ID_DUPLICATE,
    &CALL_ID_DUPLICATE,
    &CONTENT_AND_CALLS,
    &ASSISTANT_MESSAGE_EMPTY,
    &CALL_ID_FORM,
    &FUNCTION_NAME,
    &PREFIX_NOT_LAST,
];

/// No public thread quotes the refusal of bytes that are not JSON; the words are those of the library that reads
/// bodies.
pub(in crate::rules) static BODY_NOT_JSON: Rule = Rule {
    id: "mistral/body-not-json",
    alias: "MIS-BODY-1",
    summary: "The body is JSON.",
    why: "The bytes are not JSON. Write the body with a JSON library, and cut strings by code points.",
    sentences: &["JSON decode error"],
    status: 400,
    phase: 0,
    is_optional: false,
    since: "2024-01",
    confidence: Confidence::Inferred,
    sources: &["https://docs.mistral.ai/api"],
};

/// "Extra inputs are not permitted", in a list of details with status 422, shows who reads the body: Pydantic
/// (<https://github.com/Gitlawb/openclaude/issues/739>). The types are those of the validator's messages.
pub(in crate::rules) static REQUEST_SHAPE: Rule = Rule {
    id: "mistral/request-shape",
    alias: "MIS-BODY-2",
    summary: "The known fields of the body, of messages and of calls are there and have their types.",
    why: "A field that every message or call needs is missing or has another type. Send `messages` as a list of \
          objects, and give every call a `function` with a name and arguments.",
    sentences: &["Field required", "Input should be a valid {expected}"],
    status: 422,
    phase: 1,
    is_optional: false,
    since: "2024-01",
    confidence: Confidence::Measured,
    sources: &[MESSAGES, "https://github.com/Gitlawb/openclaude/issues/739"],
};

/// The four roles are those of the validator's messages.
pub(in crate::rules) static UNKNOWN_ROLE: Rule = Rule {
    id: "mistral/unknown-role",
    alias: "MIS-ROLE-1",
    summary: "A role is `system`, `user`, `assistant` or `tool`.",
    why: "The message has a role of another provider, such as `developer` or `function`. Map it to one of the four.",
    sentences: &[
        "Input tag '{role}' found using 'role' does not match any of the expected tags: 'system', 'user', \
         'assistant', 'tool'",
        "Unable to extract tag using discriminator 'role'",
    ],
    status: 422,
    phase: 1,
    is_optional: false,
    since: "2024-01",
    confidence: Confidence::Measured,
    sources: &[MESSAGES],
};

/// The API's reference lets the content of user and tool messages be null; the types of the validator do not.
pub(in crate::rules) static CONTENT_NULL: Rule = Rule {
    id: "mistral/content-null",
    alias: "MIS-BODY-3",
    summary: "A message that is not the assistant's has content.",
    why: "A message was stored without content. Drop it, or use an empty string.",
    sentences: &["Field required", "Input should be a valid {expected}"],
    status: 422,
    phase: 1,
    is_optional: false,
    since: "2024-01",
    confidence: Confidence::Measured,
    sources: &[MESSAGES],
};

/// "Conversation must start with a user message or system message"
pub(in crate::rules) static CONVERSATION_START: Rule = Rule {
    id: "mistral/conversation-start",
    alias: "MIS-START-1",
    summary: "A conversation has a message, and does not consist of a reply or a result alone.",
    why: "Trimming left no message, or one that answers something that is gone. Keep the user message, or add one.",
    sentences: &[
        "Conversation must start with a user message or system message",
        "Conversation must have at least one message",
    ],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2024-04",
    confidence: Confidence::Measured,
    sources: &[VALIDATOR],
};

/// "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
/// (<https://github.com/huggingface/smolagents/issues/757>); the validator of today has no "True".
pub(in crate::rules) static LAST_MESSAGE_ASSISTANT: Rule = Rule {
    id: "mistral/last-message-assistant",
    alias: "MIS-LAST-1",
    summary: "The last message is not a finished reply.",
    why: "The conversation ends with a reply, so there is nothing to answer. Add a user message, or set `prefix` to \
          let the model go on in the reply.",
    sentences: &["Expected last role User or Tool (or Assistant with prefix) for serving but got {role}"],
    status: 400,
    phase: 3,
    is_optional: false,
    since: "2025-01",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/huggingface/smolagents/issues/757",
        "https://github.com/0xPlaygrounds/rig/pull/1130",
        "https://github.com/microsoft/autogen/issues/5044",
        VALIDATOR,
    ],
};

/// "Unexpected role 'user' after role 'tool'" (<https://github.com/datapizza-labs/datapizza-ai/issues/98>);
/// "Unexpected role 'tool' after role 'user'" (<https://github.com/charmbracelet/crush/issues/279>).
pub(in crate::rules) static ROLE_ORDER: Rule = Rule {
    id: "mistral/role-order",
    alias: "MIS-ORD-1",
    summary: "Results follow calls or results, and system messages follow no reply.",
    why: "A message stands where its role may not follow: a result after the user's next message, as when a turn is \
          stopped and the result is stored late, or a system message after a reply. Older endpoints and other \
          servers also refuse a user message directly after a result; an assistant message between the two helps \
          there.",
    sentences: &["Unexpected role '{cur}' after role '{prev}'"],
    status: 400,
    phase: 4,
    is_optional: false,
    since: "2024-10",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/datapizza-labs/datapizza-ai/issues/98",
        "https://github.com/charmbracelet/crush/issues/279",
        "https://github.com/avante-corp/avante.nvim/issues/2562",
        "https://github.com/onyx-dot-app/onyx/issues/6458",
        VALIDATOR,
    ],
};

/// "Not the same number of function calls and responses" (<https://github.com/mistralai/client-ts/issues/106>).
pub(in crate::rules) static CALL_AND_RESULT_COUNTS: Rule = Rule {
    id: "mistral/call-and-result-counts",
    alias: "MIS-CNT-1",
    summary: "There are as many results as calls before the next reply.",
    why: "The turn ended before all tools of a batch had answered, or a result was stored twice or without its \
          call. Add a tool message that says what happened for each call without one, or drop what has no \
          counterpart.",
    sentences: &["Not the same number of function calls and responses"],
    status: 400,
    phase: 5,
    is_optional: false,
    since: "2024-04",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/mistralai/client-ts/issues/106",
        "https://github.com/partITech/php-mistral/issues/57",
        "https://github.com/NousResearch/hermes-agent/pull/11722",
        VALIDATOR,
    ],
};

/// "Unexpected tool call id pR1CHbWdz in tool results" (<https://github.com/pydantic/pydantic-ai/issues/3733>).
pub(in crate::rules) static RESULT_ID_UNKNOWN: Rule = Rule {
    id: "mistral/result-id-unknown",
    alias: "MIS-V11-1",
    summary: "A result has the id of a call of the reply before it.",
    why: "The tool message names a call that the reply before it did not make. Correct the id, or drop the message.",
    sentences: &["Unexpected tool call id {id} in tool results"],
    status: 400,
    phase: 5,
    is_optional: false,
    since: "2025-12",
    confidence: Confidence::Measured,
    sources: &["https://github.com/pydantic/pydantic-ai/issues/3733", VALIDATOR],
};

/// "Duplicate tool call id {id} in tool results"
pub(in crate::rules) static RESULT_ID_DUPLICATE: Rule = Rule {
    id: "mistral/result-id-duplicate",
    alias: "MIS-V11-2",
    summary: "A call has one result.",
    why: "Two tool messages answer the same call, often a real one and one that was made up when the turn was \
          stopped. Keep the real one.",
    sentences: &["Duplicate tool call id {id} in tool results"],
    status: 400,
    phase: 5,
    is_optional: false,
    since: "2025-12",
    confidence: Confidence::Measured,
    sources: &[VALIDATOR],
};

/// "Duplicate tool call id {id} in assistant message"
pub(in crate::rules) static CALL_ID_DUPLICATE: Rule = Rule {
    id: "mistral/call-id-duplicate",
    alias: "MIS-V11-3",
    summary: "The calls of one reply have different ids.",
    why: "Two calls of one reply have the same id, so that one result would answer both. Give one of them another \
          id.",
    sentences: &["Duplicate tool call id {id} in assistant message"],
    status: 400,
    phase: 5,
    is_optional: false,
    since: "2025-12",
    confidence: Confidence::Measured,
    sources: &[VALIDATOR],
};

/// "Assistant message must have either content or tool_calls, but not both."
/// (<https://github.com/langchain-ai/langchain/issues/21196>).
pub(in crate::rules) static CONTENT_AND_CALLS: Rule = Rule {
    id: "mistral/content-and-calls",
    alias: "MIS-ASST-1",
    summary: "A reply has either content or calls, not both and not neither.",
    why: "Models of the first three tokenizers take no reply with text and calls, and none with neither. Drop the \
          text of a reply that makes calls.",
    sentences: &["Assistant message must have either content or tool_calls, but not both."],
    status: 400,
    phase: 6,
    is_optional: true,
    since: "2024-05",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/langchain-ai/langchain/issues/21196",
        "https://github.com/mistralai/mistral-common/issues/186",
        VALIDATOR,
    ],
};

/// "Assistant message must have either content or tool_calls, but not none."
/// (<https://github.com/OpenHands/OpenHands/issues/8685>).
pub(in crate::rules) static ASSISTANT_MESSAGE_EMPTY: Rule = Rule {
    id: "mistral/assistant-message-empty",
    alias: "MIS-ASST-2",
    summary: "A reply has content or calls.",
    why: "A reply without text and without calls was stored, as happens when it is stopped before its first token. \
          Drop it, or say in it that it was stopped.",
    sentences: &["Assistant message must have either content or tool_calls, but not none."],
    status: 400,
    phase: 6,
    is_optional: false,
    since: "2025-05",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/OpenHands/OpenHands/issues/8685",
        "https://github.com/solbrowse/extension/issues/16",
    ],
};

/// "Tool call id was toolu_01VpEm654HvfMoRcrE3Hgdc6 but must be a-z, A-Z, 0-9, with a length of 9."
/// (<https://github.com/zed-industries/zed/issues/53034>); "Tool call id has to be defined."
/// (<https://github.com/Gage-Technologies/mistral-go/issues/8>).
pub(in crate::rules) static CALL_ID_FORM: Rule = Rule {
    id: "mistral/call-id-form",
    alias: "MIS-ID-1",
    summary: "The id of a call, in the call and in its result, has nine letters and digits.",
    why: "The id was made by another provider, by a gateway or by the client. Make ids of nine letters and digits, \
          the same in a call and in its result.",
    sentences: &[
        "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.",
        "Tool call id has to be defined in serving mode.",
        "Tool call id has to be defined.",
        "Tool call id must be a non-empty string other than 'null' for tokenizer version 13 or newer.",
    ],
    status: 400,
    phase: 6,
    is_optional: false,
    since: "2024-05",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/zed-industries/zed/issues/53034",
        "https://github.com/langchain-ai/langchain/pull/24668",
        "https://github.com/anomalyco/opencode/issues/1680",
        "https://github.com/Gage-Technologies/mistral-go/issues/8",
        VALIDATOR,
    ],
};

/// "Function name was {name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of
/// 64."
pub(in crate::rules) static FUNCTION_NAME: Rule = Rule {
    id: "mistral/function-name",
    alias: "MIS-NAME-1",
    summary: "The name of a function has at most 64 letters, digits, underscores and dashes.",
    why: "The model invented a name, or the name comes from a provider that allows more characters. Rename the \
          function.",
    sentences: &[
        "Function name was {name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum \
         length of 64.",
    ],
    status: 400,
    phase: 6,
    is_optional: false,
    since: "2024-04",
    confidence: Confidence::Measured,
    sources: &[VALIDATOR],
};

/// "Assistant message with prefix True must be last message"
pub(in crate::rules) static PREFIX_NOT_LAST: Rule = Rule {
    id: "mistral/prefix-not-last",
    alias: "MIS-PRE-1",
    summary: "Only the last message is one in which the model goes on.",
    why: "A reply was stored together with the beginning that the client had given it. Remove `prefix` from \
          messages of the past.",
    sentences: &["Assistant message with prefix True must be last message"],
    status: 400,
    phase: 6,
    is_optional: false,
    since: "2024-07",
    confidence: Confidence::Measured,
    sources: &[VALIDATOR],
};

/// The validator: what a conversation must be like.
const VALIDATOR: &str =
    "https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py";

/// The messages that the validator takes.
const MESSAGES: &str =
    "https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/messages.py";
