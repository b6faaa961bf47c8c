//! From a thread to a request body.
//!
//! Bodies are written as bytes, without a tree of values between: every plan writes several of them.

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::thread::{Block, Call, CallResult, Message};
use super::{Delivery, Setup, Tool};
use crate::dialect::Dialect;
use crate::wire::json_string;

/// The body that asks for the next reply.
pub(super) fn body(setup: &Setup, thread: &[Message]) -> Vec<u8> {
    let mut out = Vec::with_capacity(2048);
    string(&mut out, br#"{"model":"#, &setup.model);
    out.extend_from_slice(match setup.dialect {
        Dialect::AnthropicMessages => br#","max_tokens":1024,"messages":"#,
        Dialect::OpenaiChat => br#","messages":"#,
    });
    write_messages(&mut out, setup.dialect, thread);
    out.extend_from_slice(match setup.delivery {
        Delivery::Streamed => br#","stream":true"#,
        Delivery::Whole => br#","stream":false"#,
    });
    if !setup.declared.is_empty() {
        out.extend_from_slice(br#","tools":"#);
        out.extend_from_slice(setup.declared.as_bytes());
    }
    out.push(b'}');
    out
}

/// The messages of a thread, as a JSON array.
pub(super) fn messages(dialect: Dialect, thread: &[Message]) -> Vec<u8> {
    let mut out = Vec::new();
    write_messages(&mut out, dialect, thread);
    out
}

fn write_messages(out: &mut Vec<u8>, dialect: Dialect, thread: &[Message]) {
    out.push(b'[');
    match dialect {
        Dialect::AnthropicMessages => list(out, thread, anthropic_message),
        Dialect::OpenaiChat => list(out, thread, openai_messages),
    }
    out.push(b']');
}

/// The model that is asked where none was named.
pub(super) fn current_model(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::AnthropicMessages => "claude-haiku-4-5",
        Dialect::OpenaiChat => "gpt-4.1",
    }
}

/// The tools as every request declares them; empty where there are none.
pub(super) fn declared(dialect: Dialect, tools: &[Tool]) -> String {
    match tools {
        [] => String::new(),
        tools => Value::Array(tools.iter().map(|tool| tool_of(dialect, tool)).collect()).to_string(),
    }
}

/// Writes items with commas between them.
fn list<T>(out: &mut Vec<u8>, items: impl IntoIterator<Item = T>, write: impl Fn(&mut Vec<u8>, T)) {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, item);
    }
}

/// Writes what stands before a string, and the string.
fn string(out: &mut Vec<u8>, before: &[u8], text: &str) {
    out.extend_from_slice(before);
    json_string(out, text);
}

fn anthropic_message(out: &mut Vec<u8>, message: &Message) {
    match message {
        Message::User(text) => {
            string(out, br#"{"role":"user","content":[{"type":"text","text":"#, text);
            out.push(b'}');
        }
        Message::Assistant(blocks) => {
            out.extend_from_slice(br#"{"role":"assistant","content":["#);
            list(out, blocks, anthropic_block);
        }
        Message::Results(results) => {
            out.extend_from_slice(br#"{"role":"user","content":["#);
            list(out, results, anthropic_result);
        }
    }
    out.extend_from_slice(b"]}");
}

fn anthropic_block(out: &mut Vec<u8>, block: &Block) {
    match block {
        Block::Text(text) => string(out, br#"{"type":"text","text":"#, text),
        Block::Call(call) => {
            string(out, br#"{"type":"tool_use","id":"#, &call.id);
            string(out, br#","name":"#, &call.tool);
            out.extend_from_slice(br#","input":"#);
            // A canary keeps calls whose arguments never became complete.
            let is_json = serde_json::from_str::<IgnoredAny>(&call.args).is_ok();
            out.extend_from_slice(if is_json { call.args.as_bytes() } else { b"{}" });
        }
    }
    out.push(b'}');
}

fn anthropic_result(out: &mut Vec<u8>, result: &CallResult) {
    string(out, br#"{"type":"tool_result","tool_use_id":"#, &result.call_id);
    string(out, br#","content":"#, &result.text);
    out.extend_from_slice(if result.is_error { br#","is_error":true}"# } else { b"}" });
}

fn openai_messages(out: &mut Vec<u8>, message: &Message) {
    match message {
        Message::User(text) => {
            string(out, br#"{"role":"user","content":"#, text);
            out.push(b'}');
        }
        Message::Assistant(blocks) => openai_assistant(out, blocks),
        Message::Results(results) => list(out, results, openai_result),
    }
}

fn openai_assistant(out: &mut Vec<u8>, blocks: &[Block]) {
    let mut text = String::new();
    let mut calls = Vec::new();
    for block in blocks {
        match block {
            Block::Text(piece) => text.push_str(piece),
            Block::Call(call) => calls.push(call),
        }
    }
    out.extend_from_slice(br#"{"role":"assistant","content":"#);
    match text.as_str() {
        "" => out.extend_from_slice(b"null"),
        text => json_string(out, text),
    }
    if !calls.is_empty() {
        out.extend_from_slice(br#","tool_calls":["#);
        list(out, calls, openai_call);
        out.push(b']');
    }
    out.push(b'}');
}

fn openai_call(out: &mut Vec<u8>, call: &Call) {
    string(out, br#"{"id":"#, &call.id);
    string(out, br#","type":"function","function":{"name":"#, &call.tool);
    string(out, br#","arguments":"#, &call.args);
    out.extend_from_slice(b"}}");
}

fn openai_result(out: &mut Vec<u8>, result: &CallResult) {
    string(out, br#"{"role":"tool","tool_call_id":"#, &result.call_id);
    string(out, br#","content":"#, &result.text);
    out.push(b'}');
}

fn tool_of(dialect: Dialect, tool: &Tool) -> Value {
    let Tool { name, description, input_schema, .. } = tool;
    match dialect {
        Dialect::AnthropicMessages => {
            json!({ "name": name, "description": description, "input_schema": input_schema })
        }
        Dialect::OpenaiChat => json!({
            "type": "function",
            "function": { "name": name, "description": description, "parameters": input_schema },
        }),
    }
}
