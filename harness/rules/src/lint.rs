//! The stream linter: whether the recorded bytes of one provider stream are a legal stream of its dialect.
//!
//! It accepts every legal order of events and names the first illegal one. Each requirement is a [`StreamRule`].
//! Unknown events, block types and fields pass: what is not known to be illegal is legal. What providers do not do
//! themselves, but relatives do and readers survive, is a warning and does not end the judgement.
//!
//! The bytes may be hostile. An event is kept until it is whole, and no more than [`MAX_EVENT_BYTES`] of it. Of what
//! was said before, the linter keeps numbers and digests, at most [`MAX_TRACKED`] of them; and up to [`MAX_KEPT_BYTES`]
//! of the arguments of calls, so that it can see whether they are JSON. What lies beyond these two bounds is not
//! judged. The report does not depend on how the bytes are split.
//!
//! What it deliberately does not do: compare a stream with its request, or judge what the model said.

mod anthropic;
mod array;
mod bedrock;
mod detect;
mod event;
mod fault;
mod gemini;
mod item;
mod judge;
mod kept;
mod lines;
mod machine;
mod mistral;
mod openai;
mod responses;
mod rule;

use crate::dialect::Dialect;

pub use detect::{MAX_LOOK_BYTES, detect};
pub use event::MAX_EVENT_BYTES;
pub use fault::{Fault, Place};
pub use kept::{MAX_KEPT_BYTES, MAX_TRACKED};
pub use rule::{Severity, StreamRule};

use crate::frames::{Frame, FrameError, FrameKind, FrameReader};
use array::ArrayReader;
use event::{End, Event, Kind, Mark, Piece};
use judge::Judge;
use lines::LineReader;

/// The grammar of a dialect's streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grammar {
    /// Anthropic Messages: named events, blocks one after the other.
    AnthropicMessages,
    /// OpenAI Chat Completions and its relatives: chunks without names, `[DONE]` at the end.
    OpenaiChat,
    /// OpenAI Responses: named and numbered events.
    OpenaiResponses,
    /// Gemini: chunks that end when the bytes end, as events or as one JSON array.
    Gemini,
    /// Bedrock `ConverseStream`: the binary event stream of AWS.
    BedrockConverse,
    /// Mistral: chunks as OpenAI's, and calls that come whole.
    Mistral,
}

impl Grammar {
    /// Every grammar, in the order in which [`StreamRule::all`] lists their rules.
    pub const ALL: [Grammar; 6] = [
        Grammar::AnthropicMessages,
        Grammar::OpenaiChat,
        Grammar::OpenaiResponses,
        Grammar::Gemini,
        Grammar::BedrockConverse,
        Grammar::Mistral,
    ];

    /// The name of the dialect, for example `anthropic-messages`.
    pub fn name(self) -> &'static str {
        match self {
            Grammar::AnthropicMessages => "anthropic-messages",
            Grammar::OpenaiChat => "openai-chat",
            Grammar::OpenaiResponses => "openai-responses",
            Grammar::Gemini => "gemini",
            Grammar::BedrockConverse => "bedrock-converse",
            Grammar::Mistral => "mistral",
        }
    }

    /// The grammar of a dialect.
    pub fn of(dialect: Dialect) -> Grammar {
        match dialect {
            Dialect::AnthropicMessages => Grammar::AnthropicMessages,
            Dialect::OpenaiChat => Grammar::OpenaiChat,
            Dialect::OpenaiResponses => Grammar::OpenaiResponses,
            Dialect::Gemini => Grammar::Gemini,
            Dialect::BedrockConverse => Grammar::BedrockConverse,
            Dialect::Mistral => Grammar::Mistral,
        }
    }

    /// The grammar of the dialect of that name.
    pub fn named(name: &str) -> Option<Grammar> {
        Grammar::ALL.into_iter().find(|grammar| grammar.name() == name)
    }
}

impl std::fmt::Display for Grammar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What the linter says about one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The grammar by which it was judged.
    pub grammar: Grammar,
    /// How the stream ended.
    pub ended: Ended,
    /// The warnings, each rule at the first place where it was met, and at the end the error, if there is one.
    pub faults: Vec<Fault>,
    /// What the provider said when it reported an error inside the stream; cut to one short line.
    pub provider_error: Option<String>,
    /// Events that were judged.
    pub n_events: usize,
    /// Bytes of the stream, also those that were not judged any more.
    pub n_bytes: usize,
}

impl Report {
    /// The first illegal event, or the missing end. A stream without it is legal.
    pub fn error(&self) -> Option<&Fault> {
        self.faults.iter().find(|fault| fault.rule.severity == Severity::Error)
    }
}

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ended {
    /// With its terminal event.
    Complete,
    /// With an error that the provider reported inside the stream. That is legal.
    ErrorEvent,
    /// Before its terminal event.
    Truncated,
    /// With the first illegal event: what follows was not judged.
    Illegal,
}

impl Ended {
    /// The name that reports use, for example `error-event`.
    pub fn name(self) -> &'static str {
        match self {
            Ended::Complete => "complete",
            Ended::ErrorEvent => "error-event",
            Ended::Truncated => "truncated",
            Ended::Illegal => "illegal",
        }
    }
}

/// Judges the bytes of a whole stream.
pub fn lint(grammar: Grammar, bytes: &[u8]) -> Report {
    let mut linter = Linter::new(grammar);
    linter.feed(bytes);
    linter.finish()
}

/// Judges a stream as its bytes come.
#[derive(Debug)]
pub struct Linter {
    reader: Reader,
    judge: Judge,
    n_bytes: usize,
}

/// How the bytes become events.
#[derive(Debug)]
enum Reader {
    Lines(LineReader),
    /// The same until the first byte that is no blank shows whether the stream is an array.
    LinesOrArray(LineReader),
    Array(ArrayReader),
    Frames(FrameReader),
}

impl Linter {
    /// A linter at the start of a stream.
    pub fn new(grammar: Grammar) -> Linter {
        let reader = match grammar {
            Grammar::BedrockConverse => Reader::Frames(FrameReader::default()),
            Grammar::Gemini => Reader::LinesOrArray(LineReader::default()),
            _ => Reader::Lines(LineReader::default()),
        };
        Linter { reader, judge: Judge::new(grammar), n_bytes: 0 }
    }

    /// Takes bytes in any split.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.n_bytes += bytes.len();
        let mut rest = bytes;
        if let Reader::LinesOrArray(lines) = &mut self.reader
            && let Some(first) = rest.iter().position(|byte| !byte.is_ascii_whitespace())
        {
            let mut lines = std::mem::take(lines);
            lines.feed(&rest[..first], |place, piece| self.judge.take(place, piece));
            rest = &rest[first..];
            self.reader = match rest[0] {
                b'[' => Reader::Array(ArrayReader::starting_at(lines.place())),
                _ => Reader::Lines(lines),
            };
        }
        if self.judge.is_over() {
            return;
        }
        match &mut self.reader {
            Reader::Lines(reader) | Reader::LinesOrArray(reader) => {
                reader.feed(rest, |place, piece| self.judge.take(place, piece));
            }
            Reader::Array(reader) => reader.feed(rest, |place, piece| self.judge.take(place, piece)),
            Reader::Frames(reader) => reader.feed(rest, |offset, frame| {
                take_frame(Mark { offset, line: None }, frame, &mut self.judge);
            }),
        }
    }

    /// Says that the bytes have ended.
    pub fn finish(mut self) -> Report {
        let end = match self.reader {
            _ if self.judge.is_over() => None,
            Reader::Lines(reader) | Reader::LinesOrArray(reader) => {
                Some(reader.finish(|place, piece| self.judge.take(place, piece)))
            }
            Reader::Array(reader) => Some(reader.finish(|place, piece| self.judge.take(place, piece))),
            Reader::Frames(reader) => {
                let mark = Mark { offset: reader.n_bytes(), line: None };
                Some(End { mark, inside: reader.is_inside_frame() })
            }
        };
        self.judge.finish(end, self.n_bytes)
    }
}

fn take_frame(mark: Mark, frame: Result<Frame<'_>, FrameError>, judge: &mut Judge) {
    let frame = match frame {
        Ok(frame) => frame,
        Err(error) => return judge.take(mark, Piece::Unreadable(&error.to_string(), &[])),
    };
    let kind = match frame.kind() {
        FrameKind::Event => Kind::Message,
        FrameKind::Exception | FrameKind::Error => Kind::Exception,
        FrameKind::Unknown => {
            let reason = "the frame has no known `:message-type`";
            return judge.take(mark, Piece::Unreadable(reason, frame.payload()));
        }
    };
    judge.take(mark, Piece::Event(Event { kind, name: frame.name(), data: frame.payload() }));
}
