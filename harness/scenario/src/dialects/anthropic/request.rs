//! Anthropic Messages: writes client requests.

use serde_json::json;

use crate::wire::request::{RequestForm, json_or_nothing, list, prefixed};
use crate::wire::thread::{Block, CallResult, Message, ServerBlock};

use super::WEB_SEARCH;

pub(super) const FORM: RequestForm = RequestForm {
    current_model: "claude-haiku-4-5",
    // The first model that does not continue from its own last message.
    newer_model: Some("claude-opus-4-6"),
    head: r#","max_tokens":2048,"messages":"#,
    // The smallest budget (<https://platform.claude.com/docs/en/build-with-claude/extended-thinking>).
    thinking: r#","thinking":{"type":"enabled","budget_tokens":1024}"#,
    usage: "",
    tool: |tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema }),
    search: Some(|| json!({ "type": "web_search_20250305", "name": WEB_SEARCH, "max_uses": 5 })),
    declarations_key: None,
    messages: |out, thread| list(out, thread, message),
};

fn message(out: &mut Vec<u8>, message: &Message) {
    match message {
        Message::User(text) => {
            prefixed(out, br#"{"role":"user","content":[{"type":"text","text":"#, text);
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
            prefixed(out, br#"{"type":"thinking","thinking":"#, &thought.text);
            if let Some(signature) = &thought.signature {
                prefixed(out, br#","signature":"#, signature);
            }
        }
        Block::Text(text) => prefixed(out, br#"{"type":"text","text":"#, text),
        Block::Call(call) => {
            prefixed(out, br#"{"type":"tool_use","id":"#, &call.id);
            prefixed(out, br#","name":"#, &call.tool);
            out.extend_from_slice(br#","input":"#);
            out.extend_from_slice(call.json_args());
        }
        Block::Server(ServerBlock::Call { id, tool, args }) => {
            prefixed(out, br#"{"type":"server_tool_use","id":"#, id);
            prefixed(out, br#","name":"#, tool);
            out.extend_from_slice(br#","input":"#);
            out.extend_from_slice(json_or_nothing(args));
        }
        // The block is sent back exactly as it was received.
        Block::Server(ServerBlock::Result { body, .. }) => return out.extend_from_slice(body.as_bytes()),
    }
    out.push(b'}');
}

fn result_block(out: &mut Vec<u8>, result: &CallResult) {
    prefixed(out, br#"{"type":"tool_result","tool_use_id":"#, &result.call_id);
    match &result.picture {
        None => prefixed(out, br#","content":"#, &result.text),
        Some(picture) => {
            out.extend_from_slice(br#","content":["#);
            if !result.text.is_empty() {
                prefixed(out, br#"{"type":"text","text":"#, &result.text);
                out.extend_from_slice(b"},");
            }
            prefixed(out, br#"{"type":"image","source":{"type":"base64","media_type":"#, &picture.media_type);
            prefixed(out, br#","data":"#, &picture.data);
            out.extend_from_slice(b"}}]");
        }
    }
    out.extend_from_slice(if result.is_error { br#","is_error":true}"# } else { b"}" });
}
