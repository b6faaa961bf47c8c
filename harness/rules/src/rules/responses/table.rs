//! The rules of OpenAI Responses. Above each stands a sentence of the provider, as somebody received it.
//!
//! The provider looks at the shape of the items first. What comes after that, and in which order, nobody has measured:
//! here it is the earlier response, then the items that it names, then reasoning, and last calls and outputs.

use super::super::{Confidence, Rule};

/// Every rule, in the order in which it is checked.
pub(in crate::rules) static RULES: &[&Rule] = &[
    &BODY_NOT_JSON,
    &REQUEST_SHAPE,
    &UNKNOWN_ROLE,
    &CONTENT_PART_TYPE,
    &ITEM_FIELD_REQUIRED,
    &CALL_ID_LENGTH,
    &FUNCTION_NAME_PATTERN,
    &ITEM_ID_FORM,
    &ITEM_ID_TOO_LONG,
    &PREVIOUS_RESPONSE_NOT_FOUND,
    &ITEM_NOT_FOUND,
    &ITEM_DUPLICATE,
    &REASONING_WITHOUT_ITEM,
    &ITEM_WITHOUT_REASONING,
    &TOOL_OUTPUT_ORPHAN,
    &TOOL_OUTPUT_MISSING,
    &TOOL_OUTPUT_DUPLICATE,
    &TOOL_OUTPUTS_INTERRUPTED,
];

/// "We could not parse the JSON body of your request. (HINT: …)"
/// (<https://github.com/ChatGPTNextWeb/NextChat/issues/4064>).
pub(in crate::rules) static BODY_NOT_JSON: Rule = Rule {
    id: "openai-responses/body-not-json",
    alias: "RSP-BODY-1",
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
    since: "2025-03",
    confidence: Confidence::Observed,
    sources: &["https://github.com/ChatGPTNextWeb/NextChat/issues/4064"],
};

/// "Invalid type for 'input\[0\]': expected an input item, but got a string instead." is the sentence that proxies
/// repeat; the form is that of the other API of the provider.
pub(in crate::rules) static REQUEST_SHAPE: Rule = Rule {
    id: "openai-responses/request-shape",
    alias: "RSP-BODY-2",
    summary: "The body says what is to be answered, and the known fields of messages have their types.",
    why: "There is no `input` and no earlier response to go on from, or a field has another type. Send `input` as \
         a text or as a list of items, and the `content` of a message as a text or as a list of parts.",
    sentences: &[
        "Missing required parameter: '{path}'.",
        "Invalid type for '{path}': expected {expected}, but got {got} instead.",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2025-03",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/agentgateway/agentgateway/pull/1100",
        "https://platform.openai.com/docs/api-reference/responses/create",
    ],
};

/// "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'."
/// (<https://github.com/Chevey339/kelivo/pull/281>).
pub(in crate::rules) static UNKNOWN_ROLE: Rule = Rule {
    id: "openai-responses/unknown-role",
    alias: "RSP-ROLE-1",
    summary: "A role is one of the four that the API knows.",
    why: "The message comes from another API, most often with the role `tool` of Chat Completions. A tool's result \
         is an item of the type `function_call_output` here.",
    sentences: &[
        "Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2025-03",
    confidence: Confidence::Observed,
    sources: &["https://github.com/Chevey339/kelivo/pull/281"],
};

/// "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'."
/// (<https://github.com/camunda/connectors/pull/8356>).
pub(in crate::rules) static CONTENT_PART_TYPE: Rule = Rule {
    id: "openai-responses/content-part-type",
    alias: "RSP-PART-1",
    summary: "The parts of a message have a type of this API, and those of the assistant are output.",
    why: "What the model said was stored as input, or in the parts of Chat Completions. Send back the assistant's \
         text as `output_text`, the user's as `input_text`, or either as a plain string.",
    sentences: &[
        "Invalid value: '{type}'. Supported values are: 'output_text' and 'refusal'.",
        "Invalid value: '{type}'. Supported values are: 'input_text', 'input_image', 'output_text', 'refusal', \
         'input_file', 'computer_screenshot', 'summary_text', and 'tether_browsing_display'.",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2025-10",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/camunda/connectors/pull/8356",
        "https://github.com/langchain-ai/langchainjs/pull/11169",
        "https://github.com/jeremychone/rust-genai/pull/119",
        "https://community.openai.com/t/how-to-chat-with-an-ai-generated-image-via-responses-api/1365014",
        "https://errs.dmxapi.cn/detail.php?id=1946",
    ],
};

/// "Missing required parameter: 'input\[7\].summary'."
/// (<https://github.com/AAswordman/Operit/issues/797>).
pub(in crate::rules) static ITEM_FIELD_REQUIRED: Rule = Rule {
    id: "openai-responses/item-field-required",
    alias: "RSP-ITEM-2",
    summary: "A call has an id, a name and its arguments, an output its id and its text, reasoning its summary.",
    why: "The item was stored before it was complete, or in the shape of another API. Keep every field of an item as \
         it came; a summary without text is an empty list.",
    sentences: &[
        "Missing required parameter: '{path}'.",
        "Invalid type for '{path}': expected {expected}, but got {got} instead.",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2025-03",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/AAswordman/Operit/issues/797",
        "https://github.com/lidge-jun/opencodex/pull/4673",
        "https://platform.openai.com/docs/api-reference/responses/create",
    ],
};

/// "Invalid 'input\[2\].call_id': string too long. Expected a string with maximum length 64, but got a string with
/// length 452 instead." (February 2026), and "Invalid 'input\[4\].call_id': empty string. Expected a string with
/// minimum length 1, but got an empty string instead."
/// (<https://github.com/BigPizzaV3/CodexPlusPlus/issues/315>).
pub(in crate::rules) static CALL_ID_LENGTH: Rule = Rule {
    id: "openai-responses/call-id-length",
    alias: "RSP-ID-2",
    summary: "The id of a call is not empty and not longer than the provider's own ids may be.",
    why: "The call was made by another provider, whose ids are longer, or its id was lost. Give such calls ids of \
         your own, the same in the call and in its output.",
    sentences: &[
        "Invalid '{path}': string too long. Expected a string with maximum length {max}, but got a string with \
         length {length} instead.",
        "Invalid '{path}': empty string. Expected a string with minimum length 1, but got an empty string instead.",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2025-03",
    confidence: Confidence::Measured,
    sources: &["https://github.com/BigPizzaV3/CodexPlusPlus/issues/315"],
};

/// "Invalid 'input\[65\].name': string does not match pattern. Expected a string that matches the pattern
/// '^\[a-zA-Z0-9_-\]+$'."
/// (<https://github.com/openclaw/openclaw/issues/25728>).
pub(in crate::rules) static FUNCTION_NAME_PATTERN: Rule = Rule {
    id: "openai-responses/function-name-pattern",
    alias: "RSP-NAME-1",
    summary: "The name of a called function has only letters, digits, `_` and `-`.",
    why: "The model called a tool by a name that does not exist, or the tool has a namespace in its name. Rename the \
         call in the history before it is sent again.",
    sentences: &[
        "Invalid '{path}': string does not match pattern. Expected a string that matches the pattern \
         '^[a-zA-Z0-9_-]+$'.",
        "Invalid '{path}': empty string. Expected a string with minimum length 1, but got an empty string instead.",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2025-11",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/openclaw/openclaw/issues/25728",
        "https://github.com/openai/codex/pull/9447",
        "https://github.com/weave-os/router/pull/1190",
    ],
};

/// "Invalid 'input\[66\].id': 'item_df7e40c3f04fc8ade5c3800e'. Expected an ID that begins with 'rs'."
/// (<https://github.com/jlcodes99/cockpit-tools/issues/2090>).
pub(in crate::rules) static ITEM_ID_FORM: Rule = Rule {
    id: "openai-responses/item-id-form",
    alias: "RSP-ID-1",
    summary: "The id of an item begins as the provider's ids of that type do.",
    why: "The item has an id that the provider never gave: one of another provider, or the id of the call. Leave the \
         `id` of such items out; calls and outputs belong together by `call_id`.",
    sentences: &[
        "Invalid '{path}': '{id}'. Expected an ID that begins with '{prefix}'.",
        "Invalid '{path}': '{id}'. Expected an ID that contains letters, numbers, underscores, or dashes, but this \
         value contained additional characters.",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2025-04",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/jlcodes99/cockpit-tools/issues/2090",
        "https://github.com/langchain-ai/langchainjs/issues/11044",
    ],
};

/// "Invalid 'input\[35\].id': string too long. Expected a string with maximum length 64, but got a string with length
/// 83 instead." (2026).
pub(in crate::rules) static ITEM_ID_TOO_LONG: Rule = Rule {
    id: "openai-responses/item-id-too-long",
    alias: "RSP-ID-3",
    summary: "The id of an item is not longer than the provider's own ids may be.",
    why: "The item has an id of another provider, or one that was put together from several. Leave the `id` out.",
    sentences: &[
        "Invalid '{path}': string too long. Expected a string with maximum length {max}, but got a string \
         with length {length} instead.",
    ],
    status: 400,
    phase: 1,
    is_optional: false,
    since: "2025-04",
    confidence: Confidence::Measured,
    sources: &["https://platform.openai.com/docs/api-reference/responses/create"],
};

/// "Previous response with id 'resp_…' not found."
/// (<https://github.com/maximhq/bifrost/issues/2441>).
pub(in crate::rules) static PREVIOUS_RESPONSE_NOT_FOUND: Rule = Rule {
    id: "openai-responses/previous-response-not-found",
    alias: "RSP-PREV-1",
    summary: "The earlier response that a request goes on from is one that the provider has kept.",
    why: "The response was made with `store: false`, by another account, or never came to its end. Send the whole \
         conversation as `input` instead.",
    sentences: &["Previous response with id '{id}' not found."],
    status: 400,
    phase: 2,
    is_optional: false,
    since: "2025-03",
    confidence: Confidence::Observed,
    sources: &["https://github.com/maximhq/bifrost/issues/2441", "https://github.com/LionSR/TeXRA/pull/2044"],
};

/// "Item with id 'rs_…' not found. Items are not persisted when `store` is set to false. Try again with `store` set to
/// true, or remove this item from your input."
/// (<https://github.com/vercel/ai/issues/7543>).
pub(in crate::rules) static ITEM_NOT_FOUND: Rule = Rule {
    id: "openai-responses/item-not-found",
    alias: "RSP-ITEM-1",
    summary: "An item that is only named is one that the provider has kept.",
    why: "With `store: false` the provider keeps nothing, so an `item_reference`, or reasoning without its \
         `encrypted_content`, leads nowhere. Send the items whole, and ask for `reasoning.encrypted_content`.",
    sentences: &[
        "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` \
         set to true, or remove this item from your input.",
        "Item with id '{id}' not found.",
    ],
    // Seen as 404 and, through proxies, as 400.
    status: 404,
    phase: 3,
    is_optional: false,
    since: "2025-07",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/vercel/ai/issues/7543",
        "https://github.com/openai/openai-agents-js/issues/546",
        "https://github.com/router-for-me/CLIProxyAPI/issues/2381",
    ],
};

/// "Duplicate item found with id msg_17"
/// (<https://github.com/earendil-works/pi/issues/5148>).
pub(in crate::rules) static ITEM_DUPLICATE: Rule = Rule {
    id: "openai-responses/item-duplicate",
    alias: "RSP-DUP-1",
    summary: "No item is sent twice.",
    why: "The same item stands twice in the input, or again after the response that it came from. Send each id once, \
         and after `previous_response_id` only what is new.",
    sentences: &["Duplicate item found with id {id}. Remove duplicate items from your input and try again."],
    status: 400,
    phase: 3,
    is_optional: false,
    since: "2025-06",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/earendil-works/pi/issues/5148",
        "https://github.com/github/copilot-cli/issues/3560",
    ],
};

/// "Item 'rs_…' of type 'reasoning' was provided without its required following item."
/// (<https://github.com/openai/openai-node/issues/1567>).
pub(in crate::rules) static REASONING_WITHOUT_ITEM: Rule = Rule {
    id: "openai-responses/reasoning-without-item",
    alias: "RSP-RS-1",
    summary: "Reasoning is followed by the item that came of it, with its own id.",
    why: "What the model thought was kept, and what it then said or called was dropped, or rebuilt without its `id`. \
         Keep both as they came, or drop both.",
    sentences: &["Item '{id}' of type 'reasoning' was provided without its required following item."],
    status: 400,
    phase: 4,
    is_optional: false,
    since: "2025-06",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/openai/openai-node/issues/1567",
        "https://github.com/vercel/ai/issues/7099",
        "https://github.com/openai/openai-agents-js/issues/326",
        "https://github.com/mastra-ai/mastra/issues/14048",
        "https://github.com/continuedev/continue/issues/8933",
        "https://github.com/openai/openai-agents-python/issues/1611",
    ],
};

/// "Item 'fc_…' of type 'function_call' was provided without its required 'reasoning' item: 'rs_…'."
/// (<https://github.com/continuedev/continue/pull/11785>).
pub(in crate::rules) static ITEM_WITHOUT_REASONING: Rule = Rule {
    id: "openai-responses/item-without-reasoning",
    alias: "RSP-RS-2",
    summary: "An item that came of reasoning is sent after that reasoning.",
    why: "The item was kept with its `id`, and what the model thought before was dropped. Keep the reasoning as well, \
         or send the item without its `id`.",
    sentences: &[
        "Item '{id}' of type '{type}' was provided without its required 'reasoning' item: '{reasoning}'.",
    ],
    status: 400,
    phase: 4,
    is_optional: false,
    since: "2025-06",
    confidence: Confidence::Measured,
    sources: &["https://github.com/continuedev/continue/pull/11785"],
};

/// "No tool call found for function call output with call_id call_…."
/// (<https://github.com/james-6-23/codex2api/issues/414>).
pub(in crate::rules) static TOOL_OUTPUT_ORPHAN: Rule = Rule {
    id: "openai-responses/tool-output-orphan",
    alias: "RSP-FO-1",
    summary: "Every output of a tool has its call, in the input or in the responses before.",
    why: "The call was trimmed or compacted away and its output stayed, or the output names another call. Drop both \
         or keep both.",
    sentences: &[
        "No tool call found for function call output with call_id {call_id}.",
        "No tool call found for custom tool call output with call_id {call_id}.",
    ],
    status: 400,
    phase: 5,
    is_optional: false,
    since: "2025-04",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/james-6-23/codex2api/issues/414",
        "https://github.com/agentscope-ai/AgentTeams/issues/299",
        "https://github.com/continuedev/continue/issues/10092",
        "https://github.com/microsoft/vscode/issues/320060",
    ],
};

/// "No tool output found for function call call_…."
/// (<https://github.com/router-for-me/CLIProxyAPI/issues/2368>).
pub(in crate::rules) static TOOL_OUTPUT_MISSING: Rule = Rule {
    id: "openai-responses/tool-output-missing",
    alias: "RSP-FC-1",
    summary: "Every call has its output when the conversation goes on.",
    why: "A turn was stopped, or broke, before every tool had answered, and the thread kept the calls. Store an \
         output for each of them, even if it only says that the call was interrupted.",
    sentences: &[
        "No tool output found for function call {call_id}.",
        "No tool output found for custom tool call {call_id}.",
    ],
    status: 400,
    phase: 5,
    is_optional: false,
    since: "2025-04",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/router-for-me/CLIProxyAPI/issues/2368",
        "https://github.com/openai/codex/issues/620",
        "https://github.com/RooCodeInc/Roo-Code/issues/12248",
        "https://github.com/diegosouzapw/OmniRoute/issues/8946",
    ],
};

/// "Duplicate function_call_output for call_id …" was received from a strict gateway in 2026. Nobody has seen OpenAI say
/// it.
pub(in crate::rules) static TOOL_OUTPUT_DUPLICATE: Rule = Rule {
    id: "openai-responses/tool-output-duplicate",
    alias: "RSP-FO-2",
    summary: "A call has one output.",
    why: "The output of an interrupted call was made up, and the real one was stored as well. Keep one of them.",
    sentences: &["Duplicate function_call_output for call_id {call_id}."],
    status: 400,
    phase: 5,
    is_optional: false,
    since: "2026-01",
    confidence: Confidence::Inferred,
    sources: &["https://platform.openai.com/docs/api-reference/responses/create"],
};

/// "No tool output found for tool call call-a.": a message stood between two calls whose outputs both came after it
/// (<https://github.com/pydantic/pydantic-ai/blob/4fda38988f2939fa6ea9cdefcf120693e10ef491/tests/models/cassettes/test_deepseek_responses/test_deepseek_responses_rejects_interleaved_function_calls.yaml>).
pub(in crate::rules) static TOOL_OUTPUTS_INTERRUPTED: Rule = Rule {
    id: "openai-responses/tool-outputs-interrupted",
    alias: "RSP-DS-1",
    summary: "No message stands between a call and its output.",
    why: "The provider turns the items into messages of Chat Completions, in which outputs come directly after the \
         calls. Send all calls of a reply, then all their outputs, and messages before or after them.",
    sentences: &["No tool output found for tool call {call_id}."],
    status: 400,
    phase: 5,
    is_optional: true,
    since: "2026-09",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/pydantic/pydantic-ai/blob/4fda38988f2939fa6ea9cdefcf120693e10ef491/tests/models/cassettes/test_deepseek_responses/test_deepseek_responses_rejects_interleaved_function_calls.yaml",
    ],
};
