//! Google Gemini: what our agent posts. The model and the delivery stand in the path.

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::{Asks, list, string};
use crate::agent::thread::{Block, Call, CallResult, Message};
use crate::agent::{Delivery, Tool};

/// Requests of `gemini`.
pub(super) struct Gemini;

impl Asks for Gemini {
    /// A model that wants its thought signatures back, see <https://ai.google.dev/gemini-api/docs/thought-signatures>.
    fn current_model(&self) -> &'static str {
        "gemini-3-flash-preview"
    }

    fn tool(&self, tool: &Tool) -> Value {
        let Tool { name, description, input_schema, .. } = tool;
        json!({ "name": name, "description": description, "parametersJsonSchema": input_schema })
    }

    fn tools(&self, tools: &[Tool]) -> Value {
        let declarations: Vec<Value> = tools.iter().map(|tool| self.tool(tool)).collect();
        json!([{ "functionDeclarations": declarations }])
    }

    fn before(&self, out: &mut Vec<u8>, _model: &str) {
        out.extend_from_slice(br#"{"contents":"#);
    }

    fn thinking(&self) -> &'static str {
        r#","generationConfig":{"thinkingConfig":{"includeThoughts":true}}"#
    }

    fn messages(&self, out: &mut Vec<u8>, thread: &[Message]) {
        let named = Named { thread };
        list(out, thread.iter().enumerate(), |out, (at, message)| named.content(out, at, message));
    }

    fn after(&self, out: &mut Vec<u8>, _delivery: Delivery, declared: &str) {
        if !declared.is_empty() {
            out.extend_from_slice(br#","tools":"#);
            out.extend_from_slice(declared.as_bytes());
        }
        out.push(b'}');
    }
}

/// A thread in which a result finds the name of its call: here a response names the function.
struct Named<'a> {
    thread: &'a [Message],
}

impl Named<'_> {
    fn content(&self, out: &mut Vec<u8>, at: usize, message: &Message) {
        match message {
            Message::User(text) => {
                string(out, br#"{"role":"user","parts":[{"text":"#, text);
                out.push(b'}');
            }
            Message::Assistant(blocks) => {
                out.extend_from_slice(br#"{"role":"model","parts":["#);
                list(out, blocks, part);
            }
            Message::Results(results) => {
                out.extend_from_slice(br#"{"role":"user","parts":["#);
                list(out, results, |out, result| response(out, result, self.tool_of(at, result)));
            }
        }
        out.extend_from_slice(b"]}");
    }

    /// The tool that a result of the message at that place came from.
    fn tool_of(&self, at: usize, result: &CallResult) -> &str {
        let blocks = self.thread[..at].iter().rev().filter_map(|message| match message {
            Message::Assistant(blocks) => Some(blocks),
            Message::User(_) | Message::Results(_) => None,
        });
        let mut calls = blocks.flatten().filter_map(Block::call);
        calls.find(|call| call.id == result.call_id).map_or("unknown", |call| call.tool.as_str())
    }
}

fn part(out: &mut Vec<u8>, block: &Block) {
    match block {
        Block::Thought(thought) => {
            string(out, br#"{"text":"#, &thought.text);
            out.extend_from_slice(br#","thought":true"#);
        }
        Block::Text(text) => string(out, br#"{"text":"#, text),
        Block::Call(call) => function_call(out, call),
    }
    out.push(b'}');
}

fn function_call(out: &mut Vec<u8>, call: &Call) {
    string(out, br#"{"functionCall":{"id":"#, &call.id);
    string(out, br#","name":"#, &call.tool);
    out.extend_from_slice(br#","args":"#);
    // A canary keeps calls whose arguments never became complete.
    let is_json = serde_json::from_str::<IgnoredAny>(&call.args).is_ok();
    out.extend_from_slice(if is_json { call.args.as_bytes() } else { b"{}" });
    out.push(b'}');
    if let Some(signature) = &call.signature {
        string(out, br#","thoughtSignature":"#, signature);
    }
}

fn response(out: &mut Vec<u8>, result: &CallResult, tool: &str) {
    string(out, br#"{"functionResponse":{"id":"#, &result.call_id);
    string(out, br#","name":"#, tool);
    let before: &[u8] =
        if result.is_error { br#","response":{"error":"# } else { br#","response":{"output":"# };
    string(out, before, &result.text);
    out.extend_from_slice(b"}}}");
}
