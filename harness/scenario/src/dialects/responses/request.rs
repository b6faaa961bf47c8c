//! OpenAI Responses: writes client requests.
//!
//! The client keeps the conversation itself, so the provider need not store anything. It asks for the model's
//! thinking as a summary with encrypted content, and sends both back. A call names its item, which binds it
//! to the thought before it.

use serde_json::json;

use crate::wire::request::{RequestForm, list, prefixed};
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
    messages: |out, thread| list(out, thread.iter().filter(|message| !is_empty(message)), message),
};

/// True for a reply that was stopped before its first text, because it has no item.
fn is_empty(message: &Message) -> bool {
    match message {
        Message::User(_) => false,
        Message::Assistant(blocks) => !blocks.iter().any(is_sent),
        Message::Results(results) => results.is_empty(),
    }
}

/// A thought is sent back with the encrypted content of the provider; a flawed client has lost that.
fn is_sent(block: &Block) -> bool {
    match block {
        Block::Thought(thought) => signed(thought).is_some(),
        Block::Text(_) | Block::Call(_) => true,
        Block::Server(_) => false,
    }
}

/// The signature of a thought, if it is the text of an object.
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
            // The signature is an object; its text without the opening brace completes the item.
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
