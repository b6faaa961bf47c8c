//! The rules of Bedrock Converse. Above each stands a sentence of the provider, as somebody received it.
//!
//! What Converse checks itself comes first. Then the model is asked, and its errors come back behind a prefix of
//! Bedrock's: those rules have names that begin with `model-` and bind for Claude, whose errors are well known.

use super::super::{Confidence, Rule};

/// Every rule, in the order in which it is checked.
pub(in crate::rules) static RULES: &[&Rule] = &[
    &BODY_NOT_JSON,
    &REQUEST_SHAPE,
    &UNKNOWN_ROLE,
    &TOOL_ID_PATTERN,
    &TOOL_NAME_PATTERN,
    &TOOLS_EMPTY,
    &VALUE_NOT_OBJECT,
    &MESSAGE_EMPTY,
    &TEXT_BLANK,
    &TOOL_RESULT_ERROR_EMPTY,
    &FIRST_MESSAGE_NOT_USER,
    &ROLES_NOT_ALTERNATING,
    &TOOL_CONFIG_MISSING,
    &TOOL_USE_ID_DUPLICATE,
    &TOOL_RESULT_DUPLICATE,
    &TOOL_RESULTS_EXCEED,
    &TOOL_RESULT_MISSING,
    &MODEL_TOOL_ID_PATTERN,
    &MODEL_TOOL_RESULT_MISSING,
    &MODEL_TEXT_AFTER_TOOL_USE,
    &MODEL_TOOL_RESULT_NOT_FIRST,
    &MODEL_SIGNATURE_INVALID,
    &MODEL_THINKING_MISSING,
    &MODEL_TRAILING_SPACE,
    &MODEL_PREFILL,
];

/// "Malformed input request, please reformat your input and try again." is what InvokeModel says of such a
/// body.
/// (<https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html>).
pub(in crate::rules) static BODY_NOT_JSON: Rule = Rule {
    id: "bedrock-converse/body-not-json",
    alias: "BDR-BODY-1",
    summary: "The body is JSON.",
    why: "The bytes are not JSON. Write the body with a JSON library, and cut strings by code points.",
    sentences: &["Malformed input request, please reformat your input and try again."],
    status: 400,
    phase: 0,
    is_optional: false,
    since: "2024-06",
    confidence: Confidence::Inferred,
    sources: &["https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html"],
};

/// "Value null at 'messages.N.member.content' failed to satisfy constraint: Member must not be null"
/// (<https://github.com/maximhq/bifrost/pull/6732>).
pub(in crate::rules) static REQUEST_SHAPE: Rule = Rule {
    id: "bedrock-converse/request-shape",
    alias: "BDR-BODY-2",
    summary: "The known fields of the body, of messages and of blocks are there and have their types.",
    why: "A field that every message or block needs is missing or has another type. Send `messages` \
         as a list of objects with a `role` and a `content` that is a list of blocks; a plain \
         string is no content here.",
    sentences: &[
        "1 validation error detected: Value null at '{path}' failed to satisfy constraint: Member \
         must not be null",
        "{got} can not be converted to {expected}",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-06",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/maximhq/bifrost/pull/6732",
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html",
    ],
};

/// "… failed to satisfy constraint: Member must satisfy enum value set: [user, assistant]"
/// (<https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html>).
pub(in crate::rules) static UNKNOWN_ROLE: Rule = Rule {
    id: "bedrock-converse/unknown-role",
    alias: "BDR-ROLE-3",
    summary: "A role is `user` or `assistant`.",
    why: "The message has a role of another provider, such as `system` or `tool`. System prompts \
         have the field `system`, and results of tools are blocks of a user message.",
    sentences: &["1 validation error detected: Value '{role}' at '{path}' failed to satisfy constraint: \
         Member must satisfy enum value set: [user, assistant]"],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-06",
    confidence: Confidence::Inferred,
    sources: &["https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html"],
};

/// "Value at 'messages.2.member.content.1.member.toolUse.toolUseId' failed to satisfy constraint: Member must
/// satisfy regular expression pattern: \[a-zA-Z0-9_.:-\]+"
/// (<https://github.com/tontinton/maki/issues/38>).
pub(in crate::rules) static TOOL_ID_PATTERN: Rule = Rule {
    id: "bedrock-converse/tool-id-pattern",
    alias: "BDR-ID-1",
    summary: "Ids of calls and results match `[a-zA-Z0-9_.:-]+` and have 1 to 64 characters.",
    why: "The id comes from another provider or a gateway, or is empty. Rename the id in the call \
         and in its result alike.",
    sentences: &[
        "1 validation error detected: Value at '{path}' failed to satisfy constraint: Member must \
         satisfy regular expression pattern: [a-zA-Z0-9_.:-]+",
        "1 validation error detected: Value at '{path}' failed to satisfy constraint: Member must \
         have length greater than or equal to 1",
        "1 validation error detected: Value at '{path}' failed to satisfy constraint: Member must \
         have length less than or equal to 64",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-06",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/tontinton/maki/issues/38",
        "https://github.com/run-llama/llama_index/pull/22775",
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html",
    ],
};

/// "Value 'Complete Session' at 'toolConfig.tools.22.member.toolSpec.name' failed to satisfy constraint: Member
/// must satisfy regular expression pattern: \[a-zA-Z0-9_-\]+"
/// (<https://github.com/aws-samples/remote-swe-agents/pull/457>).
pub(in crate::rules) static TOOL_NAME_PATTERN: Rule = Rule {
    id: "bedrock-converse/tool-name-pattern",
    alias: "BDR-NAME-1",
    summary: "Names of tools match `[a-zA-Z0-9_-]+` and have 1 to 64 characters.",
    why: "The model invented a name, or the name comes from a provider that allows more characters. \
         Rename the tool where it is offered and in the calls.",
    sentences: &[
        "1 validation error detected: Value at '{path}' failed to satisfy constraint: Member must \
         satisfy regular expression pattern: [a-zA-Z0-9_-]+",
        "1 validation error detected: Value at '{path}' failed to satisfy constraint: Member must \
         have length greater than or equal to 1",
        "1 validation error detected: Value at '{path}' failed to satisfy constraint: Member must \
         have length less than or equal to 64",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2024-06",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/aws-samples/remote-swe-agents/pull/457",
        "https://github.com/tontinton/maki/issues/38",
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html",
    ],
};

/// "1 validation error detected: Value at 'toolConfig.tools' failed to satisfy constraint: Member must have
/// length greater than or equal to 1"
/// (<https://github.com/genkit-ai/aws-bedrock-js-plugin/issues/43>).
pub(in crate::rules) static TOOLS_EMPTY: Rule = Rule {
    id: "bedrock-converse/tools-empty",
    alias: "BDR-TOOLS-2",
    summary: "A `toolConfig` offers at least one tool.",
    why: "The list of tools is empty. Leave `toolConfig` out, or, where the history has calls, keep \
         the tools that it calls.",
    sentences: &["1 validation error detected: Value at 'toolConfig.tools' failed to satisfy constraint: \
         Member must have length greater than or equal to 1"],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2025-02",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/genkit-ai/aws-bedrock-js-plugin/issues/43",
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolConfiguration.html",
    ],
};

/// "The format of the value at messages.3.content.0.toolResult.content.0.json is invalid. Provide a json object
/// for the field and try again."
/// (<https://github.com/aws/aws-sdk-js-v3/issues/7330>).
pub(in crate::rules) static VALUE_NOT_OBJECT: Rule = Rule {
    id: "bedrock-converse/value-not-object",
    alias: "BDR-INP-1",
    summary: "The input of a call, a result in JSON and the schema of a tool are JSON objects.",
    why: "The value is text, null or a list. Arguments are often stored as the text that the model \
         wrote: parse them. Wrap a list or a text in an object, or send the result as `text`.",
    sentences: &[
        "The format of the value at {path} is invalid. Provide a json object for the field and try again.",
    ],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2024-07",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/aws/aws-sdk-js-v3/issues/7330",
        "https://github.com/aws/aws-sdk-net/issues/3377",
    ],
};

/// "The content field in the Message object at messages.X is empty. Add a ContentBlock object to the content
/// field and try again."
/// (<https://github.com/earendil-works/pi/pull/3443>).
pub(in crate::rules) static MESSAGE_EMPTY: Rule = Rule {
    id: "bedrock-converse/message-empty",
    alias: "BDR-MSG-1",
    summary: "A message has content.",
    why: "A message without blocks was stored, as happens when a reply is stopped before its first \
         token, or when blank texts were dropped. Drop the message too.",
    sentences: &["The content field in the Message object at messages.{n} is empty. Add a ContentBlock \
         object to the content field and try again."],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2024-10",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/earendil-works/pi/pull/3443",
        "https://github.com/archestra-ai/archestra/pull/4220",
    ],
};

/// "The text field in the ContentBlock object at messages.2.content.1 is blank. Add text to the text field, and
/// try again."
/// (<https://github.com/OpenHands/OpenHands/issues/5339>).
pub(in crate::rules) static TEXT_BLANK: Rule = Rule {
    id: "bedrock-converse/text-blank",
    alias: "BDR-TXT-1",
    summary: "A text is not blank.",
    why: "A text block holds nothing, often because a reply began with a call and the client kept a \
         text for it. Drop the block.",
    sentences: &["The text field in the ContentBlock object at messages.{n}.content.{b} is blank. Add text \
         to the text field, and try again."],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2024-11",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/OpenHands/OpenHands/issues/5339",
        "https://github.com/OpenHands/OpenHands/issues/5722",
        "https://github.com/aws-samples/bedrock-engineer/issues/8",
    ],
};

/// "The content field at messages.<n\>.content.0.toolResult cannot be empty when status value is error."
/// (<https://github.com/aws-samples/sample-multi-agent-orchestration-chat-on-agentcore/issues/15>).
pub(in crate::rules) static TOOL_RESULT_ERROR_EMPTY: Rule = Rule {
    id: "bedrock-converse/tool-result-error-empty",
    alias: "BDR-TR-2",
    summary: "A result with the status `error` says what went wrong.",
    why: "A tool failed without a word, and the result was stored with empty content. Put a text \
         into it, if only that the tool failed.",
    sentences: &[
        "The content field at messages.{n}.content.{b}.toolResult cannot be empty when status value \
         is error.",
    ],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2026-06",
    confidence: Confidence::Observed,
    sources: &["https://github.com/aws-samples/sample-multi-agent-orchestration-chat-on-agentcore/issues/15"],
};

/// "A conversation must start with a user message. Try again with a conversation that starts with a user
/// message."
/// (<https://github.com/pydantic/pydantic-ai/issues/4495>).
pub(in crate::rules) static FIRST_MESSAGE_NOT_USER: Rule = Rule {
    id: "bedrock-converse/first-message-not-user",
    alias: "BDR-ROLE-1",
    summary: "There is a message, and the user speaks first; newer Claude models take a history that the \
         assistant begins.",
    why: "The history is empty, often because a system prompt was all there was, or it begins with \
         an assistant message because trimming cut the user message before it. Begin with a user \
         message.",
    sentences: &["A conversation must start with a user message. Try again with a conversation that starts \
         with a user message."],
    status: 400,
    phase: 3,
    is_optional: false,
    since: "2024-06",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/pydantic/pydantic-ai/issues/4495",
        "https://github.com/elastic/kibana/pull/246393",
        "https://github.com/quarkiverse/quarkus-langchain4j/issues/1764",
    ],
};

/// "A conversation must alternate between user and assistant roles. Make sure the conversation alternates
/// between user and assistant roles and try again."
/// (<https://github.com/langchain-ai/langchain-aws/issues/130>).
pub(in crate::rules) static ROLES_NOT_ALTERNATING: Rule = Rule {
    id: "bedrock-converse/roles-not-alternating",
    alias: "BDR-ROLE-2",
    summary: "User and assistant take turns.",
    why: "Two messages of the same role follow each other: results in messages of their own, results \
         and then a prompt, or two prompts of which the first had no answer. Nothing is merged \
         here: put their blocks into one message.",
    sentences: &[
        "A conversation must alternate between user and assistant roles. Make sure the conversation \
         alternates between user and assistant roles and try again.",
    ],
    status: 400,
    phase: 3,
    is_optional: false,
    since: "2024-08",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/langchain-ai/langchain-aws/issues/130",
        "https://github.com/microsoft/semantic-kernel/issues/10281",
        "https://github.com/cline/cline/issues/431",
    ],
};

/// "The toolConfig field must be defined when using toolUse and toolResult content blocks."
/// (<https://github.com/langgenius/dify/issues/17545>).
pub(in crate::rules) static TOOL_CONFIG_MISSING: Rule = Rule {
    id: "bedrock-converse/tool-config-missing",
    alias: "BDR-TOOLS-1",
    summary: "A history with calls or results comes with a `toolConfig`.",
    why: "Tools were switched off for this request, but the history still has calls. Keep offering \
         the tools, or turn calls and results into text.",
    sentences: &["The toolConfig field must be defined when using toolUse and toolResult content blocks."],
    status: 400,
    phase: 4,
    is_optional: false,
    since: "2024-06",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/langgenius/dify/issues/17545",
        "https://github.com/onyx-dot-app/onyx/issues/7842",
        "https://github.com/vxcontrol/pentagi/issues/160",
    ],
};

/// "The toolUse blocks at messages.2.content contain duplicate Ids: http_request"
/// (<https://github.com/bvcyber/Cyber-AutoAgent-ng/issues/72>).
pub(in crate::rules) static TOOL_USE_ID_DUPLICATE: Rule = Rule {
    id: "bedrock-converse/tool-use-id-duplicate",
    alias: "BDR-TU-2",
    summary: "The calls of one message have different ids.",
    why: "Two calls of one message have the same id, often because a reply was merged with its \
         retry. Drop one of them, or give it another id.",
    sentences: &["The toolUse blocks at messages.{n}.content contain duplicate Ids: {ids}"],
    status: 400,
    phase: 5,
    is_optional: false,
    since: "2026-01",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/bvcyber/Cyber-AutoAgent-ng/issues/72",
        "https://github.com/BerriAI/litellm/pull/20049",
    ],
};

/// "The toolResult blocks at messages.X.content contain duplicate Ids: tooluse_..."
/// (<https://github.com/BerriAI/litellm/issues/20047>).
pub(in crate::rules) static TOOL_RESULT_DUPLICATE: Rule = Rule {
    id: "bedrock-converse/tool-result-duplicate",
    alias: "BDR-TR-3",
    summary: "A call has one result.",
    why: "Two results answer the same call, often a real one and one that was made up when the turn \
         was stopped. Keep the real one.",
    sentences: &["The toolResult blocks at messages.{n}.content contain duplicate Ids: {ids}"],
    status: 400,
    phase: 5,
    is_optional: false,
    since: "2026-01",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/BerriAI/litellm/issues/20047",
        "https://github.com/kirodotdev/Kiro/issues/9355",
    ],
};

/// "The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous
/// turn."
/// (<https://github.com/strands-agents/harness-sdk/issues/1435>).
pub(in crate::rules) static TOOL_RESULTS_EXCEED: Rule = Rule {
    id: "bedrock-converse/tool-results-exceed",
    alias: "BDR-TR-1",
    summary: "A message has no more results than the message before has calls.",
    why: "The message with the calls is gone, or lost one of them, often because trimming or pruning \
         cut between calls and results. Keep both or drop both.",
    sentences: &["The number of toolResult blocks at messages.{n}.content exceeds the number of toolUse \
         blocks of previous turn."],
    status: 400,
    phase: 6,
    is_optional: false,
    since: "2025-03",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/strands-agents/harness-sdk/issues/1435",
        "https://github.com/Just-Curieous/Curie/issues/16",
        "https://github.com/pydantic/pydantic-ai/issues/2327",
    ],
};

/// "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_bRX9ftpYK3xO5tev2x4qtc"
/// (<https://github.com/camel-ai/camel/issues/3954>).
pub(in crate::rules) static TOOL_RESULT_MISSING: Rule = Rule {
    id: "bedrock-converse/tool-result-missing",
    alias: "BDR-TU-1",
    summary: "Every call is answered in the next message.",
    why: "The turn ended before all tools of a batch had answered, and the calls without answer were \
         stored. Add a result that says what happened for each of them to the next message, or drop \
         those calls.",
    sentences: &["Expected toolResult blocks at messages.{n}.content for the following Ids: {ids}"],
    status: 400,
    phase: 6,
    is_optional: false,
    since: "2025-03",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/camel-ai/camel/issues/3954",
        "https://github.com/zeroclaw-labs/zeroclaw/pull/1476",
        "https://github.com/NousResearch/hermes-agent/issues/108584",
    ],
};

/// Converse takes ids with dots and colons; Claude, asked directly, takes `^[a-zA-Z0-9_-]+$`.
/// (<https://github.com/anomalyco/opencode/issues/1279>).
pub(in crate::rules) static MODEL_TOOL_ID_PATTERN: Rule = Rule {
    id: "bedrock-converse/model-tool-id-pattern",
    alias: "BDR-MODEL-ID-1",
    summary: "Behind Converse, Claude takes ids of letters, digits, `_` and `-`.",
    why: "The id comes from another model, such as `functions.bash:0`. Rename it in the call and in \
         its result alike, if Claude is to go on with the conversation.",
    sentences: &[
        "The model returned the following errors: {path}: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ],
    status: 400,
    phase: 10,
    is_optional: false,
    since: "2024-12",
    confidence: Confidence::Inferred,
    sources: &["https://github.com/anomalyco/opencode/issues/1279"],
};

/// "The model returned the following errors: messages.1: `tool_use` ids were found without `tool_result` blocks
/// immediately after: tooluse_Izxtw_RkS92V4woEaFhUSA. …"
/// (<https://github.com/n8n-io/n8n/issues/16987>).
pub(in crate::rules) static MODEL_TOOL_RESULT_MISSING: Rule = Rule {
    id: "bedrock-converse/model-tool-result-missing",
    alias: "BDR-MODEL-TU-1",
    summary: "Claude wants an answer to every call of the last message too.",
    why: "The history ends with calls that nobody answered. Add a user message with a result for \
         each of them.",
    sentences: &["The model returned the following errors: messages.{n}: `tool_use` ids were found without \
         `tool_result` blocks immediately after: {ids}. Each `tool_use` block must have a \
         corresponding `tool_result` block in the next message."],
    status: 400,
    phase: 10,
    is_optional: false,
    since: "2025-07",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/n8n-io/n8n/issues/16987",
        "https://github.com/anthropics/claude-code/issues/3512",
    ],
};

/// Claude, asked directly, was measured to refuse it with the sentence about calls without results.
/// (<https://github.com/anomalyco/opencode/pull/16751>).
pub(in crate::rules) static MODEL_TEXT_AFTER_TOOL_USE: Rule = Rule {
    id: "bedrock-converse/model-text-after-tool-use",
    alias: "BDR-MODEL-TU-3",
    summary: "For Claude, nothing but calls follows the first call of a message.",
    why: "Several steps were merged into one assistant message, so that text stands between or after \
         calls. Split the message after each batch of calls, and put their results between.",
    sentences: &["The model returned the following errors: messages.{n}: `tool_use` ids were found without \
         `tool_result` blocks immediately after: {ids}. Each `tool_use` block must have a \
         corresponding `tool_result` block in the next message."],
    status: 400,
    phase: 10,
    is_optional: false,
    since: "2026-03",
    confidence: Confidence::Inferred,
    sources: &["https://github.com/anomalyco/opencode/pull/16751", "https://github.com/vercel/ai/pull/16312"],
};

/// Converse counts results wherever they stand; Claude wants them before all other content.
/// (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls>).
pub(in crate::rules) static MODEL_TOOL_RESULT_NOT_FIRST: Rule = Rule {
    id: "bedrock-converse/model-tool-result-not-first",
    alias: "BDR-MODEL-TR-5",
    summary: "For Claude, results stand before all other content of their message.",
    why: "Something else, such as text of the user, stands before a result in the message after the \
         calls. Move the results to the front.",
    sentences: &["The model returned the following errors: messages.{n}: `tool_use` ids were found without \
         `tool_result` blocks immediately after: {ids}. Each `tool_use` block must have a \
         corresponding `tool_result` block in the next message."],
    status: 400,
    phase: 10,
    is_optional: false,
    since: "2026-01",
    confidence: Confidence::Measured,
    sources: &[
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
        "https://github.com/n8n-io/n8n/issues/16987",
    ],
};

/// "The model returned the following errors: messages.369.content.0.thinking.signature: Field required"
/// (<https://github.com/can1357/oh-my-pi/pull/10486>).
pub(in crate::rules) static MODEL_SIGNATURE_INVALID: Rule = Rule {
    id: "bedrock-converse/model-signature-invalid",
    alias: "BDR-MODEL-TH-4",
    summary: "What Claude thought comes back with the signature that it was given.",
    why: "A `reasoningText` lost its signature or has an empty one, because the stream was cut before it came, or text \
         or signature are not those that were given out. Send both back as they came, or leave the block out.",
    sentences: &[
        "The model returned the following errors: messages.{n}.content.{b}: Invalid `signature` in `thinking` block",
        "The model returned the following errors: messages.{n}.content.{b}.thinking.signature: Field required",
    ],
    status: 400,
    phase: 11,
    is_optional: false,
    since: "2025-03",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/can1357/oh-my-pi/pull/10486",
        "https://github.com/can1357/oh-my-pi/pull/333",
        "https://github.com/langchain-ai/langchain-aws/pull/408",
    ],
};

/// "The model returned the following errors: messages.1.content.0.type: Expected `thinking` or
/// `redacted_thinking`, but found `tool_use`. …"
/// (<https://github.com/anomalyco/opencode/issues/3077>).
pub(in crate::rules) static MODEL_THINKING_MISSING: Rule = Rule {
    id: "bedrock-converse/model-thinking-missing",
    alias: "BDR-MODEL-TH-1",
    summary: "With thinking enabled, Claude's tool loop starts with thinking.",
    why: "Thinking is enabled, but the reply whose calls are being answered was stored without its \
         `reasoningContent`. Send it back, or disable thinking for this request.",
    sentences: &["The model returned the following errors: messages.{n}.content.{b}.type: Expected \
         `thinking` or `redacted_thinking`, but found `{found}`. When `thinking` is enabled, a \
         final `assistant` message must start with a thinking block (preceeding the lastmost set of \
         `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from \
         previous turns. To avoid this requirement, disable `thinking`. Please consult our \
         documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking"],
    status: 400,
    phase: 11,
    is_optional: false,
    since: "2025-03",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/anomalyco/opencode/issues/3077",
        "https://github.com/langchain-ai/langchain-aws/issues/844",
        "https://github.com/pydantic/pydantic-ai/issues/2453",
    ],
};

/// "messages: final assistant content cannot end with trailing whitespace", which Bedrock hands on.
/// (<https://github.com/anomalyco/opencode/issues/1295>).
pub(in crate::rules) static MODEL_TRAILING_SPACE: Rule = Rule {
    id: "bedrock-converse/model-trailing-space",
    alias: "BDR-MODEL-FIN-1",
    summary: "A prefill for Claude does not end with white space.",
    why: "The last message is the beginning of a reply and ends with white space. Trim its end, or \
         end with a user message.",
    sentences: &[
        "The model returned the following errors: messages: final assistant content cannot end with \
         trailing whitespace",
    ],
    status: 400,
    phase: 12,
    is_optional: false,
    since: "2025-07",
    confidence: Confidence::Measured,
    sources: &["https://github.com/anomalyco/opencode/issues/1295"],
};

/// "The model returned the following errors: This model does not support assistant message prefill. The
/// conversation must end with a user message."
/// (<https://github.com/anomalyco/opencode/issues/29760>).
pub(in crate::rules) static MODEL_PREFILL: Rule = Rule {
    id: "bedrock-converse/model-prefill",
    alias: "BDR-MODEL-FIN-2",
    summary: "For newer Claude models the conversation ends with a user message.",
    why: "The history ends with an assistant message, often a reply that was interrupted, and this \
         model does not continue one. Add a user message.",
    sentences: &["The model returned the following errors: This model does not support assistant message \
         prefill. The conversation must end with a user message."],
    status: 400,
    phase: 12,
    is_optional: false,
    since: "2026-05",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/anomalyco/opencode/issues/29760",
        "https://github.com/cortexkit/magic-context/issues/511",
    ],
};
