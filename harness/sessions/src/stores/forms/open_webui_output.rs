//! The `output` of a reply of Open WebUI, which is sent instead of its text.
//!
//! It has items like those of the Responses API. Source: `convert_output_to_messages` in
//! `backend/open_webui/utils/misc.py` of Open WebUI 0.11.1 (<https://github.com/open-webui/open-webui>).

use brickbat_rules::json::Json;
use serde_json::{Value, json};

/// The messages of Chat Completions that a reply's output becomes. Calls and results without each other are among them.
pub(super) fn messages(output: Json<'_, '_>) -> Vec<Value> {
    let mut made = Made::default();
    for item in output.items() {
        let text = |name: &str| item.field(name).as_str().unwrap_or_default().into_owned();
        let kind = text("type");
        if !matches!(kind.as_str(), "function_call" | "function_call_output") {
            made.end_results();
        }
        match kind.as_str() {
            "message" => {
                let words: String =
                    item.field("content").items().map(|part| texts(part, "output_text")).collect();
                made.texts.extend((!words.is_empty()).then_some(words));
            }
            "function_call" => made.calls.push(json!({ "id": text("call_id"), "type": "function",
                "function": { "name": text("name"), "arguments": text("arguments") } })),
            "function_call_output" => {
                let words: String =
                    item.field("output").items().map(|part| texts(part, "input_text")).collect();
                made.results
                    .push(json!({ "role": "tool", "tool_call_id": text("call_id"), "content": words }));
            }
            // Thoughts are sent to some servers only, and other items are the interface's own.
            _ => {}
        }
    }
    made.end_results();
    made.end_reply();
    made.messages
}

fn texts(part: Json<'_, '_>, kind: &str) -> String {
    let text = part.field("text").as_str().filter(|_| part.field("type").is(kind));
    text.unwrap_or_default().into_owned()
}

/// The messages so far, and the parts of the next ones.
#[derive(Default)]
struct Made {
    messages: Vec<Value>,
    texts: Vec<String>,
    calls: Vec<Value>,
    results: Vec<Value>,
}

impl Made {
    fn end_reply(&mut self) {
        if self.texts.is_empty() && self.calls.is_empty() {
            return;
        }
        let mut reply = json!({ "role": "assistant", "content": self.texts.join("\n") });
        if !self.calls.is_empty() {
            reply["tool_calls"] = Value::Array(std::mem::take(&mut self.calls));
        }
        self.texts.clear();
        self.messages.push(reply);
    }

    fn end_results(&mut self) {
        if !self.results.is_empty() {
            self.end_reply();
            self.messages.append(&mut self.results);
        }
    }
}
