//! OpenAI Chat Completions: what our agent posts.

use serde_json::{Value, json};

use super::{Asks, list, string};
use crate::agent::Tool;
use crate::agent::thread::{Block, Call, CallResult, Message};
use brickbat_scenario::wire::json_string;

/// Requests of `openai-chat`.
pub(super) struct OpenaiChat;

impl Asks for OpenaiChat {
    fn current_model(&self) -> &'static str {
        "gpt-4.1"
    }

    fn tool(&self, tool: &Tool) -> Value {
        let Tool { name, description, input_schema, .. } = tool;
        json!({
            "type": "function",
            "function": { "name": name, "description": description, "parameters": input_schema },
        })
    }

    fn before(&self, out: &mut Vec<u8>, model: &str) {
        string(out, br#"{"model":"#, model);
        out.extend_from_slice(br#","messages":"#);
    }

    fn messages(&self, out: &mut Vec<u8>, thread: &[Message]) {
        list(out, thread.iter().filter(|message| !is_empty(message)), messages_of);
    }
}

/// Results that a canary made up of no calls.
fn is_empty(message: &Message) -> bool {
    matches!(message, Message::Results(results) if results.is_empty())
}

fn messages_of(out: &mut Vec<u8>, message: &Message) {
    match message {
        Message::User(text) => {
            string(out, br#"{"role":"user","content":"#, text);
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
            Block::Thought(_) => {}
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
    string(out, br#"{"id":"#, &call.id);
    string(out, br#","type":"function","function":{"name":"#, &call.tool);
    string(out, br#","arguments":"#, &call.args);
    out.extend_from_slice(b"}}");
}

fn result(out: &mut Vec<u8>, result: &CallResult) {
    string(out, br#"{"role":"tool","tool_call_id":"#, &result.call_id);
    string(out, br#","content":"#, &result.text);
    out.push(b'}');
}
