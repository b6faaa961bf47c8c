//! The rules that only some providers of the dialect know. Above each stands a sentence as somebody received it.

use super::super::super::{Confidence, Rule};

/// "messages.2.assistant.reasoning_content: property 'messages.2.assistant.reasoning_content' is unsupported"
/// (<https://github.com/Kilo-Org/kilocode/issues/10375>).
pub(in crate::rules) static UNKNOWN_MESSAGE_FIELD: Rule = Rule {
    id: "openai-chat/unknown-message-field",
    alias: "GROQ-EXTRA-1",
    summary: "A message has only fields that the provider knows.",
    why: "The message carries a field of another provider, or one of the client's own, such as \
         `reasoning_content`, `annotations` or `timestamp`. Leave it out of what is sent.",
    sentences: &[
        "'messages.{n}' : for 'role:{role}' the following must be satisfied[('messages.{n}' : property \
         '{field}' is unsupported)]",
        "'messages.{n}' : for 'role:{role}' the following must be satisfied[('messages.{n}' : property \
         '{field}' is unsupported, did you mean 'role'?)]",
    ],
    status: 400,
    phase: 1,
    is_optional: true,
    since: "2025-02",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/NousResearch/hermes-agent/issues/11089",
        "https://github.com/ServiceStack/llms/issues/17",
        "https://github.com/chatboxai/chatbox/issues/2083",
        "https://github.com/Kilo-Org/kilocode/issues/10375",
        "https://github.com/proxysoul/Empryo/pull/209",
    ],
};

/// "chat completions only support assistant tool_calls of type 'function'."
/// (<https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/chat_utils.py>).
pub(in crate::rules) static TOOL_CALL_NOT_FUNCTION: Rule = Rule {
    id: "openai-chat/tool-call-not-function",
    alias: "VLLM-TC",
    summary: "A call in the history is an object of the type `function`.",
    why: "The list of calls holds something else than function calls, such as a custom tool's call of \
         another provider. Leave such calls and their results out, or tell them as text.",
    sentences: &[
        "chat completions only support assistant tool_calls of type 'function'.",
        "assistant tool_calls entries must be objects.",
    ],
    status: 400,
    phase: 1,
    is_optional: true,
    since: "2026-01",
    confidence: Confidence::Measured,
    sources: &["https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/chat_utils.py"],
};

/// "Invalid request content: Each message must have at least one content element."
/// (<https://github.com/langchain-ai/langchain/issues/34140>).
pub(in crate::rules) static CONTENT_EMPTY: Rule = Rule {
    id: "openai-chat/content-empty",
    alias: "XAI-CONTENT-1",
    summary: "A message has at least one piece of content.",
    why: "The content is an empty list, an empty string or null, often because a reply was stopped before \
         its first word or all of it was reasoning. Drop the message, or give it content.",
    sentences: &["Invalid request content: Each message must have at least one content element."],
    status: 400,
    phase: 1,
    is_optional: true,
    since: "2025-11",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/langchain-ai/langchain/issues/34140",
        "https://github.com/AstrBotDevs/AstrBot/pull/6551",
    ],
};

/// "<400> InternalError.Algo.InvalidParameter: The "function.arguments" parameter of the code model must be in JSON
/// format." (<https://github.com/HKUDS/nanobot/issues/1487>).
pub(in crate::rules) static ARGUMENTS_NOT_JSON: Rule = Rule {
    id: "openai-chat/arguments-not-json",
    alias: "QWEN-ARG-1",
    summary: "The arguments of a call in the history are a JSON object, written as a string.",
    why: "A call was stored before its arguments were complete, or with none at all, and this provider \
         parses them again. Store `{}` for a call without arguments, and drop a call that was cut off.",
    sentences: &[
        "<400> InternalError.Algo.InvalidParameter: The \"function.arguments\" parameter of the code model \
         must be in JSON format.",
    ],
    status: 400,
    phase: 1,
    is_optional: true,
    since: "2026-03",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/HKUDS/nanobot/issues/1487",
        "https://github.com/HKUDS/nanobot/issues/2469",
        "https://github.com/continuedev/continue/issues/11556",
        "https://github.com/earendil-works/pi/issues/5468",
    ],
};

/// "deepseek-reasoner does not support successive user or assistant messages (messages\[1\] and messages\[2\] in your
/// input). You should interleave the user/assistant messages in the message sequence."
/// (<https://github.com/microsoft/autogen/pull/7229>).
pub(in crate::rules) static SUCCESSIVE_ROLES: Rule = Rule {
    id: "openai-chat/successive-roles",
    alias: "DS-R1",
    summary: "Users and the assistant take turns.",
    why: "Two messages of the user, or two of the assistant, follow each other, as happens when a turn is \
         stopped and the user writes again. Merge them into one.",
    sentences: &[
        "deepseek-reasoner does not support successive user or assistant messages (messages[{first}] and \
         messages[{n}] in your input). You should interleave the user/assistant messages in the message \
         sequence.",
    ],
    status: 400,
    phase: 2,
    is_optional: true,
    since: "2025-03",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/microsoft/autogen/pull/7229",
        "https://github.com/vllm-project/vllm/issues/6862",
        "https://github.com/weaviate/Verba/issues/150",
    ],
};

/// "Missing `reasoning_content` field in the assistant message at message index 2. For more information, please refer
/// to <https://api-docs.deepseek.com/guides/thinking_mode#tool-calls>"
/// (<https://github.com/abhigyanpatwari/GitNexus/issues/43>).
pub(in crate::rules) static REASONING_CONTENT_MISSING: Rule = Rule {
    id: "openai-chat/reasoning-content-missing",
    alias: "DS-RC-1",
    summary: "With thinking on, a message with calls brings back its `reasoning_content`.",
    why: "The reasoning that came with the calls was not stored or not sent back. Keep `reasoning_content` \
         with the message; where it is lost, some providers accept a placeholder.",
    sentences: &[
        "Missing `reasoning_content` field in the assistant message at message index {n}. For more \
         information, please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
    ],
    status: 400,
    phase: 3,
    is_optional: true,
    since: "2025-12",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/abhigyanpatwari/GitNexus/issues/43",
        "https://github.com/openai/openai-agents-python/issues/2155",
        "https://github.com/continuedev/continue/issues/11600",
        "https://github.com/openclaw/openclaw/pull/74846",
        "https://github.com/spacedriveapp/spacebot/pull/364",
    ],
};

/// "The `reasoning_content` in the thinking mode must be passed back to the API."
/// (<https://github.com/earendil-works/pi/issues/3636>).
pub(in crate::rules) static REASONING_CONTENT_NOT_RETURNED: Rule = Rule {
    id: "openai-chat/reasoning-content-not-returned",
    alias: "DS-RC-2",
    summary: "With thinking on, every reply of a turn that used tools brings back its `reasoning_content`.",
    why: "A reply of a turn with calls, be it the calls or the text after them, came back without its \
         reasoning. Keep `reasoning_content` with each reply; where it is lost, an empty string will do.",
    sentences: &["The `reasoning_content` in the thinking mode must be passed back to the API."],
    status: 400,
    phase: 3,
    is_optional: true,
    since: "2026-04",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/earendil-works/pi/issues/3636",
        "https://github.com/NousResearch/hermes-agent/issues/15353",
        "https://github.com/Gitlawb/openclaude/issues/878",
        "https://api-docs.deepseek.com/guides/thinking_mode.md",
    ],
};
