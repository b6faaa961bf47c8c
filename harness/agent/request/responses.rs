//! OpenAI Responses: what our agent posts.
//!
//! It keeps the conversation itself, so nothing is to be stored, and items are sent without ids: the provider demands
//! nothing more of such items than that calls and outputs belong together. What the model thought is asked for as a
//! summary, and is not sent back.

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
        r#","reasoning":{"summary":"auto"}"#
    }

    fn messages(&self, out: &mut Vec<u8>, thread: &[Message]) {
        list(out, thread.iter().filter(|message| !is_empty(message)), message);
    }
}

/// A reply that was stopped before its first word has no item.
fn is_empty(message: &Message) -> bool {
    match message {
        Message::User(_) => false,
        Message::Assistant(blocks) => blocks.iter().all(is_thought),
        Message::Results(results) => results.is_empty(),
    }
}

fn is_thought(block: &Block) -> bool {
    matches!(block, Block::Thought(_))
}

fn message(out: &mut Vec<u8>, message: &Message) {
    match message {
        Message::User(text) => {
            string(out, br#"{"role":"user","content":"#, text);
            out.push(b'}');
        }
        Message::Assistant(blocks) => list(out, blocks.iter().filter(|block| !is_thought(block)), block),
        Message::Results(results) => list(out, results, result),
    }
}

fn block(out: &mut Vec<u8>, block: &Block) {
    match block {
        Block::Thought(_) => {}
        Block::Text(text) => {
            string(out, br#"{"role":"assistant","content":[{"type":"output_text","text":"#, text);
            out.extend_from_slice(b"}]}");
        }
        Block::Call(call) => {
            string(out, br#"{"type":"function_call","call_id":"#, &call.id);
            string(out, br#","name":"#, &call.tool);
            string(out, br#","arguments":"#, &call.args);
            out.push(b'}');
        }
    }
}

fn result(out: &mut Vec<u8>, result: &CallResult) {
    string(out, br#"{"type":"function_call_output","call_id":"#, &result.call_id);
    string(out, br#","output":"#, &result.text);
    out.push(b'}');
}
