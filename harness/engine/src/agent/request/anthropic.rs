//! Anthropic Messages: what our agent posts.

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::{Asks, list, string};
use crate::agent::Tool;
use crate::agent::thread::{Block, CallResult, Message};

/// Requests of `anthropic-messages`.
pub(super) struct AnthropicMessages;

impl Asks for AnthropicMessages {
    fn current_model(&self) -> &'static str {
        "claude-haiku-4-5"
    }

    fn tool(&self, tool: &Tool) -> Value {
        let Tool { name, description, input_schema, .. } = tool;
        json!({ "name": name, "description": description, "input_schema": input_schema })
    }

    fn before(&self, out: &mut Vec<u8>, model: &str) {
        string(out, br#"{"model":"#, model);
        out.extend_from_slice(br#","max_tokens":2048,"messages":"#);
    }

    /// The smallest budget (<https://platform.claude.com/docs/en/build-with-claude/extended-thinking>).
    fn thinking(&self) -> &'static str {
        r#","thinking":{"type":"enabled","budget_tokens":1024}"#
    }

    fn messages(&self, out: &mut Vec<u8>, thread: &[Message]) {
        list(out, thread, message);
    }
}

fn message(out: &mut Vec<u8>, message: &Message) {
    match message {
        Message::User(text) => {
            string(out, br#"{"role":"user","content":[{"type":"text","text":"#, text);
            out.push(b'}');
        }
        Message::Assistant(blocks) => {
            out.extend_from_slice(br#"{"role":"assistant","content":["#);
            list(out, blocks, block);
        }
        Message::Results(results) => {
            out.extend_from_slice(br#"{"role":"user","content":["#);
            list(out, results, result_block);
        }
    }
    out.extend_from_slice(b"]}");
}

fn block(out: &mut Vec<u8>, block: &Block) {
    match block {
        Block::Thought(thought) => {
            string(out, br#"{"type":"thinking","thinking":"#, &thought.text);
            string(out, br#","signature":"#, &thought.signature);
        }
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

fn result_block(out: &mut Vec<u8>, result: &CallResult) {
    string(out, br#"{"type":"tool_result","tool_use_id":"#, &result.call_id);
    string(out, br#","content":"#, &result.text);
    out.extend_from_slice(if result.is_error { br#","is_error":true}"# } else { b"}" });
}
