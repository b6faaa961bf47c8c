//! OpenAI Responses: encodes the model's replies.
//!
//! Native order: `response.created`, `response.in_progress`, then the items one after the other, each opened,
//! filled and closed, then `response.completed` with the complete response. Every event is named and
//! numbered; there is no `[DONE]`.

use std::io::Write;

use serde_json::{Value, json};

use crate::plan::{Mark, Plan, PlannedCall, Script, ScriptBlock};
use crate::scenario::ErrorKind;
use crate::wire::frames::{Encoded, json_number, json_string};
use crate::wire::signature::signature;
use crate::wire::{CREATED, Envelope};

use super::{WIRE, names};

pub(super) fn stream(plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
    let mut encoded = Encoded::with_capacity(8192);
    let mut events = EventWriter::default();
    let begun = response(envelope, "in_progress", Vec::new()).to_string();
    for name in ["response.created", "response.in_progress"] {
        encoded.frame(|out| events.event(out, name, |out| field(out, "response", &begun)));
    }
    let mut n_text = 0;
    for (index, block) in script.blocks.iter().enumerate() {
        let id = item_id(envelope, block, index);
        match block {
            ScriptBlock::Think(fragments) => {
                let summary = TextItem { id: &id, index, form: &SUMMARY };
                encoded.frame(|out| summary.open(out, &mut events));
                for (k, fragment) in fragments.iter().enumerate() {
                    encoded.frame(|out| summary.delta(out, &mut events, fragment));
                    encoded.mark(Mark::Think(k as u32 + 1));
                }
                encoded.frame(|out| summary.close(out, &mut events, &fragments.concat()));
            }
            ScriptBlock::Text(fragments) => {
                let text = TextItem { id: &id, index, form: &MESSAGE };
                encoded.frame(|out| text.open(out, &mut events));
                for fragment in fragments {
                    encoded.frame(|out| text.delta(out, &mut events, fragment));
                    n_text += 1;
                    encoded.mark(Mark::Text(n_text));
                }
                encoded.frame(|out| text.close(out, &mut events, &fragments.concat()));
            }
            ScriptBlock::Call(key) => {
                let call = &plan.calls[key.0 as usize];
                let arguments = CallArguments { id: &id, index, call };
                encoded.frame(|out| arguments.open(out, &mut events));
                encoded.mark(Mark::Start(*key));
                for (k, fragment) in call.deltas.iter().enumerate() {
                    encoded.frame(|out| arguments.delta(out, &mut events, fragment));
                    encoded.mark(Mark::Delta(*key, k as u32 + 1));
                }
                // Clients take a call as complete at either event, so nothing may happen between the two.
                encoded.frame(|out| arguments.close(out, &mut events));
                encoded.mark(Mark::End(*key));
            }
            ScriptBlock::Server(_) => {}
        }
    }
    if script.has_calls() {
        encoded.mark(Mark::Calls);
    }
    let done = whole(plan, script, envelope).to_string();
    let last = if is_complete(script) { "response.completed" } else { "response.incomplete" };
    encoded.frame(|out| events.event(out, last, |out| field(out, "response", &done)));
    encoded.mark(Mark::Stop);
    encoded.mark(Mark::Reply);
    encoded
}

pub(super) fn whole(plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Value {
    let items = script.blocks.iter().enumerate().filter_map(|(index, block)| {
        let id = item_id(envelope, block, index);
        Some(match block {
            ScriptBlock::Think(fragments) => whole_reasoning(&id, summary_text(&fragments.concat())),
            ScriptBlock::Text(fragments) => message(&id, "completed", vec![part(&fragments.concat())]),
            ScriptBlock::Call(key) => {
                let call = &plan.calls[key.0 as usize];
                function_call(&id, call, "completed", &call.deltas.concat())
            }
            ScriptBlock::Server(_) => return None,
        })
    });
    if is_complete(script) {
        return response(envelope, COMPLETED, items.collect());
    }
    let mut incomplete = response(envelope, "incomplete", items.collect());
    incomplete["incomplete_details"] = json!({ "reason": WIRE.stop_word_of(script) });
    incomplete
}

/// The status of a complete reply.
pub(super) const COMPLETED: &str = "completed";

fn is_complete(script: &Script) -> bool {
    WIRE.stop_word_of(script) == COMPLETED
}

/// The error inside a stream, numbered after the events that were sent. The only blank line of a frame is at
/// its end, so the blank lines count the events.
pub(super) fn error(kind: ErrorKind, sent: &[u8]) -> Vec<u8> {
    let body = &WIRE.error_body(kind)["error"];
    let mut events = EventWriter { n_sent: sent.windows(2).filter(|two| *two == b"\n\n").count() };
    let code = match kind {
        ErrorKind::Overloaded => "server_is_overloaded",
        ErrorKind::Server => "server_error",
        ErrorKind::RateLimit => "rate_limit_exceeded",
    };
    let mut frame = Vec::with_capacity(256);
    events.event(&mut frame, "error", |out| {
        out.extend_from_slice(b",\"code\":");
        json_string(out, code);
        field(out, "message", &body["message"].to_string());
        out.extend_from_slice(b",\"param\":null");
    });
    frame
}

fn response(envelope: Envelope<'_>, status: &str, output: Vec<Value>) -> Value {
    let usage = match status {
        COMPLETED | "incomplete" => json!({
            "input_tokens": envelope.tokens.input,
            "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens": envelope.tokens.output,
            "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": envelope.tokens.total(),
        }),
        _ => Value::Null,
    };
    json!({
        "id": envelope.id,
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "max_output_tokens": null,
        "model": envelope.model,
        "output": output,
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "reasoning": { "effort": null, "summary": null },
        "service_tier": "default",
        "store": true,
        "temperature": 1.0,
        "text": { "format": { "type": "text" } },
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage,
        "user": null,
        "metadata": {},
    })
}

/// An item's id: the digits of the response id with a different prefix, and the item's index.
fn item_id(envelope: Envelope<'_>, block: &ScriptBlock, index: usize) -> String {
    let digits = envelope.id.strip_prefix("resp_").unwrap_or(envelope.id);
    let prefix = match block {
        ScriptBlock::Think(_) => "rs",
        ScriptBlock::Text(_) => "msg",
        ScriptBlock::Call(_) => "fc",
        ScriptBlock::Server(_) => "ws",
    };
    format!("{prefix}_{digits}{index:02x}")
}

fn reasoning(id: &str, summary: Vec<Value>) -> Value {
    json!({ "id": id, "type": "reasoning", "summary": summary })
}

/// The item of reasoning when it is complete. The encrypted content is included, as for a client that stores
/// nothing.
fn whole_reasoning(id: &str, summary: Value) -> Value {
    let mut item = reasoning(id, vec![summary]);
    item["encrypted_content"] = signature(id).into();
    item
}

fn summary_text(text: &str) -> Value {
    json!({ "type": "summary_text", "text": text })
}

fn message(id: &str, status: &str, content: Vec<Value>) -> Value {
    json!({ "id": id, "type": "message", "status": status, "role": "assistant", "content": content })
}

fn part(text: &str) -> Value {
    json!({ "type": "output_text", "annotations": [], "logprobs": [], "text": text })
}

fn function_call(id: &str, call: &PlannedCall, status: &str, arguments: &str) -> Value {
    let (namespace, name) = names::parts(&call.tool);
    let mut item = json!({
        "id": id,
        "type": "function_call",
        "status": status,
        "arguments": arguments,
        "call_id": call.id,
        "name": name,
    });
    if let Some(namespace) = namespace {
        item["namespace"] = namespace.into();
    }
    item
}

/// Writes events, and counts them.
#[derive(Debug, Default)]
struct EventWriter {
    n_sent: usize,
}

impl EventWriter {
    fn event(&mut self, out: &mut Vec<u8>, name: &str, fields: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\ndata: {\"type\":\"");
        out.extend_from_slice(name.as_bytes());
        out.push(b'"');
        fields(out);
        out.extend_from_slice(b",\"sequence_number\":");
        json_number(out, self.n_sent);
        out.extend_from_slice(b"}\n\n");
        self.n_sent += 1;
    }
}

/// Writes a field whose value is already JSON.
fn field(out: &mut Vec<u8>, name: &str, json: &str) {
    write!(out, ",\"{name}\":{json}").expect("a vector takes any bytes");
}

fn string_field(out: &mut Vec<u8>, name: &str, text: &str) {
    field(out, name, "");
    json_string(out, text);
}

/// An item with one text part.
#[derive(Clone, Copy)]
struct TextItem<'a> {
    id: &'a str,
    index: usize,
    form: &'a TextForm,
}

/// The differences between reasoning, of which the summary is sent, and a message.
struct TextForm {
    part_index: &'static [u8],
    part_event: &'static str,
    text_event: &'static str,
    after_text: &'static [u8],
    part: fn(&str) -> Value,
    /// The item with its part, or without one when it is opened.
    item: fn(&str, Option<Value>) -> Value,
}

const SUMMARY: TextForm = TextForm {
    part_index: b",\"summary_index\":0",
    part_event: "response.reasoning_summary_part",
    text_event: "response.reasoning_summary_text",
    after_text: b"",
    part: summary_text,
    item: |id, part| part.map_or_else(|| reasoning(id, Vec::new()), |part| whole_reasoning(id, part)),
};

const MESSAGE: TextForm = TextForm {
    part_index: b",\"content_index\":0",
    part_event: "response.content_part",
    text_event: "response.output_text",
    after_text: b",\"logprobs\":[]",
    part,
    item: |id, part| {
        let status = if part.is_some() { "completed" } else { "in_progress" };
        message(id, status, Vec::from_iter(part))
    },
};

impl TextItem<'_> {
    fn open(self, out: &mut Vec<u8>, events: &mut EventWriter) {
        let item = (self.form.item)(self.id, None).to_string();
        item_event(out, events, "response.output_item.added", self.index, &item);
        let part = (self.form.part)("").to_string();
        self.event(out, events, self.form.part_event, "added", |out| field(out, "part", &part));
    }

    fn delta(self, out: &mut Vec<u8>, events: &mut EventWriter, fragment: &str) {
        self.text_event(out, events, "delta", "delta", fragment);
    }

    fn close(self, out: &mut Vec<u8>, events: &mut EventWriter, text: &str) {
        self.text_event(out, events, "done", "text", text);
        let part = (self.form.part)(text);
        self.event(out, events, self.form.part_event, "done", |out| field(out, "part", &part.to_string()));
        let item = (self.form.item)(self.id, Some(part)).to_string();
        item_event(out, events, "response.output_item.done", self.index, &item);
    }

    fn text_event(self, out: &mut Vec<u8>, events: &mut EventWriter, step: &str, key: &str, text: &str) {
        self.event(out, events, self.form.text_event, step, |out| {
            string_field(out, key, text);
            out.extend_from_slice(self.form.after_text);
        });
    }

    fn event(
        self,
        out: &mut Vec<u8>,
        events: &mut EventWriter,
        name: &str,
        step: &str,
        fields: impl FnOnce(&mut Vec<u8>),
    ) {
        events.event(out, &format!("{name}.{step}"), |out| {
            place(out, self.id, self.index);
            out.extend_from_slice(self.form.part_index);
            fields(out);
        });
    }
}

/// A function call item.
#[derive(Debug, Clone, Copy)]
struct CallArguments<'a> {
    id: &'a str,
    index: usize,
    call: &'a PlannedCall,
}

impl CallArguments<'_> {
    fn open(self, out: &mut Vec<u8>, events: &mut EventWriter) {
        let item = function_call(self.id, self.call, "in_progress", "").to_string();
        item_event(out, events, "response.output_item.added", self.index, &item);
    }

    fn delta(self, out: &mut Vec<u8>, events: &mut EventWriter, fragment: &str) {
        events.event(out, "response.function_call_arguments.delta", |out| {
            place(out, self.id, self.index);
            string_field(out, "delta", fragment);
        });
    }

    fn close(self, out: &mut Vec<u8>, events: &mut EventWriter) {
        let arguments = self.call.deltas.concat();
        events.event(out, "response.function_call_arguments.done", |out| {
            place(out, self.id, self.index);
            string_field(out, "arguments", &arguments);
        });
        let item = function_call(self.id, self.call, "completed", &arguments).to_string();
        item_event(out, events, "response.output_item.done", self.index, &item);
    }
}

fn item_event(out: &mut Vec<u8>, events: &mut EventWriter, name: &str, index: usize, item: &str) {
    events.event(out, name, |out| {
        out.extend_from_slice(b",\"output_index\":");
        json_number(out, index);
        field(out, "item", item);
    });
}

fn place(out: &mut Vec<u8>, id: &str, index: usize) {
    string_field(out, "item_id", id);
    out.extend_from_slice(b",\"output_index\":");
    json_number(out, index);
}
