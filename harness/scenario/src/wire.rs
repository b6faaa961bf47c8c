//! The wire: replies into frames, frames into events, requests into histories, threads into requests.
//!
//! Whatever differs between provider APIs is in the [`Wire`] of a dialect, which is data and functions, one folder for
//! each dialect below `dialects`. How strict a provider is, is not said here: see [`brickbat_rules`]. Nothing here
//! judges.

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
pub use decode::{Decode, Decoder, ReplyEvent, decode_whole};
pub use frames::json_string;
pub use frames::{Encoded, Frames};
pub use given::given_thoughts;
pub use history::{history, offered_tools};
pub use marks::marks;
pub use offer::{Offer, ToolChoice};
pub use request::{Delivery, OfferedTool, Searching, Thinking};
pub use sse::{SseEvent, SseReader};

use crate::action::Action;
use crate::history::History;
use crate::plan::{Mark, Plan, PlannedCall, Script};
use crate::random::Random;
use crate::scenario::{ErrorKind, Stop};
use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::Json;
use request::RequestForm;

/// A provider API on the wire. Its functions are called through methods and functions of this module.
#[derive(Debug, Clone, Copy)]
pub struct Wire {
    /// Its yes-or-no traits.
    pub traits: DialectTraits,
    /// How a client asks for a reply.
    pub(crate) request: RequestForm,
    pub(crate) side_answer: fn(&str, &str, &[u8]) -> Option<Value>,
    pub(crate) asks_for_usage: fn(Json<'_, '_>) -> bool,
    /// Whether a request asks the model to think and to show it; nothing where replies cannot show it.
    pub(crate) asks_to_think: Option<fn(Json<'_, '_>) -> bool>,
    /// Whether a request offers the search that the provider runs itself; nothing where ours runs none.
    pub(crate) offers_search: Option<fn(Json<'_, '_>) -> bool>,
    /// The names in one entry of the list of tools.
    pub(crate) tool_names: fn(Json<'_, '_>) -> Vec<String>,
    /// What a request lets the model do.
    pub(crate) offer: for<'t, 'a> fn(Json<'t, 'a>) -> Offer<'t, 'a>,
    pub(crate) history: fn(Json<'_, '_>) -> History,
    pub(crate) request_id: fn(&str) -> String,
    pub(crate) error_headers: fn(u16) -> &'static [(&'static str, &'static str)],
    /// A reply as a stream of frames. Its marks are those of `block_marks`, then [`Mark::Calls`] if there are calls,
    /// [`Mark::Stop`] and [`Mark::Reply`].
    pub(crate) stream: fn(&Plan, &Script, Envelope<'_>) -> Encoded,
    pub(crate) whole: fn(&Plan, &Script, Envelope<'_>) -> Value,
    /// The marks of the thoughts, texts and calls of a reply's stream, in the order in which the encoder reaches them. A
    /// mark that is not here does not exist: a dialect that sends a call in one piece has only its end.
    pub(crate) block_marks: fn(&Script, &[PlannedCall]) -> Vec<Mark>,
    pub(crate) status_body: fn(u16) -> Value,
    /// What the provider answers, with status 400, to a request that is too long for the model.
    pub(crate) overflow: Overflow,
    /// The error inside a stream of which these bytes have been sent.
    pub(crate) error_frame: fn(ErrorKind, &[u8]) -> Vec<u8>,
    pub(crate) malformed_frame: fn() -> Vec<u8>,
    pub(crate) decoder: fn() -> Box<dyn Decode>,
    /// Reads a body that is not a stream, without [`ReplyEvent::End`].
    pub(crate) decode_whole: fn(Json<'_, '_>, &mut dyn FnMut(ReplyEvent)),
}

/// The yes-or-no traits of a dialect.
#[derive(Debug, Clone, Copy)]
pub struct DialectTraits {
    /// Where requests for a reply are posted.
    pub(crate) paths: Paths,
    /// The content type of a stream.
    pub stream_type: &'static str,
    /// The header that names a request.
    pub request_id_header: &'static str,
    /// What stands before the digits of a message's id.
    pub(crate) message_id_prefix: &'static str,
    /// The form of the ids of calls.
    pub call_id: IdForm,
    /// The keys that lead to the tools of a request.
    pub(crate) tools_at: &'static [&'static str],
    /// The provider's words for the stop reasons that it has.
    pub(crate) stop_words: &'static [(Stop, &'static str)],
    /// The status that goes with [`ErrorKind::Overloaded`].
    pub(crate) overloaded_status: u16,
    /// Whether the calls of one reply may be streamed in turns.
    pub interleaves: bool,
    /// Whether a reply is whole with its stop reason, so that clients need not wait for anything after it.
    pub is_whole_at_stop: bool,
    /// Whether the frame with the stop reason is the last one, so that a stream that ends after it lacks nothing.
    pub ends_with_stop: bool,
    /// Whether calls have numbers of their own in a stream, apart from the blocks or items that they are.
    pub numbers_calls: bool,
    /// Whether gateways were seen to send the first event of a stream twice.
    pub opens_twice: bool,
    /// Whether providers of this dialect were seen to send calls without an id, with an empty one, or with the id of
    /// another call. Elsewhere the provider makes the ids itself, and refuses none that it has made.
    pub may_lack_ids: bool,
    /// Whether a stream carries arguments as a text, which may be no JSON.
    pub streams_arguments: bool,
    /// Whether a body in one piece does so too.
    pub writes_arguments: bool,
    /// Whether the provider is known to refuse half of a character in a string. Where nobody has seen that, or some say
    /// that it was taken, nothing is to be found.
    pub refuses_half_characters: bool,
    /// Whether a prompt may not follow results, so that the model must have said something between.
    pub wants_word_after_results: bool,
    /// Whether calls that are being answered must begin with thinking where a request asks for it.
    pub wants_thinking_before_calls: bool,
}

impl DialectTraits {
    /// What is so in most dialects. Paths, ids and stop words are a dialect's own.
    pub(crate) const USUAL: DialectTraits = DialectTraits {
        paths: Paths::Fixed(""),
        stream_type: "text/event-stream; charset=utf-8",
        request_id_header: "x-request-id",
        message_id_prefix: "",
        call_id: IdForm { prefix: "", n_letters: 0, alphabet: ALPHANUMERIC },
        tools_at: &["tools"],
        stop_words: &[],
        overloaded_status: 503,
        interleaves: false,
        is_whole_at_stop: false,
        ends_with_stop: false,
        numbers_calls: false,
        opens_twice: false,
        may_lack_ids: false,
        streams_arguments: true,
        writes_arguments: false,
        refuses_half_characters: true,
        wants_word_after_results: false,
        wants_thinking_before_calls: false,
    };
}

/// Where requests for a reply are posted, below the base URL and without a query.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Paths {
    /// To one path; the fields `model` and `stream` of the body say what is wanted.
    Fixed(&'static str),
    /// To a path that names the model and the delivery.
    OfModel {
        /// What such a path says; nothing of a path to which something else is posted.
        read: fn(&str) -> Option<Route<'_>>,
        write: fn(&str, Delivery) -> String,
    },
}

/// Segments of a path that are looked at from its end: that of Gemini on Vertex AI has nine, and the last three tell it.
const MAX_SEGMENTS: usize = 4;

/// The versions that base URLs end in.
const API_VERSIONS: [&str; 2] = ["/v1", "/v1beta"];

impl Wire {
    /// What a request asks for, as far as the path says, if it asks for a reply of the model.
    pub fn route<'a>(&self, method: &str, path: &'a str) -> Option<Route<'a>> {
        if method != "POST" {
            return None;
        }
        match self.traits.paths {
            Paths::Fixed(own) => (path == own).then(Route::default),
            Paths::OfModel { read, .. } => read(path),
        }
    }

    /// The path to which a client posts that wants a reply of this model. [`Wire::route`] knows it.
    pub fn post_path(&self, model: &str, delivery: Delivery) -> String {
        match self.traits.paths {
            Paths::Fixed(path) => path.to_owned(),
            Paths::OfModel { write, .. } => write(model, delivery),
        }
    }

    /// The same for a client whose base URL is longer or shorter than that of the provider: gateways, clouds and relatives
    /// have the same API below other paths.
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

    /// Whether a client asks for a reply of this API, wherever it takes the API to begin: below another path, or without its
    /// version. That is how a client with a wrong base URL is known.
    pub fn is_asked_at(&self, method: &str, path: &str) -> bool {
        let is_one = |path: &str| self.route(method, path).is_some();
        let ends = path.rmatch_indices('/').take(MAX_SEGMENTS).map(|(at, _)| &path[at..]);
        let mut ends = ends.filter(|end| end.len() > 1);
        ends.any(|end| is_one(end) || API_VERSIONS.iter().any(|version| is_one(&format!("{version}{end}"))))
    }

    /// The body of the answer, with status 200, to a request outside the conversation, such as a count of tokens; none
    /// if the provider does not know the path.
    pub fn side_answer(&self, method: &str, path: &str, body: &[u8]) -> Option<Value> {
        (self.side_answer)(method, path, body)
    }

    /// Whether the client asks for a report of the tokens in its stream.
    pub fn asks_for_usage(&self, body: Json) -> bool {
        (self.asks_for_usage)(body)
    }

    /// Whether replies can show what the model thinks.
    pub fn shows_thinking(&self) -> bool {
        self.asks_to_think.is_some()
    }

    /// Whether a request asks the model to think and to show it. Only a client that asks is shown anything.
    pub fn asks_to_think(&self, body: Json) -> bool {
        self.asks_to_think.is_some_and(|asks| asks(body))
    }

    /// Whether our provider searches by itself.
    pub fn searches(&self) -> bool {
        self.offers_search.is_some()
    }

    /// Whether a request offers that search. The model searches only where it is offered.
    pub fn offers_search(&self, body: Json) -> bool {
        self.offers_search.is_some_and(|offers| offers(body))
    }

    /// What a request lets the model do.
    pub fn offer<'t, 'a>(&self, body: Json<'t, 'a>) -> Offer<'t, 'a> {
        (self.offer)(body)
    }

    /// Whether a request offers anything to call.
    pub fn offers_tools(&self, body: Json) -> bool {
        !self.tools(body).is_empty()
    }

    fn tools<'t, 'a>(&self, body: Json<'t, 'a>) -> Json<'t, 'a> {
        self.traits.tools_at.iter().fold(body, |at, key| at.field(key))
    }

    /// The name of a request. `unique` is 24 hexadecimal digits, other ones for each answer.
    pub fn request_id(&self, unique: &str) -> String {
        (self.request_id)(unique)
    }

    /// The id of a message, of the same digits.
    pub fn message_id(&self, unique: &str) -> String {
        format!("{}{unique}", self.traits.message_id_prefix)
    }

    /// Headers that only answers with an error have, for a status of 400 or above.
    pub fn error_headers(&self, status: u16) -> &'static [(&'static str, &'static str)] {
        (self.error_headers)(status)
    }

    /// A reply as one JSON body.
    pub fn encode_whole(&self, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Value {
        (self.whole)(plan, script, envelope)
    }

    /// The provider's word for a stop reason, if it has one.
    pub fn stop_word(&self, stop: Stop) -> Option<&'static str> {
        self.traits.stop_words.iter().find(|(own, _)| *own == stop).map(|(_, word)| *word)
    }

    /// The same for the stop reason of a reply. Lowering has seen that there is one.
    pub(crate) fn stop_word_of(&self, script: &Script) -> &'static str {
        self.stop_word(script.stop()).unwrap_or_default()
    }

    /// The body of an answer with that status, 400 or above, in the provider's words.
    pub fn status_body(&self, status: u16) -> Value {
        (self.status_body)(status)
    }

    /// The body of the answer, with status 400, to a request that is too long for the model.
    pub fn overflow_body(&self) -> Value {
        (self.overflow.body)()
    }

    /// Whether the body of an answer with an error says that the request is too long for the model.
    pub fn says_overflow(&self, body: &str) -> bool {
        body.contains(self.overflow.sign)
    }

    /// The status with which an overloaded provider answers.
    pub fn overloaded_status(&self) -> u16 {
        self.traits.overloaded_status
    }

    /// The body of the error that is sent inside a stream.
    pub(crate) fn error_body(&self, kind: ErrorKind) -> Value {
        self.status_body(match kind {
            ErrorKind::Overloaded => self.traits.overloaded_status,
            ErrorKind::Server => 500,
            ErrorKind::RateLimit => 429,
        })
    }

    /// The error inside a stream that began with status 200 and of which these bytes have been sent.
    pub fn error_frame(&self, kind: ErrorKind, sent: &[u8]) -> Vec<u8> {
        (self.error_frame)(kind, sent)
    }

    /// A frame that breaks off in the middle of what it says.
    pub fn malformed_frame(&self) -> Vec<u8> {
        (self.malformed_frame)()
    }
}

/// How a provider says that a request is too long for the model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Overflow {
    pub(crate) body: fn() -> Value,
    /// What only that answer says, by which clients know it.
    pub(crate) sign: &'static str,
}

/// [`Wire::request_id`] of most dialects.
pub(crate) fn usual_request_id(unique: &str) -> String {
    format!("req_{unique}")
}

/// [`Wire::malformed_frame`] where events are JSON after `data:`.
pub(crate) fn malformed_event() -> Vec<u8> {
    b"data: {\"type\":\"\n\n".to_vec()
}

/// What the path of a request for a reply says. What it does not say, the fields `stream` and `model` of the body do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route<'a> {
    /// Whether the reply is to be a stream.
    pub streamed: Option<bool>,
    /// The model that is asked.
    pub model: Option<Cow<'a, str>>,
}

/// The form of an id: some letters after a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdForm {
    /// What stands before the letters.
    pub prefix: &'static str,
    /// Number of letters.
    pub n_letters: usize,
    /// The letters to choose from: ASCII, at least one.
    pub alphabet: &'static [u8],
}

impl IdForm {
    /// An id of this form.
    pub fn mint(self, random: &mut Random) -> String {
        format!("{}{}", self.prefix, random.letters(self.n_letters, self.alphabet))
    }
}

/// The alphabet of most ids.
pub(crate) const ALPHANUMERIC: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The list of models, in words that Anthropic and OpenAI clients both understand.
pub(crate) fn models(method: &str, path: &str) -> Option<Value> {
    let asks = matches!((method, path), ("GET" | "HEAD", "/v1/models"));
    asks.then(
        || json!({ "object": "list", "data": [{ "id": "brickbat", "object": "model", "type": "model" }] }),
    )
}

/// The providers stamp replies with the time; ours is a constant, so that the same plan gives the same bytes.
pub(crate) const CREATED: u64 = 1_790_000_000;

/// What a reply needs besides its script.
#[derive(Debug, Clone, Copy)]
pub struct Envelope<'a> {
    /// The id of the message, unique for each answer.
    pub id: &'a str,
    /// The model, as the request named it.
    pub model: &'a str,
    /// Whether the client asked for the report of tokens, see [`Wire::asks_for_usage`].
    pub usage: bool,
    /// How many tokens the provider reports.
    pub tokens: Tokens,
}

/// The tokens of a request and of its reply, as the provider counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens {
    /// Those of the request.
    pub input: u64,
    /// Those of the reply.
    pub output: u64,
}

impl Tokens {
    /// What plans report, whatever is said in them, so that no system compacts its history where no plan says so.
    pub const PLANNED: Tokens = Tokens { input: 12, output: 42 };

    /// What plans report in which the history is summarised: some systems summarise only what is longer than a summary. It
    /// is far from what any system takes for a full context.
    pub const LONG: Tokens = Tokens { input: 20_000, output: 42 };

    /// What the provider of a plan reports.
    pub fn of(plan: &Plan) -> Tokens {
        let mut actions = plan.turns.iter().flat_map(|turn| &turn.actions);
        let is_summarised = actions.any(|action| matches!(action.what, Action::Summarise(_)));
        if is_summarised { Tokens::LONG } else { Tokens::PLANNED }
    }

    /// Both together.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
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
    (of(dialect).stream)(plan, script, envelope)
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
