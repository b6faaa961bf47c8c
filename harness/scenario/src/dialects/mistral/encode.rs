//! Mistral: encodes the model's replies.
//!
//! Native order: a chunk with the role and empty content, content, the calls, each complete in one chunk, the
//! finish reason with the usage, `[DONE]`.
//!
//! The live API sometimes puts all calls in a reply into one chunk
//! (<https://github.com/comet-ml/opik/pull/7385>), together with the finish reason. Here each call has its
//! own chunk, so that there are points between calls; clients read both forms in the same way.

use serde_json::{Value, json};

use crate::plan::{Mark, Plan, PlannedCall, Script, ScriptBlock};
use crate::wire::frames::{Encoded, json_number, json_string};
use crate::wire::marks::text_marks;
use crate::wire::{CREATED, Envelope, Tokens};

use super::WIRE;
use crate::dialects::openai::{chunk_head, content, number_of};

pub(super) fn stream(plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
    let mut encoded = Encoded::with_capacity(8192);
    let mut head = chunk_head(envelope);
    head.extend_from_slice(b",\"choices\":[{\"index\":0,\"delta\":");
    let chunk = |encoded: &mut Encoded, delta: &dyn Fn(&mut Vec<u8>)| {
        encoded.frame(|out| {
            out.extend_from_slice(&head);
            delta(out);
            out.extend_from_slice(b",\"finish_reason\":null}]}\n\n");
        });
    };

    chunk(&mut encoded, &|out| out.extend_from_slice(br#"{"role":"assistant","content":""}"#));
    let mut n_text = 0;
    for block in &script.blocks {
        let ScriptBlock::Text(fragments) = block else { continue };
        for fragment in fragments {
            chunk(&mut encoded, &|out| content(out, fragment));
            n_text += 1;
            encoded.mark(Mark::Text(n_text));
        }
    }
    for (index, key) in script.calls().enumerate() {
        let number = number_of(script, index);
        chunk(&mut encoded, &|out| call(out, number, &plan.calls[key.0 as usize]));
        encoded.mark(Mark::End(key));
    }
    if script.has_calls() {
        encoded.mark(Mark::Calls);
    }
    encoded.frame(|out| {
        out.extend_from_slice(&head);
        out.extend_from_slice(br#"{"content":""},"finish_reason":"#);
        json_string(out, WIRE.stop_word_of(script));
        out.extend_from_slice(format!("}}],\"usage\":{}}}\n\n", usage(envelope)).as_bytes());
    });
    encoded.mark(Mark::Stop);
    encoded.frame(|out| out.extend_from_slice(b"data: [DONE]\n\n"));
    encoded.mark(Mark::Reply);
    encoded
}

/// The text and call marks, in the order of [`stream`]. A call begins and ends with one chunk, so it has only
/// an end mark.
pub(super) fn block_marks(script: &Script, _: &[PlannedCall]) -> Vec<Mark> {
    text_marks(script).chain(script.calls().map(Mark::End)).collect()
}

pub(super) fn whole(plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Value {
    let calls: Vec<Value> = script
        .calls()
        .enumerate()
        .map(|(index, key)| {
            let call = &plan.calls[key.0 as usize];
            let mut written = json!({
                "id": call.id,
                "function": { "name": call.tool, "arguments": call.deltas.concat() },
                "index": index,
            });
            if call.sent_id().is_none() {
                written["id"].take();
            }
            written
        })
        .collect();
    let calls = if calls.is_empty() { Value::Null } else { Value::Array(calls) };
    json!({
        "id": envelope.id,
        "object": "chat.completion",
        "created": CREATED,
        "model": envelope.model,
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "tool_calls": calls, "content": script.text() },
            "finish_reason": WIRE.stop_word_of(script),
        }],
        "usage": usage(envelope),
    })
}

fn usage(envelope: Envelope<'_>) -> Value {
    let Tokens { input, output } = envelope.tokens;
    json!({ "prompt_tokens": input, "total_tokens": envelope.tokens.total(), "completion_tokens": output })
}

fn call(out: &mut Vec<u8>, number: Option<usize>, call: &PlannedCall) {
    out.extend_from_slice(b"{\"tool_calls\":[{");
    if let Some(id) = call.sent_id() {
        out.extend_from_slice(b"\"id\":");
        json_string(out, id);
        out.push(b',');
    }
    out.extend_from_slice(b"\"function\":{\"name\":");
    json_string(out, &call.tool);
    out.extend_from_slice(b",\"arguments\":");
    json_string(out, &call.deltas.concat());
    out.push(b'}');
    if let Some(number) = number {
        out.extend_from_slice(b",\"index\":");
        json_number(out, number);
    }
    out.extend_from_slice(b"}]}");
}
