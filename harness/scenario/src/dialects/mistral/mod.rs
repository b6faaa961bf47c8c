//! Mistral's La Plateforme, `POST /v1/chat/completions`: <https://docs.mistral.ai/api/endpoint/chat>.
//!
//! Requests, complete bodies and chunks are read as in OpenAI Chat Completions. The provider's output
//! differs: a call is sent complete in one chunk, ids are short, and every stream reports its tokens.

mod encode;
mod request;

use serde_json::{Value, json};

use super::openai;
use crate::scenario::Stop;
use crate::wire::{DialectTraits, Overflow, Wire};
use brickbat_rules::dialect::Dialect;

pub(crate) const WIRE: Wire = Wire {
    traits: DialectTraits {
        request_id_header: "mistral-correlation-id",
        message_id_prefix: "",
        stop_words: &[(Stop::Length, "length"), (Stop::Calls, "tool_calls"), (Stop::End, "stop")],
        interleaves: false,
        // Mistral's own servers send a stop reason.
        may_lack_end: false,
        // No public thread mentions it.
        refuses_half_characters: false,
        // Refused for years, and still refused by some models (charmbracelet/crush#279, lijunzh/koda#886).
        wants_word_after_results: true,
        // Models of the first three tokenizers reject both (langchain-ai/langchain#21196, github/copilot-cli#4884).
        takes_text_or_calls: true,
        ..openai::WIRE.traits
    },
    path_owner: Some(Dialect::OpenaiChat),
    // This part of the path tells its requests from OpenAI's.
    sdk_base: "/mistral",
    sdk_variable: Some("MISTRAL_BASE_URL"),
    request: request::FORM,
    asks_for_usage: |_| false,
    request_id: str::to_owned,
    stream: encode::stream,
    whole: encode::whole,
    block_marks: encode::block_marks,
    status_body,
    overflow: Overflow { body: overflow_body, sign: "too large for model with" },
    error_frame: |kind, _| format!("data: {}\n\n", WIRE.error_body(kind)).into_bytes(),
    ..openai::WIRE
};

/// As in `overflow.js` of `@earendil-works/pi-ai` 1.5.2, which leaves out the text in the middle.
fn overflow_body() -> Value {
    let mut body = status_body(400);
    body["message"] =
        "Prompt contains 204308 tokens, too large for model with 131072 maximum context length".into();
    body
}

fn status_body(status: u16) -> Value {
    let (message, kind, code) = match status {
        401 => return json!({ "message": "Unauthorized" }),
        404 => return json!({ "message": "no Route matched with those values" }),
        429 => ("Requests rate limit exceeded", "rate_limited", Some("1300")),
        400..=499 => ("Bad Request", "invalid_request_error", None),
        _ => ("Service unavailable.", "unreachable_backend", Some("1100")),
    };
    json!({ "object": "error", "message": message, "type": kind, "param": null, "code": code })
}
