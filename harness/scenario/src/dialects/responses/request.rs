//! OpenAI Responses: what a client posts.
//!
//! It keeps the conversation itself, so nothing is to be stored. What the model thought is asked for as a summary with
//! its encrypted content, and both are sent back; a call names its item, which binds it to the thought before it.

use serde_json::json;

use crate::wire::request::{RequestForm, list, prefixed, short_ascii_id};
use crate::wire::thread::{Block, CallResult, Message, Thought};

pub(super) const FORM: RequestForm = RequestForm {
    current_model: "gpt-5",
    newer_model: None,
    head: r#","store":false,"input":"#,
    thinking: r#","reasoning":{"summary":"auto"},"include":["reasoning.encrypted_content"]"#,
    usage: "",
    tool: |tool| json!({ "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.input_schema }),
    search: None,
    declarations_key: None,
    takes_id: short_ascii_id,
    messages: |out, thread| list(out, thread.iter().filter(|message| !is_empty(message)), message),
};

/// A reply that was stopped before its first word has no item.
fn is_empty(message: &Message) -> bool {
    match message {
        Message::User(_) => false,
        Message::Assistant(blocks) => !blocks.iter().any(is_sent),
        Message::Results(results) => results.is_empty(),
    }
}

/// A thought is given back with what the provider enclosed; a flawed client has nothing of it left.
fn is_sent(block: &Block) -> bool {
    match block {
        Block::Thought(thought) => signed(thought).is_some(),
        Block::Text(_) | Block::Call(_) => true,
        Block::Server(_) => false,
    }
}

/// The text of an object that stands for a signature.
fn signed(thought: &Thought) -> Option<&str> {
    thought.signature.as_deref().filter(|signature| signature.starts_with('{'))
}

fn message(out: &mut Vec<u8>, message: &Message) {
    match message {
        Message::User(text) => {
            prefixed(out, br#"{"role":"user","content":"#, text);
            out.push(b'}');
        }
        Message::Assistant(blocks) => list(out, blocks.iter().filter(|block| is_sent(block)), block),
        Message::Results(results) => list(out, results, result),
    }
}

fn block(out: &mut Vec<u8>, block: &Block) {
    match block {
        Block::Thought(thought) => {
            prefixed(out, br#"{"type":"reasoning","summary":[{"type":"summary_text","text":"#, &thought.text);
            out.extend_from_slice(b"}],");
            // The signature is an object; what is left of it closes the item.
            out.extend_from_slice(&signed(thought).unwrap_or("{}").as_bytes()[1..]);
        }
        Block::Text(text) => {
            prefixed(out, br#"{"role":"assistant","content":[{"type":"output_text","text":"#, text);
            out.extend_from_slice(b"}]}");
        }
        Block::Call(call) => {
            prefixed(out, br#"{"type":"function_call","call_id":"#, &call.id);
            prefixed(out, br#","name":"#, &call.tool);
            prefixed(out, br#","arguments":"#, &call.args);
            if let Some(id) = &call.signature {
                prefixed(out, br#","id":"#, id);
            }
            out.push(b'}');
        }
        Block::Server(_) => {}
    }
}

fn result(out: &mut Vec<u8>, result: &CallResult) {
    prefixed(out, br#"{"type":"function_call_output","call_id":"#, &result.call_id);
    prefixed(out, br#","output":"#, &result.text);
    out.push(b'}');
}
