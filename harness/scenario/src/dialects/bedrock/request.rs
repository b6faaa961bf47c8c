//! Bedrock Converse: writes client requests. Model and delivery are in the path.

use serde_json::json;

use crate::wire::request::{RequestForm, list, prefixed, spoken};
use crate::wire::thread::{Block, CallResult, Message};

pub(super) const FORM: RequestForm = RequestForm {
    current_model: "us.anthropic.claude-haiku-4-5-20251001-v1:0",
    // The same model as in `anthropic-messages`.
    newer_model: Some("us.anthropic.claude-opus-4-6-v1"),
    head: r#"{"inferenceConfig":{"maxTokens":2048},"messages":"#,
    thinking: r#","additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":1024}}"#,
    usage: "",
    tool: |tool| {
        let schema = json!({ "json": tool.input_schema });
        json!({ "toolSpec": { "name": tool.name, "description": tool.description, "inputSchema": schema } })
    },
    search: None,
    declarations_key: None,
    messages,
};

/// The service refuses two successive messages with the same role, so they are merged: results and the prompt
/// after them, or two prompts of which the first had no answer.
fn messages(out: &mut Vec<u8>, thread: &[Message]) {
    let turns = thread.chunk_by(|one, next| is_assistant(one) == is_assistant(next));
    // A reply that a flawed client left without content still separates two prompts.
    list(out, turns.filter(|turn| !turn.iter().all(is_empty)), turn);
}

fn is_assistant(message: &Message) -> bool {
    matches!(message, Message::Assistant(_))
}

fn is_empty(message: &Message) -> bool {
    match message {
        Message::User(_) => false,
        Message::Assistant(blocks) => spoken(blocks).next().is_none(),
        Message::Results(results) => results.is_empty(),
    }
}

/// Writes messages of one role as a single message.
fn turn(out: &mut Vec<u8>, messages: &[Message]) {
    out.extend_from_slice(match messages.first() {
        Some(Message::Assistant(_)) => br#"{"role":"assistant","content":["#,
        _ => br#"{"role":"user","content":["#,
    });
    // A message that a flawed client emptied must not leave a comma.
    let messages = messages.iter().filter(|message| !is_empty(message));
    list(out, messages, |out, message| match message {
        Message::User(text) => text_block(out, text),
        Message::Assistant(blocks) => list(out, spoken(blocks), block),
        Message::Results(results) => list(out, results, result_block),
    });
    out.extend_from_slice(b"]}");
}

fn text_block(out: &mut Vec<u8>, text: &str) {
    prefixed(out, br#"{"text":"#, text);
    out.push(b'}');
}

fn block(out: &mut Vec<u8>, block: &Block) {
    match block {
        Block::Thought(thought) => {
            prefixed(out, br#"{"reasoningContent":{"reasoningText":{"text":"#, &thought.text);
            if let Some(signature) = &thought.signature {
                prefixed(out, br#","signature":"#, signature);
            }
            out.extend_from_slice(b"}}}");
        }
        Block::Text(text) => text_block(out, text),
        Block::Call(call) => {
            prefixed(out, br#"{"toolUse":{"toolUseId":"#, &call.id);
            prefixed(out, br#","name":"#, &call.tool);
            out.extend_from_slice(br#","input":"#);
            out.extend_from_slice(call.json_args());
            out.extend_from_slice(b"}}");
        }
        Block::Server(_) => {}
    }
}

fn result_block(out: &mut Vec<u8>, result: &CallResult) {
    prefixed(out, br#"{"toolResult":{"toolUseId":"#, &result.call_id);
    prefixed(out, br#","content":[{"text":"#, &result.text);
    out.extend_from_slice(if result.is_error {
        br#"}],"status":"error"}}"#
    } else {
        br#"}],"status":"success"}}"#
    });
}
