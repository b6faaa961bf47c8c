//! OpenAI Chat Completions: encodes the model's replies.
//!
//! Native order: a chunk with the role, content, one opening chunk for each call and its argument chunks,
//! the finish reason, the usage chunk if asked for, `[DONE]`. A call has no closing chunk: it is complete
//! with its last arguments.

use serde_json::{Value, json};

use crate::plan::{CallKey, Mark, Plan, PlannedCall, Script, ScriptBlock};
use crate::scenario::Indices;
use crate::wire::frames::{Encoded, json_number, json_string};
use crate::wire::marks::text_marks;
use crate::wire::{CREATED, Envelope, Tokens};

use super::WIRE;

pub(super) fn stream(plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
    let mut encoded = Encoded::with_capacity(8192);
    let head = chunk_head(envelope);
    let chunk = |encoded: &mut Encoded, delta: &dyn Fn(&mut Vec<u8>), finish: Option<&str>| {
        encoded.frame(|out| {
            out.extend_from_slice(&head);
            out.extend_from_slice(b",\"choices\":[{\"index\":0,\"delta\":");
            delta(out);
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
    chunk(&mut encoded, &|out| out.extend_from_slice(first), None);
    let mut n_text = 0;
    for block in &script.blocks {
        let ScriptBlock::Text(fragments) = block else { continue };
        for fragment in fragments {
            chunk(&mut encoded, &|out| content(out, fragment), None);
            n_text += 1;
            encoded.mark(Mark::Text(n_text));
        }
    }
    for step in call_steps(script, &plan.calls) {
        let call = &plan.calls[step.key.0 as usize];
        let number = number_of(script, step.index);
        chunk(&mut encoded, &|out| step.write(out, number, call), None);
        step.marks(call).for_each(|mark| encoded.mark(mark));
    }
    if script.has_calls() {
        encoded.mark(Mark::Calls);
    }
    chunk(&mut encoded, &|out| out.extend_from_slice(b"{}"), Some(WIRE.stop_word_of(script)));
    encoded.mark(Mark::Stop);
    if envelope.usage {
        encoded.frame(|out| {
            out.extend_from_slice(&head);
            out.extend_from_slice(b",\"choices\":[],\"usage\":");
            out.extend_from_slice(usage(envelope).to_string().as_bytes());
            out.extend_from_slice(b"}\n\n");
        });
    }
    encoded.frame(|out| out.extend_from_slice(b"data: [DONE]\n\n"));
    encoded.mark(Mark::Reply);
    encoded
}

/// The text and call marks, in the order of [`stream`].
pub(super) fn block_marks(script: &Script, calls: &[PlannedCall]) -> Vec<Mark> {
    let steps = call_steps(script, calls).into_iter();
    text_marks(script).chain(steps.flat_map(|step| step.marks(&calls[step.key.0 as usize]))).collect()
}

pub(super) fn whole(plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Value {
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
            let mut written = json!({
                "id": call.id,
                "type": "function",
                "function": { "name": call.tool, "arguments": call.deltas.concat() },
            });
            if call.sent_id().is_none() {
                written["id"].take();
            }
            written
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
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": WIRE.stop_word_of(script) }],
        "usage": usage(envelope),
    })
}

fn usage(envelope: Envelope<'_>) -> Value {
    let Tokens { input, output } = envelope.tokens;
    json!({ "prompt_tokens": input, "completion_tokens": output, "total_tokens": envelope.tokens.total() })
}

/// The number on the wire of the call at this index, if it has one.
pub(crate) fn number_of(script: &Script, index: usize) -> Option<usize> {
    match script.indices {
        None => Some(index),
        Some(Indices::Same) => Some(0),
        Some(Indices::Missing) => None,
    }
}

/// The beginning of every chunk.
pub(crate) fn chunk_head(envelope: Envelope<'_>) -> Vec<u8> {
    let mut head = b"data: {\"id\":".to_vec();
    json_string(&mut head, envelope.id);
    head.extend_from_slice(
        format!(",\"object\":\"chat.completion.chunk\",\"created\":{CREATED},\"model\":").as_bytes(),
    );
    json_string(&mut head, envelope.model);
    head
}

pub(crate) fn content(out: &mut Vec<u8>, fragment: &str) {
    out.extend_from_slice(b"{\"content\":");
    json_string(out, fragment);
    out.push(b'}');
}

/// One chunk of a call.
#[derive(Clone, Copy)]
struct CallStep {
    /// The index of the call in the reply.
    index: usize,
    key: CallKey,
    /// The piece of the arguments, from 0; `None` for the chunk that opens the call.
    piece: Option<usize>,
}

impl CallStep {
    fn write(self, out: &mut Vec<u8>, number: Option<usize>, call: &PlannedCall) {
        out.extend_from_slice(b"{\"tool_calls\":[{");
        if let Some(number) = number {
            out.extend_from_slice(b"\"index\":");
            json_number(out, number);
            out.push(b',');
        }
        match self.piece {
            None => {
                if let Some(id) = call.sent_id() {
                    out.extend_from_slice(b"\"id\":");
                    json_string(out, id);
                    out.push(b',');
                }
                out.extend_from_slice(b"\"type\":\"function\",\"function\":{\"name\":");
                json_string(out, &call.tool);
                out.extend_from_slice(b",\"arguments\":\"\"}}]}");
            }
            Some(piece) => {
                out.extend_from_slice(b"\"function\":{\"arguments\":");
                json_string(out, &call.deltas[piece]);
                out.extend_from_slice(b"}}]}");
            }
        }
    }

    /// The marks that the chunk completes.
    fn marks(self, call: &PlannedCall) -> impl Iterator<Item = Mark> {
        let n_pieces = self.piece.map_or(0, |piece| piece + 1);
        let here = match self.piece {
            None => Mark::Start(self.key),
            Some(_) => Mark::Delta(self.key, n_pieces as u32),
        };
        let is_last = n_pieces == call.deltas.len();
        std::iter::once(here).chain(is_last.then_some(Mark::End(self.key)))
    }
}

/// The chunks of all calls: one call after the other, or with interleaved arguments.
fn call_steps(script: &Script, calls: &[PlannedCall]) -> Vec<CallStep> {
    let keys = || script.calls().enumerate();
    let n_pieces = |key: CallKey| calls[key.0 as usize].deltas.len();
    let opening = |(index, key)| CallStep { index, key, piece: None };
    let piece = |(index, key), piece| CallStep { index, key, piece: Some(piece) };
    if script.interleave {
        let n_rounds = script.calls().map(n_pieces).max().unwrap_or(0);
        let still_open = |round| keys().filter(move |(_, key)| round < n_pieces(*key));
        let rounds = (0..n_rounds).flat_map(|round| still_open(round).map(move |call| piece(call, round)));
        keys().map(opening).chain(rounds).collect()
    } else {
        let pieces = |call: (usize, CallKey)| (0..n_pieces(call.1)).map(move |k| piece(call, k));
        keys().flat_map(|call| std::iter::once(opening(call)).chain(pieces(call))).collect()
    }
}
