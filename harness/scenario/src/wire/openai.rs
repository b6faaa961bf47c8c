//! OpenAI Chat Completions, `POST /v1/chat/completions`: <https://platform.openai.com/docs/api-reference/chat>.

mod decode;
mod encode;
mod history;

pub(super) use encode::number_of;

use std::borrow::Cow;

use serde_json::{Value, json};

use super::decode::{Decode, ReplyEvent, SseDecoder};
use super::{ALPHANUMERIC, Encoded, Envelope, IdForm, Route, Wire};
use crate::history::History;
use crate::plan::{Mark, Plan, PlannedCall, Script};
use crate::scenario::{ErrorKind, Stop};
use brickbat_rules::json::Json;

/// The wire of `openai-chat`.
#[derive(Debug)]
pub(super) struct OpenaiChat;

const PATH: &str = "/v1/chat/completions";

impl Wire for OpenaiChat {
    fn route<'a>(&self, method: &str, path: &'a str) -> Option<Route<'a>> {
        Route::fixed(method, path, PATH)
    }

    fn post_path(&self, _model: &str, _streamed: bool) -> String {
        PATH.to_owned()
    }

    fn beside(&self, method: &str, path: &str, _body: &[u8]) -> Option<Value> {
        matches!((method, path), ("GET" | "HEAD", "/v1/models")).then(super::models)
    }

    fn asks_for_usage(&self, body: Json) -> bool {
        body.field("stream_options").field("include_usage").as_bool() == Some(true)
    }

    fn offered_tools(&self, body: Json) -> Vec<String> {
        let tools = body.field("tools").items();
        tools.filter_map(|tool| tool.field("function").field("name").as_str().map(Cow::into_owned)).collect()
    }

    fn history(&self, body: Json) -> History {
        history::history(body)
    }

    fn request_id_header(&self) -> &'static str {
        "x-request-id"
    }

    fn message_id(&self, unique: &str) -> String {
        format!("chatcmpl-{unique}")
    }

    fn call_id(&self) -> IdForm {
        IdForm { prefix: "call_", n_letters: 24, alphabet: ALPHANUMERIC }
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

    fn interleaves(&self) -> bool {
        true
    }

    /// The usage chunk and `[DONE]` say nothing more of the reply.
    fn is_whole_at_stop(&self) -> bool {
        true
    }

    fn stop_word(&self, stop: Stop) -> Option<&'static str> {
        match stop {
            Stop::Length => Some("length"),
            Stop::Pause => None,
            Stop::Refusal => Some("content_filter"),
            Stop::Calls => Some("tool_calls"),
            Stop::End => Some("stop"),
        }
    }

    fn numbers_calls(&self) -> bool {
        true
    }

    fn may_lack_ids(&self) -> bool {
        true
    }

    fn writes_arguments(&self) -> bool {
        true
    }

    fn status_body(&self, status: u16) -> Value {
        status_body(status)
    }

    fn error_frame(&self, kind: ErrorKind) -> Vec<u8> {
        let body = self.status_body(self.error_status(kind));
        format!("data: {body}\n\n").into_bytes()
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(SseDecoder::<decode::Events>::default())
    }

    fn decode_whole(&self, body: &Value, said: &mut dyn FnMut(ReplyEvent)) {
        decode::whole(body, said);
    }
}

/// The body of an answer with that status, 400 or above, in OpenAI's words.
pub(super) fn status_body(status: u16) -> Value {
    let (word, message) = match status {
        401 => ("invalid_request_error", "Incorrect API key provided"),
        404 => ("invalid_request_error", "Invalid URL"),
        429 => ("requests", "Rate limit reached for requests"),
        400..=499 => ("invalid_request_error", "Bad Request"),
        503 | 529 => ("server_error", "That model is currently overloaded with other requests"),
        _ => ("server_error", "The server had an error while processing your request"),
    };
    let code = if status == 429 { Some("rate_limit_exceeded") } else { None };
    json!({ "error": { "message": message, "type": word, "param": null, "code": code } })
}
