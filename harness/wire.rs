//! The wire: replies into frames, frames into events, requests into histories.
//!
//! An encoder for each dialect, one reader of server-sent events, a decoder for each dialect.
//! Nothing here judges; see [`crate::rules`] for that. Grammars: the providers' streaming documentation
//! (<https://platform.claude.com/docs/en/build-with-claude/streaming>,
//! <https://platform.openai.com/docs/api-reference/chat-streaming>).

mod anthropic;
mod decode;
mod frames;
mod history;
mod openai;
mod sse;

pub use decode::{Decoder, ReplyEvent, decode_whole};
pub(crate) use frames::json_string;
pub use frames::{Encoded, Frames};
pub use history::{history, offered_tools};
pub use sse::{SseEvent, SseReader};

use crate::dialect::Dialect;
use crate::plan::{Mark, Plan, PlannedCall, Script};
use crate::scenario::ErrorKind;

/// What a reply needs besides its script.
#[derive(Debug, Clone, Copy)]
pub struct Envelope<'a> {
    /// The id of the message, unique for each answer.
    pub id: &'a str,
    /// The model, as the request named it.
    pub model: &'a str,
    /// Whether the client asked for the usage chunk (`openai-chat` only).
    pub usage: bool,
}

/// A reply as a stream of frames.
pub fn encode_stream(dialect: Dialect, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
    match dialect {
        Dialect::AnthropicMessages => anthropic::encode_stream(plan, script, envelope),
        Dialect::OpenaiChat => openai::encode_stream(plan, script, envelope),
    }
}

/// A reply as one JSON body, in two halves, so that a fault can fall inside it.
/// All marks of the reply belong to the second half.
pub fn encode_whole(dialect: Dialect, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
    let body = match dialect {
        Dialect::AnthropicMessages => anthropic::encode_whole(plan, script, envelope),
        Dialect::OpenaiChat => openai::encode_whole(plan, script, envelope),
    };
    let text = body.to_string();
    let middle = text.floor_char_boundary(text.len() / 2);
    let mut encoded = Encoded::with_capacity(text.len());
    encoded.frame(|out| out.extend_from_slice(&text.as_bytes()[..middle]));
    encoded.frame(|out| out.extend_from_slice(&text.as_bytes()[middle..]));
    marks(dialect, script, &plan.calls).into_iter().skip(1).for_each(|mark| encoded.mark(mark));
    encoded
}

/// The marks of a reply's stream, in the order in which the encoder reaches them, the headers first.
/// `calls` are the calls of the plan.
pub fn marks(dialect: Dialect, script: &Script, calls: &[PlannedCall]) -> Vec<Mark> {
    let mut marks = match dialect {
        Dialect::AnthropicMessages => anthropic::block_marks(script, calls),
        Dialect::OpenaiChat => openai::block_marks(script, calls),
    };
    marks.insert(0, Mark::Headers);
    marks.extend(script.has_calls().then_some(Mark::Calls));
    marks.extend([Mark::Stop, Mark::Reply]);
    marks
}

/// The error event inside a stream that began with status 200.
pub fn error_frame(dialect: Dialect, kind: ErrorKind) -> Vec<u8> {
    let (status, word, message) = error_words(dialect, kind);
    let body = error_body(dialect, status, word, message);
    match dialect {
        Dialect::AnthropicMessages => format!("event: error\ndata: {body}\n\n").into_bytes(),
        Dialect::OpenaiChat => format!("data: {body}\n\n").into_bytes(),
    }
}

/// The error of an HTTP status in the provider's words.
pub fn status_body(dialect: Dialect, status: u16) -> serde_json::Value {
    let (word, message) = match (dialect, status) {
        (Dialect::AnthropicMessages, 401) => ("authentication_error", "invalid x-api-key"),
        (Dialect::AnthropicMessages, 404) => ("not_found_error", "Not Found"),
        (Dialect::AnthropicMessages, 413) => ("request_too_large", "Request exceeds the maximum size"),
        (Dialect::AnthropicMessages, 429) => {
            ("rate_limit_error", "Number of requests has exceeded your rate limit")
        }
        (Dialect::AnthropicMessages, 529) => ("overloaded_error", "Overloaded"),
        (Dialect::AnthropicMessages, 400..=499) => ("invalid_request_error", "Bad Request"),
        (Dialect::AnthropicMessages, _) => ("api_error", "Internal server error"),
        (Dialect::OpenaiChat, 401) => ("invalid_request_error", "Incorrect API key provided"),
        (Dialect::OpenaiChat, 404) => ("invalid_request_error", "Invalid URL"),
        (Dialect::OpenaiChat, 429) => ("requests", "Rate limit reached for requests"),
        (Dialect::OpenaiChat, 400..=499) => ("invalid_request_error", "Bad Request"),
        (Dialect::OpenaiChat, 503 | 529) => {
            ("server_error", "That model is currently overloaded with other requests")
        }
        (Dialect::OpenaiChat, _) => ("server_error", "The server had an error while processing your request"),
    };
    error_body(dialect, status, word, message)
}

fn error_words(dialect: Dialect, kind: ErrorKind) -> (u16, &'static str, &'static str) {
    match (dialect, kind) {
        (Dialect::AnthropicMessages, ErrorKind::Overloaded) => (529, "overloaded_error", "Overloaded"),
        (Dialect::AnthropicMessages, ErrorKind::Server) => (500, "api_error", "Internal server error"),
        (Dialect::AnthropicMessages, ErrorKind::RateLimit) => {
            (429, "rate_limit_error", "Number of requests has exceeded your rate limit")
        }
        (Dialect::OpenaiChat, ErrorKind::Overloaded) => {
            (503, "server_error", "That model is currently overloaded with other requests")
        }
        (Dialect::OpenaiChat, ErrorKind::Server) => {
            (500, "server_error", "The server had an error while processing your request")
        }
        (Dialect::OpenaiChat, ErrorKind::RateLimit) => (429, "requests", "Rate limit reached for requests"),
    }
}

fn error_body(dialect: Dialect, status: u16, word: &str, message: &str) -> serde_json::Value {
    match dialect {
        Dialect::AnthropicMessages => serde_json::json!({
            "type": "error",
            "error": { "type": word, "message": message },
            "request_id": format!("req_brickbat_{status}"),
        }),
        Dialect::OpenaiChat => {
            let code = if status == 429 { Some("rate_limit_exceeded") } else { None };
            serde_json::json!({ "error": { "message": message, "type": word, "param": null, "code": code } })
        }
    }
}
