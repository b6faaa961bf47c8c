//! From a thread to a request body.

use serde_json::{Map, Value, json};

use super::thread::{Block, Message};
use super::{Delivery, Setup};
use crate::dialect::Dialect;
use crate::plan::PlannedTool;

/// The body that asks for the next reply.
pub(super) fn body(setup: &Setup, thread: &[Message]) -> Vec<u8> {
    let streamed = setup.delivery == Delivery::Streamed;
    let tools: Vec<Value> = setup.tools.iter().map(|tool| tool_of(setup.dialect, tool)).collect();
    let mut body = match setup.dialect {
        Dialect::AnthropicMessages => json!({
            "model": "claude-haiku-4-5",
            "max_tokens": 1024,
            "messages": anthropic_messages(thread),
            "stream": streamed,
        }),
        Dialect::OpenaiChat => json!({
            "model": "gpt-4.1",
            "messages": openai_messages(thread),
            "stream": streamed,
        }),
    };
    if !tools.is_empty() {
        body["tools"] = Value::Array(tools);
    }
    body.to_string().into_bytes()
}

fn anthropic_messages(thread: &[Message]) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::new();
    for message in thread {
        let (role, blocks): (&str, Vec<Value>) = match message {
            Message::User(text) => ("user", vec![json!({ "type": "text", "text": text })]),
            Message::Assistant(blocks) => ("assistant", blocks.iter().map(anthropic_block).collect()),
            Message::Results(results) => {
                let blocks = results.iter().map(|result| {
                    let mut block = json!({
                        "type": "tool_result",
                        "tool_use_id": result.call_id,
                        "content": result.text,
                    });
                    if result.is_error {
                        block["is_error"] = Value::Bool(true);
                    }
                    block
                });
                ("user", blocks.collect())
            }
        };
        messages.push(json!({ "role": role, "content": blocks }));
    }
    messages
}

fn anthropic_block(block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Call(call) => {
            let input: Value = serde_json::from_str(&call.args).unwrap_or_else(|_| Value::Object(Map::new()));
            json!({ "type": "tool_use", "id": call.id, "name": call.tool, "input": input })
        }
    }
}

fn openai_messages(thread: &[Message]) -> Vec<Value> {
    let mut messages = Vec::new();
    for message in thread {
        match message {
            Message::User(text) => messages.push(json!({ "role": "user", "content": text })),
            Message::Assistant(blocks) => messages.push(openai_assistant(blocks)),
            Message::Results(results) => messages.extend(results.iter().map(
                |result| json!({ "role": "tool", "tool_call_id": result.call_id, "content": result.text }),
            )),
        }
    }
    messages
}

fn openai_assistant(blocks: &[Block]) -> Value {
    let mut text = String::new();
    let mut calls = Vec::new();
    for block in blocks {
        match block {
            Block::Text(piece) => text.push_str(piece),
            Block::Call(call) => calls.push(json!({
                "id": call.id,
                "type": "function",
                "function": { "name": call.tool, "arguments": call.args },
            })),
        }
    }
    let content = if text.is_empty() { Value::Null } else { Value::String(text) };
    let mut message = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    message
}

fn tool_of(dialect: Dialect, tool: &PlannedTool) -> Value {
    let schema = tool.input_schema();
    match dialect {
        Dialect::AnthropicMessages => {
            json!({ "name": tool.name, "description": DESCRIPTION, "input_schema": schema })
        }
        Dialect::OpenaiChat => json!({
            "type": "function",
            "function": { "name": tool.name, "description": DESCRIPTION, "parameters": schema },
        }),
    }
}

const DESCRIPTION: &str = "A tool of the harness.";
