//! The wire: replies into frames, frames into events, requests into histories.
//!
//! Whatever differs between provider APIs is said by a [`Wire`], one for each dialect, and [`of`] is the only place
//! that chooses among them. How strict a provider is and how our own agent asks are not said here: see
//! [`brickbat_rules::rules`] and `brickbat-engine`. Nothing here judges.

mod anthropic;
mod bedrock;
mod decode;
mod event_stream;
mod frames;
mod gemini;
mod history;
mod mistral;
mod openai;
mod responses;
mod signature;
mod sse;

use std::borrow::Cow;

use serde_json::{Value, json};

pub use decode::{Decode, Decoder, ReplyEvent, decode_whole};
pub use frames::json_string;
pub use frames::{Encoded, Frames};
pub use history::{history, offered_tools};
pub use sse::{SseEvent, SseReader};

use crate::history::History;
use crate::plan::{Mark, Plan, PlannedCall, Script};
use crate::scenario::{ErrorKind, Stop};
use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::Json;

/// The wire of a dialect.
pub fn of(dialect: Dialect) -> &'static dyn Wire {
    match dialect {
        Dialect::AnthropicMessages => &anthropic::AnthropicMessages,
        Dialect::OpenaiChat => &openai::OpenaiChat,
        Dialect::OpenaiResponses => &responses::OpenaiResponses,
        Dialect::Gemini => &gemini::Gemini,
        Dialect::BedrockConverse => &bedrock::BedrockConverse,
        Dialect::Mistral => &mistral::Mistral,
    }
}

/// A provider API on the wire. What has a body here is so in most dialects.
pub trait Wire: std::fmt::Debug + Sync {
    /// What a request asks for, as far as the path tells, if it asks for a reply of the model.
    fn route<'a>(&self, method: &str, path: &'a str) -> Option<Route<'a>>;

    /// The path, below the base URL and without a query, to which a client posts that wants a reply of this model.
    /// [`Wire::route`] knows it.
    fn post_path(&self, model: &str, streamed: bool) -> String;

    /// The body of the answer, with status 200, to a request beside the conversation, such as a count of tokens;
    /// none if the provider does not know the path.
    fn beside(&self, method: &str, path: &str, body: &[u8]) -> Option<Value>;

    /// Whether the client asks for a report of the tokens in its stream.
    fn asks_for_usage(&self, _body: Json) -> bool {
        false
    }

    /// Whether replies can show what the model thinks.
    fn shows_thinking(&self) -> bool {
        false
    }

    /// Whether a request asks the model to think and to show it. Only a client that asks is shown anything.
    fn asks_to_think(&self, _body: Json) -> bool {
        false
    }

    /// Whether a request offers anything to call.
    fn offers_tools(&self, body: Json) -> bool {
        !body.field("tools").is_empty()
    }

    /// The names of the tools that a request offers to the model.
    fn offered_tools(&self, body: Json) -> Vec<String>;

    /// The conversation in the body of a request. Any value has an answer; what is not understood is carried raw.
    fn history(&self, body: Json) -> History;

    /// The content type of a stream.
    fn stream_type(&self) -> &'static str {
        "text/event-stream; charset=utf-8"
    }

    /// The header that names a request.
    fn request_id_header(&self) -> &'static str;

    /// The name of a request. `unique` is 24 hexadecimal digits, other ones for each answer.
    fn request_id(&self, unique: &str) -> String {
        format!("req_{unique}")
    }

    /// The id of a message, of the same digits.
    fn message_id(&self, unique: &str) -> String;

    /// The form of the ids of calls.
    fn call_id(&self) -> IdForm;

    /// Headers that only answers with an error have, for a status of 400 or above.
    fn error_headers(&self, _status: u16) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// A reply as a stream of frames. Its marks are those of [`Wire::block_marks`], then [`Mark::Calls`] if there are
    /// calls, [`Mark::Stop`] and [`Mark::Reply`].
    fn encode_stream(&self, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded;

    /// A reply as one JSON body.
    fn encode_whole(&self, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Value;

    /// The marks of the thoughts, texts and calls of a reply's stream, in the order in which the encoder reaches them. A mark that
    /// is not here does not exist: a dialect that sends a call in one piece has only its end.
    /// `calls` are the calls of the plan.
    fn block_marks(&self, script: &Script, calls: &[PlannedCall]) -> Vec<Mark>;

    /// Whether the calls of one reply may be streamed in turns.
    fn interleaves(&self) -> bool {
        false
    }

    /// Whether a reply is whole with its stop reason, so that clients need not wait for anything behind it.
    fn is_whole_at_stop(&self) -> bool {
        false
    }

    /// Whether the frame with the stop reason is the last one, so that a stream that ends behind it lacks nothing.
    fn ends_with_stop(&self) -> bool {
        false
    }

    /// The provider's word for a stop reason, if it has one.
    fn stop_word(&self, stop: Stop) -> Option<&'static str>;

    /// Whether calls have numbers of their own in a stream, apart from the blocks or items that they are.
    fn numbers_calls(&self) -> bool {
        false
    }

    /// Whether providers of this dialect were seen to send calls without an id.
    fn may_lack_ids(&self) -> bool {
        false
    }

    /// Whether a stream carries arguments as a text, which may be no JSON.
    fn streams_arguments(&self) -> bool {
        true
    }

    /// Whether a body in one piece does so too.
    fn writes_arguments(&self) -> bool {
        false
    }

    /// The status that goes with an error.
    fn error_status(&self, kind: ErrorKind) -> u16 {
        match kind {
            ErrorKind::Overloaded => 503,
            ErrorKind::Server => 500,
            ErrorKind::RateLimit => 429,
        }
    }

    /// The body of an answer with that status, 400 or above, in the provider's words.
    fn status_body(&self, status: u16) -> Value;

    /// The error inside a stream that began with status 200.
    fn error_frame(&self, kind: ErrorKind) -> Vec<u8>;

    /// The same behind what has been sent of the stream, where frames depend on those before them.
    fn error_frame_after(&self, kind: ErrorKind, _sent: &[u8]) -> Vec<u8> {
        self.error_frame(kind)
    }

    /// A frame that breaks off in the middle of what it says.
    fn malformed_frame(&self) -> Vec<u8> {
        b"data: {\"type\":\"\n\n".to_vec()
    }

    /// What reads a stream, at its start.
    fn decoder(&self) -> Box<dyn Decode>;

    /// What a body says that is not a stream, without [`ReplyEvent::End`].
    fn decode_whole(&self, body: &Value, said: &mut dyn FnMut(ReplyEvent));
}

/// What the path of a request for a reply tells. What it does not tell, the fields `stream` and `model` of the body do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route<'a> {
    /// Whether the reply is to be a stream.
    pub streamed: Option<bool>,
    /// The model that is asked.
    pub model: Option<Cow<'a, str>>,
}

impl Route<'_> {
    /// A path that is the same for every model and delivery.
    pub(crate) fn fixed(method: &str, path: &str, expected: &str) -> Option<Route<'static>> {
        (method == "POST" && path == expected).then(Route::default)
    }
}

/// The form of an id: some letters behind a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdForm {
    /// What stands before the letters.
    pub prefix: &'static str,
    /// Number of letters.
    pub n_letters: usize,
    /// The letters to choose from: ASCII, at least one.
    pub alphabet: &'static [u8],
}

/// The alphabet of most ids.
const ALPHANUMERIC: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The list of models, in words that Anthropic and OpenAI clients both understand.
fn models() -> Value {
    json!({ "object": "list", "data": [{ "id": "brickbat", "object": "model", "type": "model" }] })
}

/// The provider's word for the stop reason of a reply. Lowering has seen that there is one.
fn stop_word(wire: &dyn Wire, script: &Script) -> &'static str {
    wire.stop_word(script.stop()).unwrap_or_default()
}

/// What a reply needs besides its script.
#[derive(Debug, Clone, Copy)]
pub struct Envelope<'a> {
    /// The id of the message, unique for each answer.
    pub id: &'a str,
    /// The model, as the request named it.
    pub model: &'a str,
    /// Whether the client asked for the report of tokens, see [`Wire::asks_for_usage`].
    pub usage: bool,
}

/// A frame of a body with that content type, as a text for people and files.
pub fn frame_text(content_type: &str, frame: &[u8]) -> String {
    match content_type {
        event_stream::CONTENT_TYPE => event_stream::shown(frame),
        _ => String::from_utf8_lossy(frame).into_owned(),
    }
}

/// A reply as a stream of frames.
pub fn encode_stream(dialect: Dialect, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
    of(dialect).encode_stream(plan, script, envelope)
}

/// A reply as one JSON body, in two halves, so that a fault can fall inside it.
/// All marks of the reply belong to the second half.
pub fn encode_whole(dialect: Dialect, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
    let text = of(dialect).encode_whole(plan, script, envelope).to_string();
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
    let mut marks = of(dialect).block_marks(script, calls);
    marks.insert(0, Mark::Headers);
    marks.extend(script.has_calls().then_some(Mark::Calls));
    marks.extend([Mark::Stop, Mark::Reply]);
    marks
}
