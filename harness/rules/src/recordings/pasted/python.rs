//! The messages of AutoGen, LlamaIndex, Agent Framework and LangChain for Elixir, as programs print them.

use serde_json::{Value, json};

use super::traces::{call, of_chat, result, role, text_of, word};
use crate::histories::{Block, Message, Role};

/// A list of AutoGen's messages
/// (`python/packages/autogen-core/src/autogen_core/models/_types.py` of <https://github.com/microsoft/autogen>).
pub(super) fn of_execution_results(list: &Value) -> Option<Vec<Message>> {
    let list = list.as_array()?;
    let kind = |message: &Value| word(message, "type");
    let is_own = |message: &Value| {
        let has_source = message.get("source").is_some() && message.get("content").is_some();
        let is_named = matches!(kind(message).as_str(), "UserMessage" | "AssistantMessage");
        kind(message) == "FunctionExecutionResultMessage" || is_named && has_source
    };
    if !list.iter().any(is_own) {
        return None;
    }
    let message = |message: &Value| {
        let role = match kind(message).as_str() {
            "SystemMessage" => Role::System,
            "UserMessage" => Role::User,
            "AssistantMessage" => Role::Assistant,
            "FunctionExecutionResultMessage" => Role::Tool,
            _ => return None,
        };
        let block = |item: &Value| match role {
            Role::Tool => Some(result(item, "call_id", item.get("content"))),
            _ if item.get("arguments").is_some() => Some(call(item, "id", "name", "arguments")),
            _ => text_of(item),
        };
        let blocks = match message.get("content")? {
            Value::Array(items) => items.iter().filter_map(block).collect(),
            content => text_of(content).into_iter().collect(),
        };
        Some(Message { role, blocks })
    };
    list.iter().map(message).collect()
}

/// A list of the messages of Microsoft's Agent Framework. Python writes the kind of a content as `function_call`, .NET as
/// `functionCall` (`python/packages/core/agent_framework/_types.py` of <https://github.com/microsoft/agent-framework>).
pub(super) fn of_agent_framework(list: &Value) -> Option<Vec<Message>> {
    let list = list.as_array()?;
    let contents = |message: &Value| message.get("contents").and_then(Value::as_array).cloned();
    if !list.iter().any(|message| message.get("role").is_some() && contents(message).is_some()) {
        return None;
    }
    let kind = |content: &Value| match word(content, "type") {
        kind if kind.is_empty() => word(content, "$type"),
        kind => kind,
    };
    let id = |content: &Value| if content.get("callId").is_some() { "callId" } else { "call_id" };
    let block = |content: &Value| match kind(content).as_str() {
        "text" => text_of(content.get("text")?),
        "function_call" | "functionCall" => Some(call(content, id(content), "name", "arguments")),
        "function_result" | "functionResult" => Some(result(content, id(content), content.get("result"))),
        _ => None,
    };
    let message = |message: &Value| {
        let blocks = contents(message)?.iter().filter_map(block).collect();
        Some(Message { role: role(message), blocks })
    };
    list.iter().map(message).collect()
}

/// A list of LlamaIndex's messages
/// (`llama-index-core/llama_index/core/base/llms/types.py` of <https://github.com/run-llama/llama_index>).
pub(super) fn of_llama_index(list: &Value) -> Option<Vec<Message>> {
    let list = list.as_array().filter(|list| !list.is_empty())?;
    if !list.iter().all(|message| message.get("role").is_some() && message.get("additional_kwargs").is_some())
    {
        return None;
    }
    let message = |own: &Value| {
        let more = &own["additional_kwargs"];
        let blocks = own.get("blocks").and_then(Value::as_array).cloned().unwrap_or_default();
        let texts: Vec<Block> = match own.get("content").and_then(text_of) {
            Some(text) => vec![text],
            None => blocks.iter().filter_map(|block| text_of(block.get("text")?)).collect(),
        };
        if role(own) == Role::Tool {
            return vec![Message { role: Role::Tool, blocks: vec![result_of(more, texts)] }];
        }
        let calls = more.get("tool_calls").cloned().unwrap_or_default();
        let calls = of_chat(&json!([{ "role": "assistant", "tool_calls": calls }])).unwrap_or_default();
        let of_blocks = blocks.iter().filter(|block| block.get("tool_kwargs").is_some());
        let of_blocks: Vec<Block> =
            of_blocks.map(|block| call(block, "tool_call_id", "tool_name", "tool_kwargs")).collect();
        let calls: Vec<Block> = calls.into_iter().flat_map(|message| message.blocks).collect();
        let calls = if calls.is_empty() { of_blocks } else { calls };
        vec![Message { role: role(own), blocks: texts.into_iter().chain(calls).collect() }]
    };
    Some(list.iter().flat_map(message).collect())
}

/// A list of the messages of LangChain for Elixir, which have their results inside
/// (`lib/message.ex` of <https://github.com/brainlid/langchain>).
pub(super) fn of_inner_results(list: &Value) -> Option<Vec<Message>> {
    let list = list.as_array()?;
    let inner = |message: &Value, name: &str| {
        message.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let has_results = |message: &Value| {
        inner(message, "tool_results").iter().any(|result| result.get("tool_call_id").is_some())
            || inner(message, "tool_calls").iter().any(|call| call.get("call_id").is_some())
    };
    if !list.iter().all(|message| message.get("role").is_some()) || !list.iter().any(has_results) {
        return None;
    }
    let message = |message: &Value| {
        let mut blocks: Vec<Block> = message.get("content").and_then(text_of).into_iter().collect();
        blocks
            .extend(inner(message, "tool_calls").iter().map(|own| call(own, "call_id", "name", "arguments")));
        blocks.extend(
            inner(message, "tool_results").iter().map(|own| result(own, "tool_call_id", own.get("content"))),
        );
        Message { role: role(message), blocks }
    };
    Some(list.iter().map(message).collect())
}

/// The result with these fields beside it and these texts.
fn result_of(fields: &Value, texts: Vec<Block>) -> Block {
    match result(fields, "tool_call_id", None) {
        Block::Result(own) => Block::Result(crate::histories::CallResult { output: texts, ..own }),
        other => other,
    }
}
