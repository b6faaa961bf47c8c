//! Anthropic Messages, `POST /v1/messages`: <https://platform.claude.com/docs/en/api/messages>.

mod decode;
mod encode;
mod history;

use std::borrow::Cow;

use serde_json::{Value, json};

use super::decode::{Decode, ReplyEvent, SseDecoder};
use super::{ALPHANUMERIC, Encoded, Envelope, IdForm, Route, Wire};
use crate::history::History;
use crate::plan::{Mark, Plan, PlannedCall, Script};
use crate::scenario::{ErrorKind, Stop};
use brickbat_rules::json::Json;

/// The wire of `anthropic-messages`.
#[derive(Debug)]
pub(super) struct AnthropicMessages;

const PATH: &str = "/v1/messages";

impl Wire for AnthropicMessages {
    fn route<'a>(&self, method: &str, path: &'a str) -> Option<Route<'a>> {
        Route::fixed(method, path, PATH)
    }

    fn post_path(&self, _model: &str, _streamed: bool) -> String {
        PATH.to_owned()
    }

    fn beside(&self, method: &str, path: &str, body: &[u8]) -> Option<Value> {
        match (method, path) {
            ("GET" | "HEAD", "/v1/models") => Some(super::models()),
            ("POST", "/v1/messages/count_tokens") => Some(json!({ "input_tokens": body.len() / 4 })),
            _ => None,
        }
    }

    fn shows_thinking(&self) -> bool {
        true
    }

    /// `enabled`, `adaptive` and `between_tools` do (<https://platform.claude.com/docs/en/build-with-claude/extended-thinking>).
    fn asks_to_think(&self, body: Json) -> bool {
        let kind = body.field("thinking").field("type");
        kind.is_str() && !kind.is("disabled")
    }

    fn offered_tools(&self, body: Json) -> Vec<String> {
        let tools = body.field("tools").items();
        tools.filter_map(|tool| tool.field("name").as_str().map(Cow::into_owned)).collect()
    }

    fn history(&self, body: Json) -> History {
        history::history(body)
    }

    fn request_id_header(&self) -> &'static str {
        "request-id"
    }

    fn message_id(&self, unique: &str) -> String {
        format!("msg_01{unique}")
    }

    fn call_id(&self) -> IdForm {
        IdForm { prefix: "toolu_01", n_letters: 22, alphabet: ALPHANUMERIC }
    }

    fn encode_stream(&self, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
        encode::stream(plan, script, envelope)
    }

    fn encode_whole(&self, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Value {
        encode::whole(plan, script, envelope)
    }

    fn block_marks(&self, script: &Script, calls: &[PlannedCall]) -> Vec<Mark> {
        encode::block_marks(script, calls)
    }

    fn stop_word(&self, stop: Stop) -> Option<&'static str> {
        match stop {
            Stop::Length => Some("max_tokens"),
            Stop::Pause => Some("pause_turn"),
            Stop::Refusal => Some("refusal"),
            Stop::Calls => Some("tool_use"),
            Stop::End => Some("end_turn"),
        }
    }

    fn error_status(&self, kind: ErrorKind) -> u16 {
        match kind {
            ErrorKind::Overloaded => 529,
            ErrorKind::Server => 500,
            ErrorKind::RateLimit => 429,
        }
    }

    fn status_body(&self, status: u16) -> Value {
        let (word, message) = match status {
            401 => ("authentication_error", "invalid x-api-key"),
            404 => ("not_found_error", "Not Found"),
            413 => ("request_too_large", "Request exceeds the maximum size"),
            429 => ("rate_limit_error", "Number of requests has exceeded your rate limit"),
            529 => ("overloaded_error", "Overloaded"),
            400..=499 => ("invalid_request_error", "Bad Request"),
            _ => ("api_error", "Internal server error"),
        };
        json!({
            "type": "error",
            "error": { "type": word, "message": message },
            "request_id": format!("req_brickbat_{status}"),
        })
    }

    fn error_frame(&self, kind: ErrorKind) -> Vec<u8> {
        let body = self.status_body(self.error_status(kind));
        format!("event: error\ndata: {body}\n\n").into_bytes()
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(SseDecoder::<decode::Events>::default())
    }

    fn decode_whole(&self, body: &Value, said: &mut dyn FnMut(ReplyEvent)) {
        decode::whole(body, said);
    }
}
