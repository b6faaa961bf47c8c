//! OpenAI Chat Completions: what the model's replies look like.
//!
//! Native order: a chunk with the role, content, one opening chunk for each call and its argument chunks,
//! the finish reason, the usage chunk if asked for, `[DONE]`. A call has no closing chunk: it is complete
//! with its last arguments.

use serde_json::{Value, json};

use super::Envelope;
use super::frames::{Encoded, json_string};
use crate::plan::{CallKey, Mark, Plan, Script, ScriptBlock};

pub(super) fn encode_stream(plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
    let mut encoded = Encoded::with_capacity(8192);
    let head = chunk_head(envelope);
    let chunk = |encoded: &mut Encoded, delta: &[u8], finish: Option<&str>| {
        encoded.frame(|out| {
            out.extend_from_slice(&head);
            out.extend_from_slice(b",\"choices\":[{\"index\":0,\"delta\":");
            out.extend_from_slice(delta);
            out.extend_from_slice(b",\"logprobs\":null,\"finish_reason\":");
            match finish {
                Some(reason) => json_string(out, reason),
                None => out.extend_from_slice(b"null"),
            }
            out.extend_from_slice(if envelope.usage {
                b"}],\"usage\":null}\n\n".as_slice()
            } else {
                b"}]}\n\n"
            });
        });
    };

    let has_text = script.blocks.iter().any(|block| matches!(block, ScriptBlock::Text(_)));
    let first: &[u8] = if has_text {
        br#"{"role":"assistant","content":"","refusal":null}"#
    } else {
        br#"{"role":"assistant","content":null,"refusal":null}"#
    };
    chunk(&mut encoded, first, None);
    let mut n_text = 0;
    for block in &script.blocks {
        let ScriptBlock::Text(fragments) = block else { continue };
        for fragment in fragments {
            let mut delta = b"{\"content\":".to_vec();
            json_string(&mut delta, fragment);
            delta.push(b'}');
            chunk(&mut encoded, &delta, None);
            n_text += 1;
            encoded.mark(Mark::Text(n_text));
        }
    }
    for step in call_steps(plan, script) {
        chunk(&mut encoded, &step.delta, None);
        step.marks.into_iter().for_each(|mark| encoded.mark(mark));
    }
    encoded.mark(Mark::Calls);
    chunk(&mut encoded, b"{}", Some(finish_reason(script)));
    encoded.mark(Mark::Stop);
    if envelope.usage {
        encoded.frame(|out| {
            out.extend_from_slice(&head);
            out.extend_from_slice(
                b",\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":42,\"total_tokens\":54}}\n\n",
            );
        });
    }
    encoded.frame(|out| out.extend_from_slice(b"data: [DONE]\n\n"));
    encoded.mark(Mark::Reply);
    encoded
}

pub(super) fn encode_whole(plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Value {
    let text = script.text();
    let mut message = json!({
        "role": "assistant",
        "content": if text.is_empty() { Value::Null } else { Value::String(text) },
        "refusal": null,
    });
    let calls: Vec<Value> = script
        .calls()
        .map(|key| {
            let call = &plan.calls[key.0 as usize];
            json!({
                "id": call.id,
                "type": "function",
                "function": { "name": call.tool, "arguments": call.deltas.concat() },
            })
        })
        .collect();
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    json!({
        "id": envelope.id,
        "object": "chat.completion",
        "created": CREATED,
        "model": envelope.model,
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(script) }],
        "usage": { "prompt_tokens": 12, "completion_tokens": 42, "total_tokens": 54 },
    })
}

/// The providers stamp replies with the time; ours is a constant, so that the same plan gives the same bytes.
const CREATED: u64 = 1_790_000_000;

fn finish_reason(script: &Script) -> &'static str {
    if script.calls().next().is_some() { "tool_calls" } else { "stop" }
}

fn chunk_head(envelope: Envelope<'_>) -> Vec<u8> {
    let mut head = b"data: {\"id\":".to_vec();
    json_string(&mut head, envelope.id);
    head.extend_from_slice(
        format!(",\"object\":\"chat.completion.chunk\",\"created\":{CREATED},\"model\":").as_bytes(),
    );
    json_string(&mut head, envelope.model);
    head
}

/// One chunk about a call, and what it completes.
struct CallStep {
    delta: Vec<u8>,
    marks: Vec<Mark>,
}

/// The chunks of all calls: one call after the other, or their arguments in turns.
fn call_steps(plan: &Plan, script: &Script) -> Vec<CallStep> {
    let calls: Vec<CallKey> = script.calls().collect();
    let opening = |index: usize| {
        let call = &plan.calls[calls[index].0 as usize];
        let mut delta = format!("{{\"tool_calls\":[{{\"index\":{index},\"id\":").into_bytes();
        json_string(&mut delta, &call.id);
        delta.extend_from_slice(b",\"type\":\"function\",\"function\":{\"name\":");
        json_string(&mut delta, &call.tool);
        delta.extend_from_slice(b",\"arguments\":\"\"}}]}");
        CallStep { delta, marks: vec![Mark::Start(calls[index])] }
    };
    let arguments = |index: usize, k: usize| {
        let fragments = &plan.calls[calls[index].0 as usize].deltas;
        let mut delta =
            format!("{{\"tool_calls\":[{{\"index\":{index},\"function\":{{\"arguments\":").into_bytes();
        json_string(&mut delta, &fragments[k]);
        delta.extend_from_slice(b"}}]}");
        let mut marks = vec![Mark::Delta(calls[index], k as u32 + 1)];
        if k + 1 == fragments.len() {
            marks.push(Mark::End(calls[index]));
        }
        CallStep { delta, marks }
    };
    let n_deltas = |index: usize| plan.calls[calls[index].0 as usize].deltas.len();

    if script.interleave {
        let rounds = (0..calls.len()).map(n_deltas).max().unwrap_or(0);
        let openings = (0..calls.len()).map(opening);
        let turns =
            (0..rounds).flat_map(|k| (0..calls.len()).filter(move |i| k < n_deltas(*i)).map(move |i| (i, k)));
        openings.chain(turns.map(|(index, k)| arguments(index, k))).collect()
    } else {
        (0..calls.len())
            .flat_map(|index| {
                std::iter::once(opening(index)).chain((0..n_deltas(index)).map(move |k| arguments(index, k)))
            })
            .collect()
    }
}
