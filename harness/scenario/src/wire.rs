//! The wire: encodes replies into frames, decodes frames into events, reads requests as histories, and writes
//! threads as requests.
//!
//! Everything that differs between provider APIs is in the [`Wire`] of a dialect, which consists of data and
//! functions. Each dialect has a folder below `dialects`. A provider's strictness is defined elsewhere: see
//! [`brickbat_rules`]. This module judges nothing.

pub(crate) mod decode;
pub(crate) mod event_stream;
pub(crate) mod frames;
mod given;
pub(crate) mod history;
pub(crate) mod marks;
pub mod offer;
pub(crate) mod request;
pub(crate) mod signature;
pub(crate) mod sse;
pub mod thread;

use std::borrow::Cow;

use serde_json::{Value, json};

pub use crate::dialects::of;
pub(crate) use brickbat_rules::histories::ALPHANUMERICS;
pub use brickbat_rules::histories::IdForm;
pub use decode::{Decode, Decoder, ReplyEvent, decode_whole};
pub use frames::json_string;
pub use frames::{Encoded, Frames};
pub use given::given_thoughts;
pub use history::{history, offered_tools};
pub use marks::marks;
pub use offer::{CallableTool, Offer, ToolChoice};
pub use request::{Delivery, OfferedTool, Searching, Thinking};
pub use sse::{SseEvent, SseReader};

use crate::history::History;
use crate::plan::{Mark, Plan, PlannedCall, Script, Shortening};
use crate::random::Random;
use crate::scenario::{ErrorKind, Stop};
use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::Json;
use request::RequestForm;

/// A provider API on the wire. Methods and functions of this module call its functions.
#[derive(Debug, Clone, Copy)]
pub struct Wire {
    /// The constants and yes-or-no properties of the dialect.
    pub traits: DialectTraits,
    /// The dialect that a path leads to, if it is another one with the same paths.
    pub path_owner: Option<Dialect>,
    /// The path in the base URL that the vendor's own SDK expects.
    pub sdk_base: &'static str,
    /// The environment variable in which SDKs look for that base URL. `None` if no SDK looks for one.
    pub sdk_variable: Option<&'static str>,
    /// True if our client sends images here. Otherwise it sends a text instead of each.
    pub sends_pictures: bool,
    /// How a client requests a reply.
    pub(crate) request: RequestForm,
    pub(crate) side_answer: fn(&str, &str, &[u8]) -> Option<Value>,
    pub(crate) asks_for_usage: fn(Json<'_, '_>) -> bool,
    /// Tells whether a request asks the model to think and to show its thinking; `None` if replies cannot
    /// show it.
    pub(crate) asks_to_think: Option<fn(Json<'_, '_>) -> bool>,
    /// Tells whether a request offers the search that the provider runs itself; `None` if our provider runs
    /// none.
    pub(crate) offers_search: Option<fn(Json<'_, '_>) -> bool>,
    /// The names in one entry of the tool list.
    pub(crate) tool_names: fn(Json<'_, '_>) -> Vec<String>,
    /// Reads the calls and the answer format that a request allows.
    pub(crate) offer: for<'t, 'a> fn(Json<'t, 'a>) -> Offer<'t, 'a>,
    pub(crate) history: fn(Json<'_, '_>) -> History,
    pub(crate) request_id: fn(&str) -> String,
    pub(crate) error_headers: fn(u16) -> &'static [(&'static str, &'static str)],
    /// Encodes a reply as a frame stream. Its marks are those of `block_marks`, then [`Mark::Calls`] if there
    /// are calls, [`Mark::Stop`] and [`Mark::Reply`].
    pub(crate) stream: fn(&Plan, &Script, Envelope<'_>) -> Encoded,
    pub(crate) whole: fn(&Plan, &Script, Envelope<'_>) -> Value,
    /// The thought, text and call marks in a reply's stream, in the order of the encoder. Marks that are
    /// missing here do not exist: a dialect that sends a call in one chunk has only the mark of its end.
    pub(crate) block_marks: fn(&Script, &[PlannedCall]) -> Vec<Mark>,
    pub(crate) status_body: fn(u16) -> Value,
    /// The provider's answer, with status 400, to a request that is too long for the model.
    pub(crate) overflow: Overflow,
    /// Encodes an error inside a stream, given the bytes that have been sent.
    pub(crate) error_frame: fn(ErrorKind, &[u8]) -> Vec<u8>,
    pub(crate) malformed_frame: fn() -> Vec<u8>,
    pub(crate) decoder: fn() -> Box<dyn Decode>,
    /// Reads a body that is not a stream; it does not report [`ReplyEvent::End`].
    pub(crate) decode_whole: fn(Json<'_, '_>, &mut dyn FnMut(ReplyEvent)),
}

/// The constants and yes-or-no properties of a dialect.
#[derive(Debug, Clone, Copy)]
pub struct DialectTraits {
    /// The paths to which requests for a reply are posted.
    pub(crate) paths: Paths,
    /// The content type of a stream.
    pub stream_type: &'static str,
    /// The header with the id of a request.
    pub request_id_header: &'static str,
    /// The prefix of a message's id, before the digits.
    pub(crate) message_id_prefix: &'static str,
    /// The keys that lead to the tools in a request.
    pub(crate) tools_at: &'static [&'static str],
    /// The provider's names for the stop reasons that it has.
    pub(crate) stop_words: &'static [(Stop, &'static str)],
    /// The HTTP status for [`ErrorKind::Overloaded`].
    pub(crate) overloaded_status: u16,
    /// True if the argument deltas of one reply's calls may be interleaved.
    pub interleaves: bool,
    /// True if a reply is complete with its stop reason, so that clients need not wait for anything after it.
    pub is_whole_at_stop: bool,
    /// True if the frame with the stop reason is the last one, so that a stream that ends after it lacks
    /// nothing.
    pub ends_with_stop: bool,
    /// True if some providers of this dialect end a complete stream without a stop reason, so that a client
    /// cannot tell such a reply from one that was cut off.
    pub may_lack_end: bool,
    /// True if calls have their own numbers in a stream, separate from the numbers of blocks or items.
    pub numbers_calls: bool,
    /// True if some gateways are known to send the first event of a stream twice.
    pub opens_twice: bool,
    /// True if providers of this dialect are known to send calls without an id, with an empty one, or with
    /// the id of another call. In other dialects the provider assigns the ids itself, and refuses none that
    /// it has made.
    pub may_lack_ids: bool,
    /// True if a stream carries arguments as a text, which may be invalid JSON.
    pub streams_arguments: bool,
    /// True if a non-streamed body also contains arguments as a text.
    pub writes_arguments: bool,
    /// True if the provider is known to reject half a character in a string. False if that is not known, or
    /// if some reports say that it was accepted; then there is nothing to find.
    pub refuses_half_characters: bool,
    /// True if a result names its success itself. Otherwise a result without a mark may also be an error.
    pub names_success: bool,
    /// True if a prompt may not directly follow results, so that the model must have answered in between.
    pub wants_word_after_results: bool,
    /// True if some models reject a reply with both text and calls, so that a client may leave out the text.
    pub takes_text_or_calls: bool,
    /// True if a reply whose calls are being answered must begin with thinking when the request asks for
    /// thinking.
    pub wants_thinking_before_calls: bool,
}

impl DialectTraits {
    /// The values of most dialects. Each dialect sets its own paths and stop words.
    pub(crate) const USUAL: DialectTraits = DialectTraits {
        paths: Paths::Fixed(""),
        stream_type: "text/event-stream; charset=utf-8",
        request_id_header: "x-request-id",
        message_id_prefix: "",
        tools_at: &["tools"],
        stop_words: &[],
        overloaded_status: 503,
        interleaves: false,
        is_whole_at_stop: false,
        ends_with_stop: false,
        may_lack_end: false,
        numbers_calls: false,
        opens_twice: false,
        may_lack_ids: false,
        streams_arguments: true,
        writes_arguments: false,
        refuses_half_characters: true,
        names_success: false,
        wants_word_after_results: false,
        takes_text_or_calls: false,
        wants_thinking_before_calls: false,
    };
}

/// The paths to which requests for a reply are posted, below the base URL and without a query.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Paths {
    /// One path; the fields `model` and `stream` of the body select model and delivery.
    Fixed(&'static str),
    /// A path that names the model and the delivery.
    OfModel {
        /// Reads such a path; `None` for a path that other requests use.
        read: fn(&str) -> Option<Route<'_>>,
        write: fn(&str, Delivery) -> String,
    },
}

/// The number of path segments that are read from the end. The path for Gemini on Vertex AI has nine, and the
/// last three identify it.
const MAX_SEGMENTS: usize = 4;

/// The API versions that base URLs may end in.
const API_VERSIONS: [&str; 2] = ["/v1", "/v1beta"];

impl Wire {
    /// The route of a request for a model reply, as far as the path determines it; `None` for other requests.
    pub fn route<'a>(&self, method: &str, path: &'a str) -> Option<Route<'a>> {
        if method != "POST" {
            return None;
        }
        match self.traits.paths {
            Paths::Fixed(own) => (path == own).then(Route::default),
            Paths::OfModel { read, .. } => read(path),
        }
    }

    /// The path to which a client posts a request for a reply from this model. [`Wire::route`] reads it.
    pub fn post_path(&self, model: &str, delivery: Delivery) -> String {
        match self.traits.paths {
            Paths::Fixed(path) => path.to_owned(),
            Paths::OfModel { write, .. } => write(model, delivery),
        }
    }

    /// Like [`Wire::route`], for a client whose base URL is longer or shorter than the provider's: gateways,
    /// clouds and related providers serve the same API below other paths.
    pub fn route_by_end<'a>(&self, method: &str, path: &'a str) -> Option<Route<'a>> {
        let path = path.strip_suffix('/').unwrap_or(path);
        match self.traits.paths {
            Paths::Fixed(own) if method == "POST" => {
                let end = own.strip_prefix("/v1").unwrap_or(own);
                path.ends_with(end).then(Route::default)
            }
            Paths::Fixed(_) | Paths::OfModel { .. } => self.route(method, path),
        }
    }

    /// True if a client requests a reply from this API at any path: below another path, or without the
    /// version. This detects clients with a wrong base URL.
    pub fn is_asked_at(&self, method: &str, path: &str) -> bool {
        let is_one = |path: &str| self.route(method, path).is_some();
        let ends = path.rmatch_indices('/').take(MAX_SEGMENTS).map(|(at, _)| &path[at..]);
        let mut ends = ends.filter(|end| end.len() > 1);
        ends.any(|end| is_one(end) || API_VERSIONS.iter().any(|version| is_one(&format!("{version}{end}"))))
    }

    /// The body of the answer, with status 200, to a request outside the conversation, such as a token count;
    /// `None` if the provider does not have that path.
    pub fn side_answer(&self, method: &str, path: &str, body: &[u8]) -> Option<Value> {
        (self.side_answer)(method, path, body)
    }

    /// True if the client asks for a token report in its stream.
    pub fn asks_for_usage(&self, body: Json) -> bool {
        (self.asks_for_usage)(body)
    }

    /// True if replies can show the model's thinking.
    pub fn shows_thinking(&self) -> bool {
        self.asks_to_think.is_some()
    }

    /// True if a request asks the model to think and to show its thinking. Only a client that asks is shown
    /// any.
    pub fn asks_to_think(&self, body: Json) -> bool {
        self.asks_to_think.is_some_and(|asks| asks(body))
    }

    /// True if our provider runs searches itself.
    pub fn searches(&self) -> bool {
        self.offers_search.is_some()
    }

    /// True if a request offers that search. The model searches only if the search is offered.
    pub fn offers_search(&self, body: Json) -> bool {
        self.offers_search.is_some_and(|offers| offers(body))
    }

    /// The calls and the answer format that a request allows.
    pub fn offer<'t, 'a>(&self, body: Json<'t, 'a>) -> Offer<'t, 'a> {
        (self.offer)(body)
    }

    /// True if a request offers any tools.
    pub fn offers_tools(&self, body: Json) -> bool {
        !self.tools(body).is_empty()
    }

    fn tools<'t, 'a>(&self, body: Json<'t, 'a>) -> Json<'t, 'a> {
        self.traits.tools_at.iter().fold(body, |at, key| at.field(key))
    }

    /// The id of a request. `unique` is 24 hexadecimal digits that differ for each answer.
    pub fn request_id(&self, unique: &str) -> String {
        (self.request_id)(unique)
    }

    /// The id of a message, made of the same digits.
    pub fn message_id(&self, unique: &str) -> String {
        format!("{}{unique}", self.traits.message_id_prefix)
    }

    /// The extra headers in an error response with a status of 400 or above.
    pub fn error_headers(&self, status: u16) -> &'static [(&'static str, &'static str)] {
        (self.error_headers)(status)
    }

    /// A reply as one JSON body.
    pub fn encode_whole(&self, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Value {
        (self.whole)(plan, script, envelope)
    }

    /// The provider's name for a stop reason, if it has one.
    pub fn stop_word(&self, stop: Stop) -> Option<&'static str> {
        self.traits.stop_words.iter().find(|(own, _)| *own == stop).map(|(_, word)| *word)
    }

    /// The provider's name for the stop reason of a reply. Lowering has checked that it exists.
    pub(crate) fn stop_word_of(&self, script: &Script) -> &'static str {
        self.stop_word(script.stop()).unwrap_or_default()
    }

    /// The body of an answer with this status, 400 or above, with the provider's message.
    pub fn status_body(&self, status: u16) -> Value {
        (self.status_body)(status)
    }

    /// The body of the answer, with status 400, to a request that is too long for the model.
    pub fn overflow_body(&self) -> Value {
        (self.overflow.body)()
    }

    /// True if the body of an error answer reports that the request is too long for the model.
    pub fn says_overflow(&self, body: &str) -> bool {
        body.contains(self.overflow.sign)
    }

    /// The status that an overloaded provider answers with.
    pub fn overloaded_status(&self) -> u16 {
        self.traits.overloaded_status
    }

    /// The body of an error inside a stream.
    pub(crate) fn error_body(&self, kind: ErrorKind) -> Value {
        self.status_body(match kind {
            ErrorKind::Overloaded => self.traits.overloaded_status,
            ErrorKind::Server => 500,
            ErrorKind::RateLimit => 429,
        })
    }

    /// The error inside a stream that began with status 200. `sent` is what has been sent of it.
    pub fn error_frame(&self, kind: ErrorKind, sent: &[u8]) -> Vec<u8> {
        (self.error_frame)(kind, sent)
    }

    /// A frame with truncated content.
    pub fn malformed_frame(&self) -> Vec<u8> {
        (self.malformed_frame)()
    }
}

/// How a provider reports that a request is too long for the model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Overflow {
    pub(crate) body: fn() -> Value,
    /// The text that is only in that answer, by which clients recognise it.
    pub(crate) sign: &'static str,
}

/// The [`Wire::request_id`] of most dialects.
pub(crate) fn usual_request_id(unique: &str) -> String {
    format!("req_{unique}")
}

/// The [`Wire::malformed_frame`] of dialects whose events are JSON after `data:`.
pub(crate) fn malformed_event() -> Vec<u8> {
    b"data: {\"type\":\"\n\n".to_vec()
}

/// The information in the path of a request for a reply. The rest is in the fields `stream` and `model` of
/// the body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route<'a> {
    /// True if the reply is to be a stream.
    pub streamed: Option<bool>,
    /// The model that is asked.
    pub model: Option<Cow<'a, str>>,
}

/// Returns a new id in a format.
pub fn mint(form: IdForm, random: &mut Random) -> String {
    format!("{}{}", form.prefix, random.letters(form.n_letters, form.alphabet))
}

/// The list of models, in a format that both Anthropic and OpenAI clients understand.
pub(crate) fn models(method: &str, path: &str) -> Option<Value> {
    let asks = matches!((method, path), ("GET" | "HEAD", "/v1/models"));
    asks.then(
        || json!({ "object": "list", "data": [{ "id": "brickbat", "object": "model", "type": "model" }] }),
    )
}

/// Providers stamp replies with the time; ours uses a constant, so the same plan gives the same bytes.
pub(crate) const CREATED: u64 = 1_790_000_000;

/// The parts of a reply that are not in its script.
#[derive(Debug, Clone, Copy)]
pub struct Envelope<'a> {
    /// The id of the message, unique to each answer.
    pub id: &'a str,
    /// The model, as the request named it.
    pub model: &'a str,
    /// True if the client asked for the token report, see [`Wire::asks_for_usage`].
    pub usage: bool,
    /// The number of tokens that the provider reports.
    pub tokens: Tokens,
}

/// The token counts that the provider reports for a request and its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens {
    /// The tokens of the request.
    pub input: u64,
    /// The tokens of the reply.
    pub output: u64,
}

impl Tokens {
    /// The numbers that plans report, whatever their texts, so that no system compacts its history unless a
    /// plan wants it.
    pub const PLANNED: Tokens = Tokens { input: 12, output: 42 };

    /// The numbers for plans that summarise the history: some systems summarise only a history that is longer
    /// than a summary. They are far below what any system considers a full context.
    pub const LONG: Tokens = Tokens { input: 20_000, output: 42 };

    /// The numbers that a plan's provider reports.
    pub fn of(plan: &Plan) -> Tokens {
        let mut actions = plan.turns.iter().flat_map(|turn| &turn.actions);
        let is_summarised = actions.any(|action| {
            let change = action.what.change();
            change.and_then(|change| change.shortening()) == Some(Shortening::Summary)
        });
        if is_summarised { Tokens::LONG } else { Tokens::PLANNED }
    }

    /// The sum of both.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// A frame of a body with this content type, as text for readers and files.
pub fn frame_text(content_type: &str, frame: &[u8]) -> String {
    match content_type {
        event_stream::CONTENT_TYPE => event_stream::shown(frame),
        _ => String::from_utf8_lossy(frame).into_owned(),
    }
}

/// A reply as a stream of frames.
pub fn encode_stream(dialect: Dialect, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
    (of(dialect).stream)(plan, script, envelope)
}

/// A reply as one JSON body, in two halves so that a fault can happen inside it. All marks of the reply
/// belong to the second half.
pub fn encode_whole(dialect: Dialect, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
    let text = of(dialect).encode_whole(plan, script, envelope).to_string();
    let middle = text.floor_char_boundary(text.len() / 2);
    let mut encoded = Encoded::with_capacity(text.len());
    encoded.frame(|out| out.extend_from_slice(&text.as_bytes()[..middle]));
    encoded.frame(|out| out.extend_from_slice(&text.as_bytes()[middle..]));
    marks(dialect, script, &plan.calls).into_iter().skip(1).for_each(|mark| encoded.mark(mark));
    encoded
}
