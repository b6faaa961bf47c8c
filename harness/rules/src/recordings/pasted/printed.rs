//! The messages of frameworks, as their programs print them.
//!
//! Where a class has no field for its kind, [`literal`](super::literal) adds one.

use serde_json::Value;

use super::traces::{call, of_langchain, result, role, text_of, word};
use crate::histories::{Block, Call, Message, Role};

/// Returns whether a value is one message.
pub(super) fn is_message(value: &Value) -> bool {
    const ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];
    let has = |name: &str| value.get(name).is_some();
    let is_chat = ROLES.contains(&word(value, "role").as_str()) && (has("content") || has("tool_calls"));
    is_chat || of_langchain(&Value::Array(vec![value.clone()])).is_some()
}

/// A list of pydantic-ai's messages
/// (`pydantic_ai_slim/pydantic_ai/messages.py` of <https://github.com/pydantic/pydantic-ai>).
pub(super) fn of_pydantic_ai(list: &Value) -> Option<Vec<Message>> {
    let list = list.as_array().filter(|list| !list.is_empty())?;
    let mut messages = Vec::new();
    for message in list {
        let parts = message.get("parts")?.as_array()?;
        match message.get("kind")?.as_str()? {
            // Each part of a request is a message of its own.
            "request" => messages.extend(parts.iter().map(request_part).collect::<Option<Vec<_>>>()?),
            "response" => {
                let blocks = parts.iter().filter_map(response_part).collect();
                messages.push(Message { role: Role::Assistant, blocks });
            }
            _ => return None,
        }
    }
    Some(messages)
}

fn request_part(part: &Value) -> Option<Message> {
    let content = || part.get("content").cloned().unwrap_or_default();
    let text = |role: Role| Message { role, blocks: text_of(&content()).into_iter().collect() };
    let answers = || Message {
        role: Role::Tool,
        blocks: vec![result(part, "tool_call_id", Some(&Value::String(as_text(&content()))))],
    };
    match part.get("part_kind")?.as_str()? {
        "system-prompt" => Some(text(Role::System)),
        "user-prompt" => Some(text(Role::User)),
        "tool-return" => Some(answers()),
        // Without a tool, the model is asked to answer in another form.
        "retry-prompt" if part.get("tool_name").is_some_and(Value::is_string) => Some(answers()),
        "retry-prompt" => Some(text(Role::User)),
        _ => None,
    }
}

fn response_part(part: &Value) -> Option<Block> {
    match part.get("part_kind")?.as_str()? {
        "text" => text_of(part.get("content")?),
        "tool-call" => {
            let Block::Call(made) = call(part, "tool_call_id", "tool_name", "args") else { return None };
            // A call without arguments is sent with an empty object.
            let arguments = if made.arguments.is_empty() { "{}".to_owned() } else { made.arguments };
            Some(Block::Call(Call { arguments, ..made }))
        }
        _ => None,
    }
}

fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A list of AgentScope's messages. Results are blocks in messages of the role `system`
/// (`src/agentscope/message` of <https://github.com/agentscope-ai/agentscope>).
pub(super) fn of_agentscope(list: &Value) -> Option<Vec<Message>> {
    let list = list.as_array()?;
    let blocks =
        |message: &Value| message.get("content").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_result = |block: &Value| {
        word(block, "type") == "tool_result" && block.get("output").is_some() && block.get("id").is_some()
    };
    if !list.iter().any(|message| blocks(message).iter().any(is_result)) {
        return None;
    }
    let block = |block: &Value| match word(block, "type").as_str() {
        "text" => text_of(block.get("text")?),
        "thinking" => None,
        "tool_use" => Some(call(block, "id", "name", "input")),
        "tool_result" => Some(result(block, "id", block.get("output"))),
        _ => Some(Block::Text(block.to_string())),
    };
    let message = |message: &Value| {
        let blocks: Vec<Block> = match message.get("content")? {
            Value::Array(blocks) => blocks.iter().filter_map(block).collect(),
            content => text_of(content).into_iter().collect(),
        };
        let is_result = matches!(blocks.first(), Some(Block::Result(_)));
        Some(Message { role: if is_result { Role::Tool } else { role(message) }, blocks })
    };
    list.iter().map(message).collect()
}
