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
    let has_parts = value.get("parts").is_some_and(|parts| parts.get(0).is_some_and(Value::is_object));
    let is_content = matches!(word(value, "role").as_str(), "user" | "model") && has_parts;
    let is_item = match word(value, "type").as_str() {
        "function_call" | "function_call_output" | "custom_tool_call" | "custom_tool_call_output" => {
            has("call_id")
        }
        "reasoning" => has("summary") || has("encrypted_content"),
        "item_reference" => has("id"),
        _ => false,
    };
    let is_prism = PRISM.contains(&word(value, "type").as_str());
    is_chat || is_content || is_item || is_prism || of_langchain(&Value::Array(vec![value.clone()])).is_some()
}

/// The names of Prism's messages, except that of instructions, which LangChain has too.
const PRISM: [&str; 3] = ["UserMessage", "AssistantMessage", "ToolResultMessage"];

/// A list of Prism's messages (`src/ValueObjects` of <https://github.com/prism-php/prism>).
pub(super) fn of_prism(list: &Value) -> Option<Vec<Message>> {
    let list = list.as_array().filter(|list| !list.is_empty())?;
    let kind = |message: &Value| word(message, "type");
    if !list.iter().any(|message| PRISM.contains(&kind(message).as_str())) {
        return None;
    }
    let inner = |message: &Value, name: &str| {
        message.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let message = |message: &Value| {
        let role = match kind(message).as_str() {
            "SystemMessage" => Role::System,
            "UserMessage" => Role::User,
            "AssistantMessage" => Role::Assistant,
            "ToolResultMessage" => Role::Tool,
            _ => return None,
        };
        let mut blocks: Vec<Block> = match message.get("content") {
            // Calls are in the content of another framework's messages.
            Some(Value::Array(_)) => return None,
            content => content.and_then(text_of).into_iter().collect(),
        };
        blocks.extend(inner(message, "toolCalls").iter().map(|own| call(own, "id", "name", "arguments")));
        blocks.extend(
            inner(message, "toolResults").iter().map(|own| result(own, "toolCallId", own.get("result"))),
        );
        Some(Message { role, blocks })
    };
    list.iter().map(message).collect()
}

/// A list of RubyLLM's messages. The calls are a map by id (`lib/ruby_llm/message.rb` of
/// <https://github.com/crmne/ruby_llm>).
pub(super) fn of_ruby_llm(list: &Value) -> Option<Vec<Message>> {
    let list = list.as_array()?;
    let is_own =
        |message: &Value| message.get("tool_calls").is_some() && message.get("tool_call_id").is_some();
    let has_maps =
        |message: &Value| message["tool_calls"].is_object() || message["content"].get("text").is_some();
    if !list.iter().all(is_own) || !list.iter().any(has_maps) {
        return None;
    }
    let message = |message: &Value| {
        let content = message.get("content").map(|content| content.get("text").unwrap_or(content));
        let role = role(message);
        let mut blocks = match role {
            Role::Tool => vec![result(message, "tool_call_id", content)],
            Role::System | Role::User | Role::Assistant => content.and_then(text_of).into_iter().collect(),
        };
        let calls = message["tool_calls"].as_object().into_iter().flat_map(serde_json::Map::values);
        blocks.extend(calls.map(|own| call(own, "id", "name", "arguments")));
        Message { role, blocks }
    };
    Some(list.iter().map(message).collect())
}

/// A list of the items of LiveKit Agents. A message has a list of texts
/// (`livekit-agents/livekit/agents/llm/chat_context.py` of <https://github.com/livekit/agents>).
pub(super) fn of_livekit(list: &Value) -> Option<Vec<Message>> {
    let list = list.as_array()?;
    let texts = |item: &Value| {
        let texts = item.get("content")?.as_array()?.iter().map(|text| Some(text.as_str()?.to_owned()));
        texts.collect::<Option<Vec<String>>>()
    };
    let has_role = |item: &Value| item.get("role").is_some();
    if !list.iter().any(|item| has_role(item) && texts(item).is_some_and(|texts| !texts.is_empty())) {
        return None;
    }
    let message = |item: &Value| match word(item, "type").as_str() {
        "function_call" => {
            Some(Message { role: Role::Assistant, blocks: vec![call(item, "call_id", "name", "arguments")] })
        }
        "function_call_output" => {
            Some(Message { role: Role::Tool, blocks: vec![result(item, "call_id", item.get("output"))] })
        }
        "" | "message" if has_role(item) => {
            Some(Message { role: role(item), blocks: texts(item)?.into_iter().map(Block::Text).collect() })
        }
        _ => None,
    };
    let mut messages: Vec<Message> = Vec::new();
    for message in list.iter().map(message) {
        let message = message?;
        // The calls of a reply are items of their own.
        let is_of_reply = message.role == Role::Assistant && matches!(message.blocks[..], [Block::Call(_)]);
        match messages.last_mut().filter(|last| is_of_reply && last.role == Role::Assistant) {
            Some(last) => last.blocks.extend(message.blocks),
            None => messages.push(message),
        }
    }
    Some(messages)
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
