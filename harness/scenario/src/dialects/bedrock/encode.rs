//! Bedrock Converse: encodes replies into frames and bodies.

use serde_json::{Value, json};

use crate::plan::{Mark, Plan, PlannedCall, Script, ScriptBlock};
use crate::wire::event_stream::write_event;
use crate::wire::frames::{Encoded, json_number, json_string};
use crate::wire::signature::block_signature;
use crate::wire::{Envelope, Tokens};

use super::WIRE;

pub(super) fn stream(plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
    let mut encoded = Encoded::with_capacity(4096);
    encoded.frame(|out| write_event(out, "messageStart", br#"{"role":"assistant"}"#.to_vec()));
    let mut n_text = 0;
    for (index, block) in script.blocks.iter().enumerate() {
        match block {
            // Reasoning has no start event.
            ScriptBlock::Think(fragments) => {
                for (k, fragment) in fragments.iter().enumerate() {
                    encoded
                        .frame(|out| delta(out, index, br#"{"reasoningContent":{"text":"#, fragment, b"}}"));
                    encoded.mark(Mark::Think(k as u32 + 1));
                }
                let signature = block_signature(envelope, index);
                encoded.frame(|out| {
                    delta(out, index, br#"{"reasoningContent":{"signature":"#, &signature, b"}}");
                });
            }
            // Text has no start event either: it begins with its first delta.
            ScriptBlock::Text(fragments) => {
                for fragment in fragments {
                    encoded.frame(|out| delta(out, index, br#"{"text":"#, fragment, b"}"));
                    n_text += 1;
                    encoded.mark(Mark::Text(n_text));
                }
            }
            ScriptBlock::Call(key) => {
                let call = &plan.calls[key.0 as usize];
                encoded.frame(|out| call_start(out, index, call));
                encoded.mark(Mark::Start(*key));
                for (k, fragment) in call.deltas.iter().enumerate() {
                    encoded.frame(|out| delta(out, index, br#"{"toolUse":{"input":"#, fragment, b"}}"));
                    encoded.mark(Mark::Delta(*key, k as u32 + 1));
                }
            }
            ScriptBlock::Server(_) => continue,
        }
        encoded.frame(|out| {
            let mut payload = block_head(index);
            payload.push(b'}');
            write_event(out, "contentBlockStop", payload);
        });
        if let ScriptBlock::Call(key) = block {
            encoded.mark(Mark::End(*key));
        }
    }
    if script.has_calls() {
        encoded.mark(Mark::Calls);
    }
    encoded.frame(|out| {
        let payload = format!(r#"{{"stopReason":"{}"}}"#, WIRE.stop_word_of(script));
        write_event(out, "messageStop", payload.into_bytes());
    });
    encoded.mark(Mark::Stop);
    encoded.frame(|out| {
        let payload = json!({ "usage": usage(envelope), "metrics": { "latencyMs": LATENCY_MS } });
        write_event(out, "metadata", payload.to_string().into_bytes());
    });
    encoded.mark(Mark::Reply);
    encoded
}

pub(super) fn whole(plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Value {
    let content: Vec<Value> = script
        .blocks
        .iter()
        .enumerate()
        .filter_map(|(index, block)| match block {
            ScriptBlock::Think(fragments) => Some(json!({
                "reasoningContent": {
                    "reasoningText": {
                        "text": fragments.concat(),
                        "signature": block_signature(envelope, index),
                    },
                },
            })),
            ScriptBlock::Text(fragments) => Some(json!({ "text": fragments.concat() })),
            ScriptBlock::Call(key) => {
                let call = &plan.calls[key.0 as usize];
                Some(json!({ "toolUse": { "toolUseId": call.id, "name": call.tool, "input": call.args } }))
            }
            ScriptBlock::Server(_) => None,
        })
        .collect();
    json!({
        "output": { "message": { "role": "assistant", "content": content } },
        "stopReason": WIRE.stop_word_of(script),
        "usage": usage(envelope),
        "metrics": { "latencyMs": LATENCY_MS },
    })
}

/// The service reports how long a reply took; ours reports a constant, so the same plan gives the same bytes.
const LATENCY_MS: u64 = 1234;

fn usage(envelope: Envelope<'_>) -> Value {
    let Tokens { input, output } = envelope.tokens;
    json!({ "inputTokens": input, "outputTokens": output, "totalTokens": envelope.tokens.total() })
}

/// The beginning of a payload about a block.
fn block_head(index: usize) -> Vec<u8> {
    let mut payload = br#"{"contentBlockIndex":"#.to_vec();
    json_number(&mut payload, index);
    payload
}

fn call_start(out: &mut Vec<u8>, index: usize, call: &PlannedCall) {
    let mut payload = block_head(index);
    payload.extend_from_slice(br#","start":{"toolUse":{"toolUseId":"#);
    json_string(&mut payload, &call.id);
    payload.extend_from_slice(br#","name":"#);
    json_string(&mut payload, &call.tool);
    payload.extend_from_slice(b"}}}");
    write_event(out, "contentBlockStart", payload);
}

fn delta(out: &mut Vec<u8>, index: usize, before: &[u8], fragment: &str, after: &[u8]) {
    let mut payload = block_head(index);
    payload.extend_from_slice(br#","delta":"#);
    payload.extend_from_slice(before);
    json_string(&mut payload, fragment);
    payload.extend_from_slice(after);
    payload.push(b'}');
    write_event(out, "contentBlockDelta", payload);
}
