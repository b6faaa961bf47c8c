//! The rules of Google Gemini. Above each stands a sentence of the provider, as somebody received it.

use super::super::{Confidence, Rule};

/// Every rule, in the order in which it is checked.
pub(in crate::rules) static RULES: &[&Rule] = &[
    &BODY_NOT_JSON,
    &REQUEST_SHAPE,
    &ARGS_NOT_OBJECT,
    &RESPONSE_NOT_OBJECT,
    &CONTENTS_EMPTY,
    &UNKNOWN_ROLE,
    &PARTS_EMPTY,
    &PART_EMPTY,
    &TEXT_EMPTY,
    &FUNCTION_NAME_EMPTY,
    &DECLARATION_NAME_PATTERN,
    &RESPONSE_COUNT,
    &RESPONSE_MISSING,
    &CALL_NOT_AFTER_USER,
    &RESPONSE_NOT_AFTER_CALL,
    &ENDS_WITH_MODEL,
    &RESPONSES_MIXED,
    &THOUGHT_SIGNATURE_MISSING,
    &THOUGHT_SIGNATURE_CORRUPTED,
];

/// "Invalid JSON payload received. Unknown name \"id\" at 'contents\[7\].parts\[0\].function_response': Cannot find field." is how the parser
/// begins (<https://github.com/google-gemini/gemini-cli/issues/13972>); what it says of bytes that are not JSON differs.
pub(in crate::rules) static BODY_NOT_JSON: Rule = Rule {
    id: "gemini/body-not-json",
    alias: "GEM-BODY-1",
    summary: "The body is JSON.",
    why: "The bytes are not JSON. Write the body with a JSON library, and cut strings by code points.",
    sentences: &["Invalid JSON payload received. {error}"],
    status: 400,
    phase: 0,
    is_optional: false,
    since: "2024-02",
    confidence: Confidence::Secondary,
    sources: &[
        "https://github.com/google-gemini/gemini-cli/issues/13972",
        "https://ai.google.dev/gemini-api/docs/troubleshooting",
    ],
};

/// "Invalid value at 'tools\[0\].function_declarations\[1\].parameters.properties\[0\].value.type'
/// (type.googleapis.com/google.cloud.aiplatform.v1beta1.Type), \"\"" (<https://github.com/agno-agi/agno/issues/2649>).
pub(in crate::rules) static REQUEST_SHAPE: Rule = Rule {
    id: "gemini/request-shape",
    alias: "GEM-BODY-2",
    summary: "The known fields of the body, of contents and of parts have their types.",
    why: "A field has another type than the API says. Send `contents` as a list of objects, each with a \
         `role` and with `parts` that are a list of objects.",
    sentences: &[
        "Invalid value at '{path}' ({type}), {value}",
        "Invalid JSON payload received. Unknown name \"\": Root element must be a message.",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2025-04",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/agno-agi/agno/issues/2649",
        "https://github.com/zereight/gitlab-mcp/issues/166",
    ],
};

/// Arguments are a `google.protobuf.Struct` as responses are, whose refusal was met
/// (<https://github.com/AstrBotDevs/AstrBot/pull/7216>); the sentence is that of other fields with a wrong type.
pub(in crate::rules) static ARGS_NOT_OBJECT: Rule = Rule {
    id: "gemini/args-not-object",
    alias: "GEM-ARGS-1",
    summary: "The arguments of a call are an object.",
    why: "The arguments were stored as text, or never became complete. Parse them before they are stored, \
         and keep an empty object where there are none.",
    sentences: &["Invalid value at '{path}' ({type}), {value}"],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2025-04",
    confidence: Confidence::Inferred,
    sources: &[
        "https://github.com/AstrBotDevs/AstrBot/pull/7216",
        "https://github.com/agno-agi/agno/issues/2649",
        "https://ai.google.dev/api/caching#FunctionCall",
    ],
};

/// A text instead of a `google.protobuf.Struct` leads to "400 Invalid argument"
/// (<https://github.com/AstrBotDevs/AstrBot/pull/7216>).
pub(in crate::rules) static RESPONSE_NOT_OBJECT: Rule = Rule {
    id: "gemini/response-not-object",
    alias: "GEM-RESP-1",
    summary: "The response of a function is an object.",
    why: "The tool returned a text, and it was put into `response` as it is. Wrap it, for example as \
         `{\"output\": text}`.",
    sentences: &["Invalid value at '{path}' ({type}), {value}"],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2026-03",
    confidence: Confidence::Secondary,
    sources: &[
        "https://github.com/AstrBotDevs/AstrBot/pull/7216",
        "https://github.com/scriptit-fr/GenAIApp/pull/73",
        "https://ai.google.dev/api/caching#FunctionResponse",
    ],
};

/// "* GenerateContentRequest.contents: contents is not specified"
/// (<https://github.com/ikechan8370/chatgpt-plugin/issues/733>).
pub(in crate::rules) static CONTENTS_EMPTY: Rule = Rule {
    id: "gemini/contents-empty",
    alias: "GEM-BODY-3",
    summary: "There is at least one content.",
    why: "The list of contents is empty or missing, often because trimming removed everything. Keep or \
         add a content of the user.",
    sentences: &["* GenerateContentRequest.contents: contents is not specified"],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2024-12",
    confidence: Confidence::Observed,
    sources: &["https://github.com/ikechan8370/chatgpt-plugin/issues/733"],
};

/// "Please use a valid role: user, model." The documentation says that a role must be one of the two
/// (<https://ai.google.dev/api/caching#Content>); `function` is what responses had before.
pub(in crate::rules) static UNKNOWN_ROLE: Rule = Rule {
    id: "gemini/unknown-role",
    alias: "GEM-ROLE-1",
    summary: "A role is `user` or `model`.",
    why: "The content has a role of another provider, such as `assistant`, `tool` or `system`. Map it to \
         `model` or `user`, and send instructions as `systemInstruction`.",
    sentences: &["Please use a valid role: user, model."],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2024-02",
    confidence: Confidence::Secondary,
    sources: &["https://github.com/genkit-ai/genkit/pull/5782", "https://ai.google.dev/api/caching#Content"],
};

/// "* GenerateContentRequest.contents\[1\].parts: contents.parts must not be empty."
/// (<https://github.com/egoist/chatwise-releases/issues/250>).
pub(in crate::rules) static PARTS_EMPTY: Rule = Rule {
    id: "gemini/parts-empty",
    alias: "GEM-PARTS-1",
    summary: "A content has at least one part.",
    why: "A reply without any part was stored, as happens when a stream breaks before its first token. \
         Drop the content, or give it a text.",
    sentences: &["* GenerateContentRequest.contents[{n}].parts: contents.parts must not be empty."],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2025-01",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/egoist/chatwise-releases/issues/250",
        "https://github.com/langchain-ai/langchain-google/issues/691",
        "https://github.com/vercel/ai/issues/3775",
        "https://github.com/anomalyco/opencode/issues/17519",
    ],
};

/// "* GenerateContentRequest.contents\[33\].parts\[0\].data: required oneof field 'data' must have one initialized field"
/// (<https://github.com/boldsoftware/sketch/issues/68>).
pub(in crate::rules) static PART_EMPTY: Rule = Rule {
    id: "gemini/part-empty",
    alias: "GEM-PARTS-2",
    summary: "A part says something.",
    why: "A part was stored without any of its fields, often in place of a text that was empty. Leave the \
         part out.",
    sentences: &[
        "* GenerateContentRequest.{path}.data: required oneof field 'data' must have one initialized \
         field",
    ],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2025-05",
    confidence: Confidence::Observed,
    sources: &["https://github.com/boldsoftware/sketch/issues/68", "https://github.com/54xzh/FLIT/issues/69"],
};

/// "Unable to submit request because it has an empty text parameter. Add a value to the parameter and try again. Learn
/// more: …" (<https://github.com/Portkey-AI/gateway/issues/462>).
pub(in crate::rules) static TEXT_EMPTY: Rule = Rule {
    id: "gemini/text-empty",
    alias: "GEM-TXT-1",
    summary: "A text is not empty.",
    why: "An empty text was stored, for example the last chunk of a stream. Leave the part out.",
    sentences: &[
        "Unable to submit request because it has an empty text parameter. Add a value to the parameter \
         and try again. Learn more: \
         https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini",
    ],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2024-07",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/Portkey-AI/gateway/issues/462",
        "https://github.com/deepset-ai/haystack-core-integrations/pull/1337",
        "https://github.com/google-gemini/deprecated-generative-ai-js/issues/361",
    ],
};

/// "* GenerateContentRequest.contents\[1\].parts\[0\].function_response.name: Name cannot be empty."
/// (<https://github.com/camel-ai/camel/issues/2031>).
pub(in crate::rules) static FUNCTION_NAME_EMPTY: Rule = Rule {
    id: "gemini/function-name-empty",
    alias: "GEM-NAME-2",
    summary: "A call and a response name their function.",
    why: "The name is missing, often because a response was made from a result that knows only the id of \
         its call. Copy the name from the call.",
    sentences: &["* GenerateContentRequest.{path}.name: Name cannot be empty."],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2025-03",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/camel-ai/camel/issues/2031",
        "https://github.com/router-for-me/CLIProxyAPI/issues/1903",
        "https://github.com/langflow-ai/langflow/issues/9437",
    ],
};

/// "* GenerateContentRequest.tools\[0\].function_declarations\[23\].name: Invalid function name. Must start with a letter or
/// an underscore. …" (<https://github.com/lbjlaq/Antigravity-Manager/issues/1440>).
pub(in crate::rules) static DECLARATION_NAME_PATTERN: Rule = Rule {
    id: "gemini/declaration-name-pattern",
    alias: "GEM-NAME-1",
    summary: "The name of a declared function begins with a letter or `_`, and has only letters, digits \
         and `_.:-`.",
    why: "The name of a tool has a character that the provider does not take, begins with a digit, or has \
         too many letters: 128, or 64 as it was in 2025. Rename the tool.",
    sentences: &[
        "* GenerateContentRequest.tools[{t}].function_declarations[{k}].name: Invalid function name. Must \
         start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots \
         (.), colons (:), or dashes (-), with a maximum length of 64.",
    ],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2025-09",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/lbjlaq/Antigravity-Manager/issues/1440",
        "https://github.com/kaitranntt/ccs/issues/219",
        "https://github.com/google-gemini/gemini-cli/issues/7664",
    ],
};

/// "Please ensure that the number of function response parts is equal to the number of function call parts of the function
/// call turn." (<https://github.com/google-gemini/gemini-cli/issues/7410>).
pub(in crate::rules) static RESPONSE_COUNT: Rule = Rule {
    id: "gemini/response-count",
    alias: "GEM-FR-1",
    summary: "After calls come as many responses, in one content.",
    why: "The turn ended before all tools of a batch had answered, a response stands twice, or the \
         responses stand in several contents. Put one response for each call into the content directly \
         after the calls.",
    sentences: &[
        "Please ensure that the number of function response parts is equal to the number of function call \
         parts of the function call turn.",
    ],
    status: 400,
    phase: 3,
    is_optional: false,
    since: "2025-02",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/google-gemini/gemini-cli/issues/7410",
        "https://github.com/google-gemini/gemini-cli/issues/16984",
        "https://github.com/cloudwego/eino-ext/issues/571",
        "https://github.com/docker/docker-agent/pull/2959",
    ],
};

/// Told as a wrong number of responses, since none is not as many as there are calls
/// (<https://github.com/google-gemini/gemini-cli/issues/16974>).
pub(in crate::rules) static RESPONSE_MISSING: Rule = Rule {
    id: "gemini/response-missing",
    alias: "GEM-FC-2",
    summary: "After calls come responses.",
    why: "The turn was stopped after the model had called, and something else was said, or the request \
         ends there. Add a response for each call directly after, or drop the calls.",
    sentences: &[
        "Please ensure that the number of function response parts is equal to the number of function call \
         parts of the function call turn.",
    ],
    status: 400,
    phase: 3,
    is_optional: false,
    since: "2025-02",
    confidence: Confidence::Secondary,
    sources: &[
        "https://github.com/google-gemini/gemini-cli/issues/16974",
        "https://github.com/google-gemini/gemini-cli/issues/14590",
    ],
};

/// "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
/// (<https://github.com/google-gemini/gemini-cli/issues/26486>).
pub(in crate::rules) static CALL_NOT_AFTER_USER: Rule = Rule {
    id: "gemini/call-not-after-user",
    alias: "GEM-FC-1",
    summary: "Calls come directly after the user or after responses.",
    why: "The conversation begins with a call, often because trimming cut off what stood before, or words \
         of the model stand between. Begin with the user, and keep words and calls of one reply in one \
         content.",
    sentences: &[
        "Please ensure that function call turn comes immediately after a user turn or after a function \
         response turn.",
    ],
    status: 400,
    phase: 3,
    is_optional: false,
    since: "2025-04",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/google-gemini/gemini-cli/issues/11814",
        "https://github.com/google-gemini/gemini-cli/issues/26486",
        "https://github.com/continuedev/continue/issues/11164",
        "https://github.com/continuedev/continue/pull/11805",
    ],
};

/// "Please ensure that function response turn comes immediately after a function call turn."
/// (<https://github.com/langchain-ai/langchain/issues/27799>).
pub(in crate::rules) static RESPONSE_NOT_AFTER_CALL: Rule = Rule {
    id: "gemini/response-not-after-call",
    alias: "GEM-FR-2",
    summary: "Responses come directly after calls.",
    why: "The content with the calls is gone, or another content stands between. Keep both or drop both, \
         and keep them together.",
    sentences: &["Please ensure that function response turn comes immediately after a function call turn."],
    status: 400,
    phase: 3,
    is_optional: false,
    since: "2024-10",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/langchain-ai/langchain/issues/27799",
        "https://github.com/lobehub/lobehub/issues/7298",
        "https://github.com/BerriAI/litellm/issues/26755",
    ],
};

/// "Requests ending with a model turn are not supported." (<https://github.com/anomalyco/opencode/issues/45359>). Four models
/// were tried: <https://github.com/LibreChat-AI/agents/pull/323>.
pub(in crate::rules) static ENDS_WITH_MODEL: Rule = Rule {
    id: "gemini/ends-with-model",
    alias: "GEM-END-1",
    summary: "The last content is not the model's words.",
    why: "The conversation ends with what the model said, often because a turn was stopped or is tried \
         again. Drop the last content, or add one of the user.",
    sentences: &["Requests ending with a model turn are not supported."],
    status: 400,
    phase: 4,
    is_optional: false,
    since: "2026-07",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/LibreChat-AI/agents/pull/323",
        "https://github.com/pipecat-ai/pipecat/pull/5821",
        "https://github.com/anomalyco/opencode/issues/45359",
    ],
};

/// "Requests ending with a model turn are not supported.", although the request ends with the user
/// (<https://github.com/vellum-ai/vellum-assistant/pull/39495>).
pub(in crate::rules) static RESPONSES_MIXED: Rule = Rule {
    id: "gemini/responses-mixed",
    alias: "GEM-FR-3",
    summary: "A content with responses holds nothing else.",
    why: "Words of the user or of the harness stand beside the responses. Newer models refuse that, older \
         ones answer nonsense. Put the words into a content of their own after the responses.",
    sentences: &["Requests ending with a model turn are not supported."],
    status: 400,
    phase: 4,
    is_optional: false,
    since: "2026-07",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/vellum-ai/vellum-assistant/pull/39495",
        "https://github.com/langchain-ai/langchainjs/pull/11477",
        "https://github.com/NousResearch/hermes-agent/pull/79791",
    ],
};

/// "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and
/// missing thought_signature may lead to degraded model performance. Additional data, function call
/// `default_api:terminal-execute` , position 2. …" (<https://github.com/MayDay-wpf/snow-cli/issues/104>).
pub(in crate::rules) static THOUGHT_SIGNATURE_MISSING: Rule = Rule {
    id: "gemini/thought-signature-missing",
    alias: "GEM-TS-1",
    summary: "The first call of each step of the turn has its thought signature.",
    why: "The signature that came beside the call was not kept. Store `thoughtSignature` with the part, \
         and send it back with the call; for a call that another model made, send \
         `skip_thought_signature_validator`.",
    sentences: &[
        "Function call is missing a thought_signature in functionCall parts. This is required for tools \
         to work correctly, and missing thought_signature may lead to degraded model performance. \
         Additional data, function call `default_api:{name}` , position {p}. Please refer to \
         https://ai.google.dev/gemini-api/docs/thought-signatures for more details.",
    ],
    status: 400,
    phase: 5,
    is_optional: false,
    since: "2025-12",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/nanbingxyz/5ire/issues/405",
        "https://github.com/lbjlaq/Antigravity-Manager/issues/938",
        "https://github.com/MayDay-wpf/snow-cli/issues/104",
        "https://ai.google.dev/gemini-api/docs/thought-signatures",
    ],
};

/// "Corrupted thought signature." (<https://github.com/google-gemini/gemini-cli/issues/13467>).
pub(in crate::rules) static THOUGHT_SIGNATURE_CORRUPTED: Rule = Rule {
    id: "gemini/thought-signature-corrupted",
    alias: "GEM-TS-3",
    summary: "A thought signature is one that the provider gave out.",
    why: "The signature was cut, made up, or came from another model or session. Send back what came beside \
         the call, byte for byte; for a call that another model made, send `skip_thought_signature_validator`.",
    sentences: &["Corrupted thought signature."],
    status: 400,
    phase: 5,
    is_optional: false,
    since: "2025-11",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/google-gemini/gemini-cli/issues/13467",
        "https://github.com/lbjlaq/Antigravity-Manager/issues/970",
        "https://github.com/charmbracelet/crush/issues/1698",
        "https://github.com/decolua/9router/issues/301",
    ],
};
