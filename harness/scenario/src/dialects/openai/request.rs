//! OpenAI Chat Completions: writes client requests.

use serde_json::json;

use crate::wire::json_string;
use crate::wire::request::{RequestForm, list, prefixed};
use crate::wire::thread::{Block, Call, CallResult, Message};

pub(crate) const FORM: RequestForm = RequestForm {
    current_model: "gpt-4.1",
    newer_model: None,
    head: r#","messages":"#,
    thinking: "",
    usage: r#","stream_options":{"include_usage":true}"#,
    tool: |tool| {
        json!({
            "type": "function",
            "function": { "name": tool.name, "description": tool.description, "parameters": tool.input_schema },
        })
    },
    search: None,
    declarations_key: None,
    messages: |out, thread| list(out, thread.iter().filter(|message| !is_empty(message)), messages_of),
};

/// True for results without calls, which a flawed client invented.
fn is_empty(message: &Message) -> bool {
    matches!(message, Message::Results(results) if results.is_empty())
}

fn messages_of(out: &mut Vec<u8>, message: &Message) {
    match message {
        Message::User(text) => {
            prefixed(out, br#"{"role":"user","content":"#, text);
            out.push(b'}');
        }
        Message::Assistant(blocks) => assistant(out, blocks),
        Message::Results(results) => list(out, results, result),
    }
}

fn assistant(out: &mut Vec<u8>, blocks: &[Block]) {
    let mut text = String::new();
    let mut calls = Vec::new();
    for block in blocks {
        match block {
            Block::Thought(_) | Block::Server(_) => {}
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
        list(out, calls, call);
        out.push(b']');
    }
    out.push(b'}');
}

fn call(out: &mut Vec<u8>, call: &Call) {
    prefixed(out, br#"{"id":"#, &call.id);
    prefixed(out, br#","type":"function","function":{"name":"#, &call.tool);
    prefixed(out, br#","arguments":"#, &call.args);
    out.extend_from_slice(b"}}");
}

fn result(out: &mut Vec<u8>, result: &CallResult) {
    prefixed(out, br#"{"role":"tool","tool_call_id":"#, &result.call_id);
    prefixed(out, br#","content":"#, &result.text);
    out.push(b'}');
}
