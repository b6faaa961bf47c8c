//! OpenAI Responses, `POST /v1/responses`: <https://platform.openai.com/docs/api-reference/responses>.

mod decode;
mod encode;
mod history;

use std::borrow::Cow;

use serde_json::{Value, json};

use super::decode::{Decode, ReplyEvent, SseDecoder};
use super::{ALPHANUMERIC, Encoded, Envelope, IdForm, Route, Wire, openai};
use crate::history::History;
use crate::plan::{Mark, Plan, PlannedCall, Script};
use crate::scenario::{ErrorKind, Stop};
use brickbat_rules::json::Json;

/// The wire of `openai-responses`.
#[derive(Debug)]
pub(super) struct OpenaiResponses;

const PATH: &str = "/v1/responses";

impl Wire for OpenaiResponses {
    fn route<'a>(&self, method: &str, path: &'a str) -> Option<Route<'a>> {
        Route::fixed(method, path, PATH)
    }

    fn post_path(&self, _model: &str, _streamed: bool) -> String {
        PATH.to_owned()
    }

    fn beside(&self, method: &str, path: &str, body: &[u8]) -> Option<Value> {
        match (method, path) {
            ("GET" | "HEAD", "/v1/models") => Some(super::models()),
            ("POST", "/v1/responses/input_tokens") => {
                Some(json!({ "object": "response.input_tokens", "input_tokens": body.len() / 4 }))
            }
            _ => None,
        }
    }

    fn shows_thinking(&self) -> bool {
        true
    }

    /// What a model thinks is shown as a summary, to clients that ask for one
    /// (<https://platform.openai.com/docs/guides/reasoning#reasoning-summaries>).
    fn asks_to_think(&self, body: Json) -> bool {
        body.field("reasoning").field("summary").is_str()
    }

    fn offered_tools(&self, body: Json) -> Vec<String> {
        let tools = body.field("tools").items();
        tools.filter_map(|tool| tool.field("name").as_str().map(Cow::into_owned)).collect()
    }

    fn history(&self, body: Json) -> History {
        history::history(body)
    }

    fn request_id_header(&self) -> &'static str {
        "x-request-id"
    }

    fn message_id(&self, unique: &str) -> String {
        format!("resp_{unique}")
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

    /// The terminal event carries the status, and nothing comes after it.
    fn is_whole_at_stop(&self) -> bool {
        true
    }

    fn ends_with_stop(&self) -> bool {
        true
    }

    fn stop_word(&self, stop: Stop) -> Option<&'static str> {
        match stop {
            Stop::Length => Some("max_output_tokens"),
            Stop::Pause => None,
            Stop::Refusal => Some("content_filter"),
            // There is none for a reply that is complete, only a status.
            Stop::Calls | Stop::End => Some(encode::COMPLETED),
        }
    }

    fn writes_arguments(&self) -> bool {
        true
    }

    fn status_body(&self, status: u16) -> Value {
        openai::status_body(status)
    }

    fn error_frame(&self, kind: ErrorKind) -> Vec<u8> {
        self.error_frame_after(kind, b"")
    }

    /// The events are counted, so the number of the error depends on what came before.
    fn error_frame_after(&self, kind: ErrorKind, sent: &[u8]) -> Vec<u8> {
        encode::error(kind, &openai::status_body(self.error_status(kind))["error"], sent)
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(SseDecoder::<decode::Events>::default())
    }

    fn decode_whole(&self, body: &Value, said: &mut dyn FnMut(ReplyEvent)) {
        decode::whole(body, said);
    }
}
