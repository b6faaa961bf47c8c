//! Bedrock Converse: what our agent posts. Model and delivery are in the path.

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::{Asks, list, string};
use crate::agent::thread::{Block, CallResult, Message};
use crate::agent::{Delivery, Tool};

/// Requests of `bedrock-converse`.
pub(super) struct BedrockConverse;

impl Asks for BedrockConverse {
    fn current_model(&self) -> &'static str {
        "us.anthropic.claude-haiku-4-5-20251001-v1:0"
    }

    fn tool(&self, tool: &Tool) -> Value {
        let Tool { name, description, input_schema, .. } = tool;
        json!({ "toolSpec": { "name": name, "description": description, "inputSchema": { "json": input_schema } } })
    }

    fn before(&self, out: &mut Vec<u8>, _model: &str) {
        out.extend_from_slice(br#"{"inferenceConfig":{"maxTokens":2048},"messages":"#);
    }

    fn thinking(&self) -> &'static str {
        r#","additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":1024}}"#
    }

    /// The service refuses two messages of the same role in a row, so what follows each other is one message: results
    /// and the prompt behind them, or two prompts of which the first had no answer.
    fn messages(&self, out: &mut Vec<u8>, thread: &[Message]) {
        let turns = thread.chunk_by(|one, next| is_assistant(one) == is_assistant(next));
        // A reply that a canary left without content parts two prompts.
        list(out, turns.filter(|turn| !turn.iter().all(is_empty)), turn);
    }

    fn after(&self, out: &mut Vec<u8>, _delivery: Delivery, declared: &str) {
        if !declared.is_empty() {
            out.extend_from_slice(br#","toolConfig":{"tools":"#);
            out.extend_from_slice(declared.as_bytes());
            out.push(b'}');
        }
        out.push(b'}');
    }
}

fn is_assistant(message: &Message) -> bool {
    matches!(message, Message::Assistant(_))
}

fn is_empty(message: &Message) -> bool {
    match message {
        Message::User(_) => false,
        Message::Assistant(blocks) => blocks.is_empty(),
        Message::Results(results) => results.is_empty(),
    }
}

/// Messages of one role as one.
fn turn(out: &mut Vec<u8>, messages: &[Message]) {
    out.extend_from_slice(match messages.first() {
        Some(Message::Assistant(_)) => br#"{"role":"assistant","content":["#,
        _ => br#"{"role":"user","content":["#,
    });
    // What a canary emptied leaves no comma.
    let messages = messages.iter().filter(|message| !is_empty(message));
    list(out, messages, |out, message| match message {
        Message::User(text) => text_block(out, text),
        Message::Assistant(blocks) => list(out, blocks, block),
        Message::Results(results) => list(out, results, result_block),
    });
    out.extend_from_slice(b"]}");
}

fn text_block(out: &mut Vec<u8>, text: &str) {
    string(out, br#"{"text":"#, text);
    out.push(b'}');
}

fn block(out: &mut Vec<u8>, block: &Block) {
    match block {
        Block::Thought(thought) => {
            string(out, br#"{"reasoningContent":{"reasoningText":{"text":"#, &thought.text);
            string(out, br#","signature":"#, &thought.signature);
            out.extend_from_slice(b"}}}");
        }
        Block::Text(text) => text_block(out, text),
        Block::Call(call) => {
            string(out, br#"{"toolUse":{"toolUseId":"#, &call.id);
            string(out, br#","name":"#, &call.tool);
            out.extend_from_slice(br#","input":"#);
            // A canary keeps calls whose arguments never became complete.
            let is_json = serde_json::from_str::<IgnoredAny>(&call.args).is_ok();
            out.extend_from_slice(if is_json { call.args.as_bytes() } else { b"{}" });
            out.extend_from_slice(b"}}");
        }
    }
}

fn result_block(out: &mut Vec<u8>, result: &CallResult) {
    string(out, br#"{"toolResult":{"toolUseId":"#, &result.call_id);
    string(out, br#","content":[{"text":"#, &result.text);
    out.extend_from_slice(match result.is_error {
        true => br#"}],"status":"error"}}"#,
        false => br#"}],"status":"success"}}"#,
    });
}
