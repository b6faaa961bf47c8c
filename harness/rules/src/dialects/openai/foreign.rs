//! Types that only other dialects have. They remain in a thread when the user switches providers.
//!
//! The lists are closed. An unknown type may be a new type of the provider, so it passes.

/// Anthropic Messages blocks.
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

/// OpenAI Responses parts that no other dialect has.
const RESPONSES_PARTS: [&str; 7] = [
    "input_text",
    "output_text",
    "input_image",
    "input_file",
    "summary_text",
    "reasoning_text",
    "computer_screenshot",
];

/// OpenAI Responses items that were seen in place of a part.
const RESPONSES_ITEMS: [&str; 5] =
    ["function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning"];

/// OpenAI Chat Completions parts with names that no Responses item or part has.
const CHAT: [&str; 3] = ["text", "image_url", "file"];

/// AI SDK parts, and the types that LangChain gives to Gemini parts and to calls.
const LIBRARIES: [&str; 6] =
    ["tool-call", "tool-result", "tool-approval-request", "tool_call", "functionCall", "functionResponse"];

/// Returns whether a part certainly does not belong to OpenAI Chat Completions.
pub(crate) fn is_foreign_to_chat(kind: &str) -> bool {
    [&ANTHROPIC[..], &RESPONSES_PARTS, &RESPONSES_ITEMS, &LIBRARIES].iter().any(|list| list.contains(&kind))
}

/// Returns whether a part certainly does not belong to OpenAI Responses.
pub(crate) fn is_foreign_part_to_responses(kind: &str) -> bool {
    [&ANTHROPIC[..], &CHAT, &RESPONSES_ITEMS, &LIBRARIES].iter().any(|list| list.contains(&kind))
}

/// Returns whether an item certainly does not belong to OpenAI Responses. Converters make `tool` from a
/// role of Chat Completions.
pub(crate) fn is_foreign_item_to_responses(kind: &str) -> bool {
    [&ANTHROPIC[..], &CHAT, &RESPONSES_PARTS, &LIBRARIES].iter().any(|list| list.contains(&kind))
        || kind == "tool"
}
