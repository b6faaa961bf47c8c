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

mod array;
mod checker;
mod detect;
mod event;
mod invoke;
mod kept;
mod lines;
mod machine;
mod rule;
mod strictness;
mod violation;

pub use detect::{MAX_LOOK_BYTES, StreamKind, detect, model_of, recognise};
pub use event::MAX_EVENT_BYTES;
pub use kept::{MAX_KEPT_BYTES, MAX_TRACKED};
pub use rule::StreamRule;
pub use strictness::StreamStrictness;
pub use violation::{StreamPosition, StreamViolation};

pub(crate) use event::{EventKind, StreamEvent, quoted, text};
pub(crate) use kept::{Arguments, Digest, Room};
pub(crate) use machine::{Common, Machine, Standing, Warnings, error_in_words, underway};
pub(crate) use rule::{SSE, error, stream_rules, warning};
pub(crate) use violation::{BrokenRule, Verdict, illegal};

use crate::frames::{Frame, FrameError, FrameKind, FrameReader};
use crate::{Dialect, Severity};
use array::ArrayReader;
use checker::StreamChecker;
use event::{End, Piece, StreamOffset};
use lines::LineReader;

/// The result for one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamReport {
    /// The dialect by whose grammar it was judged.
    pub dialect: Dialect,
    /// The name of the profile by whose strictness it was judged; nothing where it is unknown who sent the stream.
    pub profile: Option<&'static str>,
    /// How the stream ended.
    pub ended: Ended,
    /// The warnings, each rule at the first place where it was met, and at the end the error, if there is one.
    pub violations: Vec<StreamViolation>,
    /// What the provider said when it reported an error inside the stream; cut to one short line.
    pub provider_error: Option<String>,
    /// Events that were judged.
    pub n_events: usize,
    /// Bytes of the stream, also those that were not judged any more.
    pub n_bytes: usize,
}

impl StreamReport {
    /// The first illegal event, or the missing end. A stream without it is legal.
    pub fn error(&self) -> Option<&StreamViolation> {
        self.violations.iter().find(|violation| violation.severity == Severity::Error)
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

/// Judges the bytes of a whole stream of which nothing is known but its dialect.
pub fn lint(dialect: Dialect, bytes: &[u8]) -> StreamReport {
    lint_as(StreamStrictness::AsItSays(dialect), bytes)
}

/// Judges the bytes of a whole stream by somebody's strictness.
pub fn lint_as(strictness: StreamStrictness, bytes: &[u8]) -> StreamReport {
    let mut linter = Linter::with(strictness);
    linter.feed(bytes);
    linter.finish()
}

/// Judges a stream as its bytes come.
#[derive(Debug)]
pub struct Linter {
    reader: Reader,
    checker: StreamChecker,
    n_bytes: usize,
}

/// How the bytes of a dialect's streams become events.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Framing {
    /// Server-sent events.
    Lines,
    /// Server-sent events, or the items of one JSON array.
    LinesOrArray,
    /// Server-sent events, or the same events in binary frames.
    LinesOrChunks,
    /// Binary frames.
    Frames,
}

#[derive(Debug)]
enum Reader {
    Lines(LineReader),
    /// Until the first byte shows whether the stream is text.
    LinesOrChunks,
    Chunks(FrameReader),
    /// Until the first byte that is no blank shows whether the stream is an array.
    LinesOrArray(LineReader),
    Array(ArrayReader),
    Frames(FrameReader),
}

impl Linter {
    /// A linter at the start of a stream of which nothing is known but its dialect.
    pub fn new(dialect: Dialect) -> Linter {
        Linter::with(StreamStrictness::AsItSays(dialect))
    }

    /// A linter that judges by somebody's strictness.
    pub fn with(strictness: StreamStrictness) -> Linter {
        let dialect = strictness.dialect();
        let reader = match dialect.definition().framing {
            Framing::Lines => Reader::Lines(LineReader::default()),
            Framing::LinesOrArray => Reader::LinesOrArray(LineReader::default()),
            Framing::LinesOrChunks => Reader::LinesOrChunks,
            Framing::Frames => Reader::Frames(FrameReader::default()),
        };
        Linter { reader, checker: StreamChecker::new(strictness), n_bytes: 0 }
    }

    /// Takes bytes in any split.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.n_bytes += bytes.len();
        let mut rest = bytes;
        if let Reader::LinesOrArray(lines) = &mut self.reader
            && let Some(first) = rest.iter().position(|byte| !byte.is_ascii_whitespace())
        {
            let mut lines = std::mem::take(lines);
            lines.feed(&rest[..first], |place, piece| self.checker.take(place, piece));
            rest = &rest[first..];
            self.reader = match rest[0] {
                b'[' => Reader::Array(ArrayReader::starting_at(lines.place())),
                _ => Reader::Lines(lines),
            };
        }
        if let (Reader::LinesOrChunks, Some(first)) = (&self.reader, rest.first()) {
            // A frame begins with its length in four bytes, and frames are shorter than 16 MiB, so the first byte is 0.
            self.reader = match first {
                0 => Reader::Chunks(FrameReader::default()),
                _ => Reader::Lines(LineReader::default()),
            };
        }
        if self.checker.is_over() {
            return;
        }
        match &mut self.reader {
            Reader::LinesOrChunks => {}
            Reader::Lines(reader) | Reader::LinesOrArray(reader) => {
                reader.feed(rest, |place, piece| self.checker.take(place, piece));
            }
            Reader::Chunks(reader) => reader.feed(rest, |offset, frame| {
                take_chunk(StreamOffset { offset, line: None }, frame, &mut self.checker);
            }),
            Reader::Array(reader) => reader.feed(rest, |place, piece| self.checker.take(place, piece)),
            Reader::Frames(reader) => reader.feed(rest, |offset, frame| {
                take_frame(StreamOffset { offset, line: None }, frame, &mut self.checker);
            }),
        }
    }

    /// Takes the end of the bytes.
    pub fn finish(mut self) -> StreamReport {
        let end = match self.reader {
            _ if self.checker.is_over() => None,
            Reader::Lines(reader) | Reader::LinesOrArray(reader) => {
                Some(reader.finish(|place, piece| self.checker.take(place, piece)))
            }
            Reader::Array(reader) => Some(reader.finish(|place, piece| self.checker.take(place, piece))),
            Reader::LinesOrChunks => Some(LineReader::default().finish(|_, _| {})),
            Reader::Frames(reader) | Reader::Chunks(reader) => {
                let mark = StreamOffset { offset: reader.n_bytes(), line: None };
                Some(End { mark, inside: reader.is_inside_frame() })
            }
        };
        self.checker.finish(end, self.n_bytes)
    }
}

fn take_frame(mark: StreamOffset, frame: Result<Frame<'_>, FrameError>, checker: &mut StreamChecker) {
    let frame = match frame {
        Ok(frame) => frame,
        Err(error) => return checker.take(mark, Piece::Unreadable(&error.to_string(), &[])),
    };
    let kind = match frame.kind() {
        FrameKind::Event => EventKind::Message,
        FrameKind::Exception | FrameKind::Error => EventKind::Exception,
        FrameKind::Unknown => {
            let reason = "the frame has no known `:message-type`";
            return checker.take(mark, Piece::Unreadable(reason, frame.payload()));
        }
    };
    checker.take(mark, Piece::Event(StreamEvent { kind, name: frame.name(), data: frame.payload() }));
}

fn take_chunk(mark: StreamOffset, frame: Result<Frame<'_>, FrameError>, checker: &mut StreamChecker) {
    let frame = match frame {
        Ok(frame) => frame,
        Err(error) => return checker.take(mark, Piece::Unreadable(&error.to_string(), &[])),
    };
    match invoke::unwrap(&frame) {
        Ok(event) => {
            let kind = EventKind::Message;
            checker.take(mark, Piece::Event(StreamEvent { kind, name: &event.name, data: &event.data }));
        }
        Err(reason) => checker.take(mark, Piece::Unreadable(reason, frame.payload())),
    }
}
