//! Which dialect a body or a bare list of messages is written in.

use serde_json::Value;

use crate::dialect::Dialect;

/// The dialect of a request body or of a bare list of messages, by the first thing that only one dialect has.
///
/// `None` means that it is no conversation, or one that both dialects could have written, such as a lone user
/// message without a model name. A message that both could have written is passed over; the model's name
/// decides only where no message does.
pub fn detect(body: &Value) -> Option<Dialect> {
    let messages = match body {
        Value::Array(messages) => messages,
        _ => body.get("messages")?.as_array()?,
    };
    messages.iter().find_map(of_message).or_else(|| of_request(body))
}

fn of_message(message: &Value) -> Option<Dialect> {
    let has = |field| message.get(field).is_some();
    match message.get("role")?.as_str()? {
        "tool" | "developer" | "function" => return Some(Dialect::OpenaiChat),
        _ if has("tool_calls") || has("tool_call_id") || has("function_call") || has("refusal") => {
            return Some(Dialect::OpenaiChat);
        }
        _ => {}
    }
    match message.get("content")? {
        Value::Array(blocks) => blocks.iter().find_map(of_block),
        Value::Null => Some(Dialect::OpenaiChat),
        _ => None,
    }
}

fn of_block(block: &Value) -> Option<Dialect> {
    match block.get("type")?.as_str()? {
        "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "server_tool_use"
        | "mcp_tool_use" | "image" | "document" => Some(Dialect::AnthropicMessages),
        "image_url" | "input_audio" | "file" | "refusal" => Some(Dialect::OpenaiChat),
        name if name.ends_with("_tool_result") => Some(Dialect::AnthropicMessages),
        _ => None,
    }
}

/// Fields of a request that only Anthropic knows.
const ANTHROPIC_FIELDS: [&str; 5] =
    ["system", "anthropic_version", "stop_sequences", "mcp_servers", "output_config"];

/// Fields of a request that only OpenAI knows.
const OPENAI_FIELDS: [&str; 6] = [
    "max_completion_tokens",
    "parallel_tool_calls",
    "reasoning_effort",
    "response_format",
    "stream_options",
    "stop",
];

fn of_request(body: &Value) -> Option<Dialect> {
    let has = |field: &&str| body.get(*field).is_some();
    let tool_has = |field| body.pointer("/tools/0").is_some_and(|tool| tool.get(field).is_some());
    if ANTHROPIC_FIELDS.iter().any(has) || tool_has("input_schema") {
        return Some(Dialect::AnthropicMessages);
    }
    // A system prompt as the first message is OpenAI's way; Anthropic refuses it.
    let first = match body {
        Value::Array(messages) => messages.first(),
        _ => body.pointer("/messages/0"),
    };
    let starts_with_system =
        first.and_then(|message| message.get("role")).is_some_and(|role| role == "system");
    if starts_with_system || OPENAI_FIELDS.iter().any(has) || tool_has("function") {
        return Some(Dialect::OpenaiChat);
    }
    // Gateways with OpenAI's API name Claude `anthropic/claude-…`.
    match body.get("model")?.as_str()? {
        model if model.contains("claude-") && !model.contains('/') => Some(Dialect::AnthropicMessages),
        model if model.contains("claude-") || model.contains("gpt-") => Some(Dialect::OpenaiChat),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_roles_and_fields_give_a_dialect_away() {
        let call = json!([{ "role": "user", "content": "hi" }, { "role": "assistant", "content": [{ "type": "tool_use" }] }]);
        assert_eq!(detect(&call), Some(Dialect::AnthropicMessages));
        let tool = json!({ "messages": [{ "role": "tool", "content": "42", "tool_call_id": "call_1" }] });
        assert_eq!(detect(&tool), Some(Dialect::OpenaiChat));
        let system =
            json!([{ "role": "system", "content": "Be brief." }, { "role": "user", "content": "hi" }]);
        assert_eq!(detect(&system), Some(Dialect::OpenaiChat));
        let model = json!({ "model": "claude-sonnet-5", "messages": [{ "role": "user", "content": "hi" }] });
        assert_eq!(detect(&model), Some(Dialect::AnthropicMessages));
    }

    #[test]
    fn what_both_could_have_written_stays_open() {
        assert_eq!(detect(&json!([{ "role": "user", "content": "hi" }])), None);
        assert_eq!(detect(&json!({ "contents": [] })), None);
        assert_eq!(detect(&json!(null)), None);
    }
}
