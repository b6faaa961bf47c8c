//! Mistral's La Plateforme, `POST /v1/chat/completions`: <https://docs.mistral.ai/api/endpoint/chat>.
//!
//! Requests, whole bodies and chunks are read as those of OpenAI Chat Completions. What differs is what the provider
//! writes: a call comes whole in one chunk, ids are short, and every stream reports its tokens.

mod encode;

use serde_json::{Value, json};

use super::decode::{Decode, ReplyEvent};
use super::openai::OpenaiChat;
use super::{ALPHANUMERIC, Encoded, Envelope, IdForm, Route, Wire};
use crate::history::History;
use crate::plan::{Mark, Plan, PlannedCall, Script};
use crate::scenario::{ErrorKind, Stop};
use brickbat_rules::json::Json;

/// The wire of `mistral`.
#[derive(Debug)]
pub(super) struct Mistral;

impl Wire for Mistral {
    fn route<'a>(&self, method: &str, path: &'a str) -> Option<Route<'a>> {
        OpenaiChat.route(method, path)
    }

    fn post_path(&self, model: &str, streamed: bool) -> String {
        OpenaiChat.post_path(model, streamed)
    }

    fn beside(&self, method: &str, path: &str, body: &[u8]) -> Option<Value> {
        OpenaiChat.beside(method, path, body)
    }

    fn offered_tools(&self, body: Json) -> Vec<String> {
        OpenaiChat.offered_tools(body)
    }

    fn history(&self, body: Json) -> History {
        OpenaiChat.history(body)
    }

    fn request_id_header(&self) -> &'static str {
        "mistral-correlation-id"
    }

    fn request_id(&self, unique: &str) -> String {
        unique.to_owned()
    }

    fn message_id(&self, unique: &str) -> String {
        unique.to_owned()
    }

    fn call_id(&self) -> IdForm {
        IdForm { prefix: "", n_letters: 9, alphabet: ALPHANUMERIC }
    }

    fn encode_stream(&self, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
        encode::stream(plan, script, envelope)
    }

    fn encode_whole(&self, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Value {
        encode::whole(plan, script, envelope)
    }

    fn block_marks(&self, script: &Script, _: &[PlannedCall]) -> Vec<Mark> {
        encode::block_marks(script)
    }

    /// `[DONE]` says nothing more of the reply.
    fn is_whole_at_stop(&self) -> bool {
        true
    }

    fn stop_word(&self, stop: Stop) -> Option<&'static str> {
        match stop {
            Stop::Length => Some("length"),
            Stop::Pause | Stop::Refusal => None,
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
        let message = match status {
            401 => "Unauthorized",
            404 => "no Route matched with those values",
            429 => "Requests rate limit exceeded",
            400..=499 => "Bad Request",
            503 | 529 => "Service unavailable.",
            _ => "Service unavailable.",
        };
        match status {
            401 | 404 => json!({ "message": message }),
            429 => {
                json!({ "object": "error", "message": message, "type": "rate_limited", "param": null, "code": "1300" })
            }
            400..=499 => {
                json!({ "object": "error", "message": message, "type": "invalid_request_error", "param": null, "code": null })
            }
            _ => {
                json!({ "object": "error", "message": message, "type": "unreachable_backend", "param": null, "code": "1100" })
            }
        }
    }

    fn error_frame(&self, kind: ErrorKind) -> Vec<u8> {
        let body = self.status_body(self.error_status(kind));
        format!("data: {body}\n\n").into_bytes()
    }

    fn decoder(&self) -> Box<dyn Decode> {
        OpenaiChat.decoder()
    }

    fn decode_whole(&self, body: &Value, said: &mut dyn FnMut(ReplyEvent)) {
        OpenaiChat.decode_whole(body, said);
    }
}
