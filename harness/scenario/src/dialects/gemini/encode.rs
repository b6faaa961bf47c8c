//! Google Gemini: encodes the model's replies.
//!
//! Each chunk is a complete response that contains the new content and the token counts so far. A call is
//! sent complete in one chunk. The last chunk contains the finish reason, which is `STOP` with or without
//! calls, and an empty text. Events have no names, and nothing follows the last chunk. The first call of a
//! reply carries a thought signature; its siblings do not.

use serde_json::{Value, json};

use crate::plan::{Mark, Plan, PlannedCall, Script, ScriptBlock};
use crate::wire::Envelope;
use crate::wire::frames::{Encoded, json_number, json_string};
use crate::wire::signature::signature;

use super::WIRE;

pub(super) fn stream(plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
    let mut encoded = Encoded::with_capacity(4096);
    let first_call = script.calls().next();
    let mut n_text = 0;
    for block in &script.blocks {
        match block {
            ScriptBlock::Think(fragments) => {
                for (k, fragment) in fragments.iter().enumerate() {
                    chunk(&mut encoded, envelope, |out| thought(out, fragment), b"");
                    encoded.mark(Mark::Think(k as u32 + 1));
                }
            }
            ScriptBlock::Text(fragments) => {
                for fragment in fragments {
                    chunk(&mut encoded, envelope, |out| text(out, fragment), b"");
                    n_text += 1;
                    encoded.mark(Mark::Text(n_text));
                }
            }
            ScriptBlock::Call(key) => {
                let call = &plan.calls[key.0 as usize];
                let is_first = first_call == Some(*key);
                chunk(&mut encoded, envelope, |out| function_call(out, call, is_first), b"");
                encoded.mark(Mark::End(*key));
            }
            ScriptBlock::Server(_) => {}
        }
    }
    if script.has_calls() {
        encoded.mark(Mark::Calls);
    }
    let finish = format!(r#","finishReason":"{}""#, WIRE.stop_word_of(script));
    chunk(&mut encoded, envelope, |out| text(out, ""), finish.as_bytes());
    encoded.mark(Mark::Stop);
    encoded.mark(Mark::Reply);
    encoded
}

pub(super) fn whole(plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Value {
    let first_call = script.calls().next();
    let part = |block: &ScriptBlock| match block {
        ScriptBlock::Think(fragments) => Some(json!({ "text": fragments.concat(), "thought": true })),
        ScriptBlock::Text(fragments) => Some(json!({ "text": fragments.concat() })),
        ScriptBlock::Call(key) => {
            let call = &plan.calls[key.0 as usize];
            let mut part = json!({ "functionCall": { "name": call.tool, "args": call.args } });
            if let Some(id) = call.sent_id() {
                part["functionCall"]["id"] = id.into();
            }
            if first_call == Some(*key) {
                part["thoughtSignature"] = signature(&call.id).into();
            }
            Some(part)
        }
        ScriptBlock::Server(_) => None,
    };
    let mut parts: Vec<Value> = script.blocks.iter().filter_map(part).collect();
    if parts.is_empty() {
        parts.push(json!({ "text": "" }));
    }
    json!({
        "candidates": [{
            "content": { "parts": parts, "role": "model" },
            "finishReason": WIRE.stop_word_of(script),
            "index": 0,
        }],
        "usageMetadata": {
            "promptTokenCount": envelope.tokens.input,
            "candidatesTokenCount": envelope.tokens.output,
            "totalTokenCount": envelope.tokens.total(),
        },
        "modelVersion": envelope.model,
        "responseId": envelope.id,
    })
}

/// A chunk with one part. The token counts grow with each chunk.
fn chunk(encoded: &mut Encoded, envelope: Envelope<'_>, part: impl FnOnce(&mut Vec<u8>), finish: &[u8]) {
    let n_tokens = encoded.frames.len() as u64 + 1;
    encoded.frame(|out| {
        out.extend_from_slice(br#"data: {"candidates":[{"content":{"parts":["#);
        part(out);
        out.extend_from_slice(br#"],"role":"model"}"#);
        out.extend_from_slice(finish);
        out.extend_from_slice(br#","index":0}],"usageMetadata":{"promptTokenCount":"#);
        json_number(out, envelope.tokens.input);
        out.extend_from_slice(br#","candidatesTokenCount":"#);
        json_number(out, n_tokens);
        out.extend_from_slice(br#","totalTokenCount":"#);
        json_number(out, envelope.tokens.input.saturating_add(n_tokens));
        out.extend_from_slice(br#"},"modelVersion":"#);
        json_string(out, envelope.model);
        out.extend_from_slice(br#","responseId":"#);
        json_string(out, envelope.id);
        out.extend_from_slice(b"}\r\n\r\n");
    });
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(br#"{"text":"#);
    json_string(out, text);
    out.push(b'}');
}

/// A summary of the model's thinking. It is not signed; the first call or the answer is.
fn thought(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(br#"{"text":"#);
    json_string(out, text);
    out.extend_from_slice(br#","thought":true}"#);
}

fn function_call(out: &mut Vec<u8>, call: &PlannedCall, is_signed: bool) {
    out.extend_from_slice(br#"{"functionCall":{"#);
    if let Some(id) = call.sent_id() {
        out.extend_from_slice(br#""id":"#);
        json_string(out, id);
        out.push(b',');
    }
    out.extend_from_slice(br#""name":"#);
    json_string(out, &call.tool);
    out.extend_from_slice(br#","args":"#);
    call.deltas.iter().for_each(|delta| out.extend_from_slice(delta.as_bytes()));
    out.push(b'}');
    if is_signed {
        out.extend_from_slice(br#","thoughtSignature":"#);
        json_string(out, &signature(&call.id));
    }
    out.push(b'}');
}
