//! Types that only other dialects have: what stays in a thread when the provider is changed in the middle of it.
//!
//! The lists are closed. An unknown type may be a new one of the provider's own, and passes.

/// Blocks of Anthropic Messages.
const ANTHROPIC: [&str; 18] = [
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "image",
    "document",
    "server_tool_use",
    "mcp_tool_use",
    "mcp_tool_result",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "tool_reference",
    "search_result",
    "container_upload",
];

/// Parts of OpenAI Responses that no other dialect has.
const RESPONSES_PARTS: [&str; 7] = [
    "input_text",
    "output_text",
    "input_image",
    "input_file",
    "summary_text",
    "reasoning_text",
    "computer_screenshot",
];

/// Items of OpenAI Responses that were seen where a part should be.
const RESPONSES_ITEMS: [&str; 5] =
    ["function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning"];

/// Parts of OpenAI Chat Completions that no item and no part of Responses is named after.
const CHAT: [&str; 3] = ["text", "image_url", "file"];

/// Parts of the AI SDK, and parts of Gemini and calls as LangChain types them.
const LIBRARIES: [&str; 6] =
    ["tool-call", "tool-result", "tool-approval-request", "tool_call", "functionCall", "functionResponse"];

/// Whether a part of a message is certainly not one of OpenAI Chat Completions.
pub(crate) fn is_foreign_to_chat(kind: &str) -> bool {
    [&ANTHROPIC[..], &RESPONSES_PARTS, &RESPONSES_ITEMS, &LIBRARIES].iter().any(|list| list.contains(&kind))
}

/// Whether a part of a message is certainly not one of OpenAI Responses.
pub(crate) fn is_foreign_part_to_responses(kind: &str) -> bool {
    [&ANTHROPIC[..], &CHAT, &RESPONSES_ITEMS, &LIBRARIES].iter().any(|list| list.contains(&kind))
}

/// Whether an item is certainly not one of OpenAI Responses. `tool` is what the role of Chat Completions was made into.
pub(crate) fn is_foreign_item_to_responses(kind: &str) -> bool {
    [&ANTHROPIC[..], &CHAT, &RESPONSES_PARTS, &LIBRARIES].iter().any(|list| list.contains(&kind))
        || kind == "tool"
}
