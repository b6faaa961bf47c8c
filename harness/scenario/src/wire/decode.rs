//! Decodes the events of a stream, or a complete body, into the model's output.

use super::of;
use super::sse::{SseEvent, SseReader};
use super::thread::ServerBlock;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::{Document, Json};

/// One element of the model's output, in any dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum ReplyEvent {
    Thought(String),
    ThoughtEnd {
        /// The provider's signature, which must be sent back with the thought.
        signature: Option<String>,
    },
    Text(String),
    /// A call begins; `index` distinguishes it from its siblings.
    CallStart {
        /// The position among the reply's blocks or calls.
        index: u64,
        id: String,
        name: String,
    },
    /// The opaque signature of the thoughts that led to a call, or other data that binds the call to them.
    /// Clients keep it with the call and send it back.
    CallSignature {
        index: u64,
        signature: String,
    },
    CallArgs {
        index: u64,
        fragment: String,
    },
    CallEnd {
        index: u64,
    },
    /// A call or a result of a tool that the provider runs itself. It is complete.
    Server(ServerBlock),
    /// The token counts that the provider reports for the request and for the reply so far.
    Tokens(u64),
    Stop(String),
    /// The provider's id of the completed reply, if a later request can use it to continue from the reply.
    ResponseId(String),
    End,
    Error {
        kind: String,
        message: String,
    },
    Unknown(String),
}

/// Decodes a stream as its bytes arrive.
#[derive(Debug)]
pub struct Decoder(Box<dyn Decode>);

impl Decoder {
    /// A decoder at the start of a stream.
    pub fn new(dialect: Dialect) -> Decoder {
        Decoder((of(dialect).decoder)())
    }

    /// Takes bytes in any split and passes on the events in them.
    pub fn feed(&mut self, bytes: &[u8], mut said: impl FnMut(ReplyEvent)) {
        self.0.feed(bytes, &mut said);
    }
}

/// A stream decoder for one dialect.
pub trait Decode: std::fmt::Debug + Send {
    /// Takes bytes in any split and passes on the events in them.
    fn feed(&mut self, bytes: &[u8], said: &mut dyn FnMut(ReplyEvent));
}

/// A reader for the server-sent events of one dialect.
pub(crate) trait ReadEvent: std::fmt::Debug + Send {
    /// Takes one server-sent event and passes on the events in it.
    fn event(&mut self, event: SseEvent<'_>, said: &mut dyn FnMut(ReplyEvent));
}

/// Decodes streams of server-sent events.
#[derive(Debug, Default)]
pub(crate) struct SseDecoder<E> {
    reader: SseReader,
    events: E,
}

impl<E: ReadEvent> Decode for SseDecoder<E> {
    fn feed(&mut self, bytes: &[u8], said: &mut dyn FnMut(ReplyEvent)) {
        let SseDecoder { reader, events } = self;
        reader.feed(bytes, |event| events.event(event, said));
    }
}

/// Decodes a body that is not a stream.
pub fn decode_whole(dialect: Dialect, body: &[u8], mut said: impl FnMut(ReplyEvent)) {
    match Document::parse(body) {
        Ok(body) => {
            let mut is_error = false;
            (of(dialect).decode_whole)(body.root(), &mut |event| {
                is_error |= matches!(event, ReplyEvent::Error { .. });
                said(event);
            });
            // An error is not a reply, whatever the status says.
            if !is_error {
                said(ReplyEvent::End);
            }
        }
        Err(_) => said(ReplyEvent::Unknown("a body that is not JSON".to_owned())),
    }
}

/// Passes on a call that arrived complete.
pub(crate) fn whole_call(
    index: u64,
    id: Json,
    name: Json,
    fragment: String,
    said: &mut dyn FnMut(ReplyEvent),
) {
    said(ReplyEvent::CallStart { index, id: text_of(id), name: text_of(name) });
    said(ReplyEvent::CallArgs { index, fragment });
    said(ReplyEvent::CallEnd { index });
}

/// The sum of the token counts in a report, if it has the first of these counts.
pub(crate) fn tokens(report: Json, counts: &[&str]) -> Option<ReplyEvent> {
    report.field(counts.first()?).as_u64()?;
    let sum = counts.iter().filter_map(|count| report.field(count).as_u64()).fold(0, u64::saturating_add);
    Some(ReplyEvent::Tokens(sum))
}

/// An error with a type and a message.
pub(crate) fn error(error: Json) -> ReplyEvent {
    ReplyEvent::Error { kind: text_of(error.field("type")), message: text_of(error.field("message")) }
}

/// The text of a string; empty for any other value.
pub(crate) fn text_of(value: Json) -> String {
    value.as_str().unwrap_or_default().into_owned()
}
