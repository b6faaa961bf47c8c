//! Anthropic Messages: encodes the model's replies.
//!
//! Observed order on the live API: `message_start`, `content_block_start`, `ping`, deltas,
//! `content_block_stop`,
//! `message_delta`, `message_stop`. Blocks are not interleaved. The first `partial_json` is usually empty.

use serde_json::{Value, json};

use crate::plan::{Mark, Plan, PlannedCall, PlannedSearch, Script, ScriptBlock, ServerBlock};
use crate::wire::Envelope;
use crate::wire::frames::{Encoded, json_number, json_string};
use crate::wire::marks::server_mark;
use crate::wire::request::prefixed;
use crate::wire::signature::block_signature;

use super::{WEB_SEARCH, WIRE};

pub(super) fn stream(plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
    let mut encoded = Encoded::with_capacity(4096);
    encoded.frame(|out| message_start(out, envelope));
    let mut n_text = 0;
    for (index, block) in script.blocks.iter().enumerate() {
        match block {
            ScriptBlock::Think(fragments) => {
                encoded.frame(|out| block_start(out, index, thinking_block));
                if index == 0 {
                    encoded.frame(ping);
                }
                for (k, fragment) in fragments.iter().enumerate() {
                    encoded.frame(|out| delta(out, index, b"thinking_delta\",\"thinking\":", fragment));
                    encoded.mark(Mark::Think(k as u32 + 1));
                }
                let signature = block_signature(envelope, index);
                encoded.frame(|out| delta(out, index, b"signature_delta\",\"signature\":", &signature));
                encoded.frame(|out| block_stop(out, index));
            }
            ScriptBlock::Text(fragments) => {
                encoded.frame(|out| block_start(out, index, text_block));
                if index == 0 {
                    encoded.frame(ping);
                }
                for fragment in fragments {
                    encoded.frame(|out| delta(out, index, b"text_delta\",\"text\":", fragment));
                    n_text += 1;
                    encoded.mark(Mark::Text(n_text));
                }
                encoded.frame(|out| block_stop(out, index));
            }
            ScriptBlock::Call(key) => {
                let call = &plan.calls[key.0 as usize];
                encoded.frame(|out| {
                    block_start(out, index, |out| call_block(out, call));
                    delta(out, index, INPUT_DELTA, "");
                });
                encoded.mark(Mark::Start(*key));
                for (k, fragment) in call.deltas.iter().enumerate() {
                    encoded.frame(|out| delta(out, index, INPUT_DELTA, fragment));
                    encoded.mark(Mark::Delta(*key, k as u32 + 1));
                }
                encoded.frame(|out| block_stop(out, index));
                encoded.mark(Mark::End(*key));
            }
            ScriptBlock::Server(block) => {
                let search = &plan.searches[block.key().0 as usize];
                match block {
                    ServerBlock::Search(_) => {
                        encoded.frame(|out| block_start(out, index, |out| search_block(out, search)));
                        encoded.frame(|out| delta(out, index, INPUT_DELTA, ""));
                        for fragment in &search.deltas {
                            encoded.frame(|out| delta(out, index, INPUT_DELTA, fragment));
                        }
                    }
                    // A result is sent in one piece.
                    ServerBlock::Found(_) => encoded.frame(|out| {
                        block_start(out, index, |out| {
                            out.extend_from_slice(found_block(search).to_string().as_bytes())
                        });
                    }),
                }
                encoded.frame(|out| block_stop(out, index));
                encoded.mark(server_mark(*block));
            }
        }
    }
    if script.has_calls() {
        encoded.mark(Mark::Calls);
    }
    encoded.frame(|out| {
        out.extend_from_slice(
            b"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"",
        );
        out.extend_from_slice(WIRE.stop_word_of(script).as_bytes());
        // The counts of the request are repeated, as in recordings of 2026; some clients read them only here.
        out.extend_from_slice(b"\",\"stop_sequence\":null},\"usage\":{\"input_tokens\":");
        json_number(out, envelope.tokens.input);
        out.extend_from_slice(
            b",\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":",
        );
        json_number(out, envelope.tokens.output);
        out.extend_from_slice(b"}}\n\n");
    });
    encoded.mark(Mark::Stop);
    encoded.frame(|out| out.extend_from_slice(b"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
    encoded.mark(Mark::Reply);
    encoded
}

pub(super) fn whole(plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Value {
    let content: Vec<Value> = script
        .blocks
        .iter()
        .enumerate()
        .map(|(index, block)| match block {
            ScriptBlock::Think(fragments) => json!({
                "type": "thinking",
                "thinking": fragments.concat(),
                "signature": block_signature(envelope, index),
            }),
            ScriptBlock::Text(fragments) => json!({ "type": "text", "text": fragments.concat() }),
            ScriptBlock::Call(key) => {
                let call = &plan.calls[key.0 as usize];
                json!({ "type": "tool_use", "id": call.id, "name": call.tool, "input": call.args })
            }
            ScriptBlock::Server(block) => {
                let search = &plan.searches[block.key().0 as usize];
                match block {
                    ServerBlock::Search(_) => json!({
                        "type": "server_tool_use",
                        "id": search.id,
                        "name": WEB_SEARCH,
                        "input": { "query": search.query },
                    }),
                    ServerBlock::Found(_) => found_block(search),
                }
            }
        })
        .collect();
    json!({
        "id": envelope.id,
        "type": "message",
        "role": "assistant",
        "model": envelope.model,
        "content": content,
        "stop_reason": WIRE.stop_word_of(script),
        "stop_sequence": null,
        "usage": { "input_tokens": envelope.tokens.input, "output_tokens": envelope.tokens.output },
    })
}

fn message_start(out: &mut Vec<u8>, envelope: Envelope<'_>) {
    out.extend_from_slice(b"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":");
    json_string(out, envelope.id);
    out.extend_from_slice(b",\"type\":\"message\",\"role\":\"assistant\",\"model\":");
    json_string(out, envelope.model);
    out.extend_from_slice(
        b",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":",
    );
    json_number(out, envelope.tokens.input);
    out.extend_from_slice(
        b",\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":1}}}\n\n",
    );
}

fn block_start(out: &mut Vec<u8>, index: usize, block: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(b"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":");
    json_number(out, index);
    out.extend_from_slice(b",\"content_block\":");
    block(out);
    out.extend_from_slice(b"}\n\n");
}

fn ping(out: &mut Vec<u8>) {
    out.extend_from_slice(b"event: ping\ndata: {\"type\": \"ping\"}\n\n");
}

fn thinking_block(out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"type":"thinking","thinking":"","signature":""}"#);
}

fn text_block(out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"type":"text","text":""}"#);
}

fn call_block(out: &mut Vec<u8>, call: &PlannedCall) {
    out.extend_from_slice(br#"{"type":"tool_use","id":"#);
    json_string(out, &call.id);
    out.extend_from_slice(b",\"name\":");
    json_string(out, &call.tool);
    out.extend_from_slice(b",\"input\":{}}");
}

fn search_block(out: &mut Vec<u8>, search: &PlannedSearch) {
    prefixed(out, br#"{"type":"server_tool_use","id":"#, &search.id);
    prefixed(out, br#","name":"#, WEB_SEARCH);
    out.extend_from_slice(b",\"input\":{}}");
}

/// The result of a search, as in
/// <https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool>.
fn found_block(search: &PlannedSearch) -> Value {
    let page = search.finds.as_deref().map(|title| {
        json!({
            "type": "web_search_result",
            "url": format!("https://example.com/{}", search.name),
            "title": title,
            "encrypted_content": format!("RW5jcnlwdGVk{}", search.id),
            "page_age": null,
        })
    });
    let content: Vec<Value> = page.into_iter().collect();
    json!({ "type": "web_search_tool_result", "tool_use_id": search.id, "content": content })
}

/// The start of a tool input delta.
const INPUT_DELTA: &[u8] = b"input_json_delta\",\"partial_json\":";

fn delta(out: &mut Vec<u8>, index: usize, kind_and_key: &[u8], fragment: &str) {
    out.extend_from_slice(b"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":");
    json_number(out, index);
    out.extend_from_slice(b",\"delta\":{\"type\":\"");
    out.extend_from_slice(kind_and_key);
    json_string(out, fragment);
    out.extend_from_slice(b"}}\n\n");
}

fn block_stop(out: &mut Vec<u8>, index: usize) {
    out.extend_from_slice(b"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":");
    json_number(out, index);
    out.extend_from_slice(b"}\n\n");
}
