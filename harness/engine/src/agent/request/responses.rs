//! OpenAI Responses: what our agent posts.
//!
//! It keeps the conversation itself, so nothing is to be stored. What the model thought is asked for as a summary with
//! its encrypted content, and both are sent back; a call names its item, which binds it to the thought before it.

use serde_json::{Value, json};

use super::{Asks, list, string};
use crate::agent::Tool;
use crate::agent::thread::{Block, CallResult, Message};

/// Requests of `openai-responses`.
pub(super) struct OpenaiResponses;

impl Asks for OpenaiResponses {
    fn current_model(&self) -> &'static str {
        "gpt-5"
    }

    fn tool(&self, tool: &Tool) -> Value {
        let Tool { name, description, input_schema, .. } = tool;
        json!({ "type": "function", "name": name, "description": description, "parameters": input_schema })
    }

    fn before(&self, out: &mut Vec<u8>, model: &str) {
        string(out, br#"{"model":"#, model);
        out.extend_from_slice(br#","store":false,"input":"#);
    }

    fn thinking(&self) -> &'static str {
        r#","reasoning":{"summary":"auto"},"include":["reasoning.encrypted_content"]"#
    }

    fn messages(&self, out: &mut Vec<u8>, thread: &[Message]) {
        list(out, thread.iter().filter(|message| !is_empty(message)), message);
    }
}

/// A reply that was stopped before its first word has no item.
fn is_empty(message: &Message) -> bool {
    match message {
        Message::User(_) => false,
        Message::Assistant(blocks) => !blocks.iter().any(is_sent),
        Message::Results(results) => results.is_empty(),
    }
}

/// A thought is given back with what the provider enclosed; a canary has nothing of it left.
fn is_sent(block: &Block) -> bool {
    match block {
        Block::Thought(thought) => thought.signature.starts_with('{'),
        Block::Text(_) | Block::Call(_) => true,
    }
}

fn message(out: &mut Vec<u8>, message: &Message) {
    match message {
        Message::User(text) => {
            string(out, br#"{"role":"user","content":"#, text);
            out.push(b'}');
        }
        Message::Assistant(blocks) => list(out, blocks.iter().filter(|block| is_sent(block)), block),
        Message::Results(results) => list(out, results, result),
    }
}

fn block(out: &mut Vec<u8>, block: &Block) {
    match block {
        Block::Thought(thought) => {
            string(out, br#"{"type":"reasoning","summary":[{"type":"summary_text","text":"#, &thought.text);
            out.extend_from_slice(b"}],");
            // The signature is an object; what is left of it closes the item.
            out.extend_from_slice(&thought.signature.as_bytes()[1..]);
        }
        Block::Text(text) => {
            string(out, br#"{"role":"assistant","content":[{"type":"output_text","text":"#, text);
            out.extend_from_slice(b"}]}");
        }
        Block::Call(call) => {
            string(out, br#"{"type":"function_call","call_id":"#, &call.id);
            string(out, br#","name":"#, &call.tool);
            string(out, br#","arguments":"#, &call.args);
            if let Some(id) = &call.signature {
                string(out, br#","id":"#, id);
            }
            out.push(b'}');
        }
    }
}

fn result(out: &mut Vec<u8>, result: &CallResult) {
    string(out, br#"{"type":"function_call_output","call_id":"#, &result.call_id);
    string(out, br#","output":"#, &result.text);
    out.push(b'}');
}
