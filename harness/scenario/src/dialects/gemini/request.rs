//! Google Gemini: writes client requests. The model and the delivery are in the path.

use serde_json::json;

use crate::wire::request::{RequestForm, list, prefixed, spoken};
use crate::wire::thread::{Block, Call, CallResult, Message};

pub(super) const FORM: RequestForm = RequestForm {
    // This model requires its thought signatures back, see
    // <https://ai.google.dev/gemini-api/docs/thought-signatures>.
    current_model: "gemini-3-flash-preview",
    // The first model that does not continue from its own last message.
    newer_model: Some("gemini-3.6-flash"),
    head: r#"{"contents":"#,
    thinking: r#","generationConfig":{"thinkingConfig":{"includeThoughts":true}}"#,
    usage: "",
    tool: |tool| json!({ "name": tool.name, "description": tool.description, "parametersJsonSchema": tool.input_schema }),
    search: None,
    declarations_key: Some("functionDeclarations"),
    messages,
};

fn messages(out: &mut Vec<u8>, thread: &[Message]) {
    let named = Named { thread };
    list(out, thread.iter().enumerate(), |out, (at, message)| named.content(out, at, message));
}

/// A thread in which a result can find the name of its call, because a response names the function.
struct Named<'a> {
    thread: &'a [Message],
}

impl Named<'_> {
    fn content(&self, out: &mut Vec<u8>, at: usize, message: &Message) {
        match message {
            Message::User(text) => {
                prefixed(out, br#"{"role":"user","parts":[{"text":"#, text);
                out.push(b'}');
            }
            Message::Assistant(blocks) => {
                out.extend_from_slice(br#"{"role":"model","parts":["#);
                list(out, spoken(blocks), part);
            }
            Message::Results(results) => {
                out.extend_from_slice(br#"{"role":"user","parts":["#);
                list(out, results, |out, result| response(out, result, self.tool_of(at, result)));
            }
        }
        out.extend_from_slice(b"]}");
    }

    /// The tool of a result in the message at this index.
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
            prefixed(out, br#"{"text":"#, &thought.text);
            out.extend_from_slice(br#","thought":true"#);
        }
        Block::Text(text) => prefixed(out, br#"{"text":"#, text),
        Block::Call(call) => function_call(out, call),
        Block::Server(_) => {}
    }
    out.push(b'}');
}

fn function_call(out: &mut Vec<u8>, call: &Call) {
    prefixed(out, br#"{"functionCall":{"id":"#, &call.id);
    prefixed(out, br#","name":"#, &call.tool);
    out.extend_from_slice(br#","args":"#);
    out.extend_from_slice(call.json_args());
    out.push(b'}');
    if let Some(signature) = &call.signature {
        prefixed(out, br#","thoughtSignature":"#, signature);
    }
}

fn response(out: &mut Vec<u8>, result: &CallResult, tool: &str) {
    prefixed(out, br#"{"functionResponse":{"id":"#, &result.call_id);
    prefixed(out, br#","name":"#, tool);
    let before: &[u8] =
        if result.is_error { br#","response":{"error":"# } else { br#","response":{"output":"# };
    prefixed(out, before, &result.text);
    out.extend_from_slice(b"}}}");
}
