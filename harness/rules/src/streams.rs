//! The stream linter checks that the recorded bytes of a provider's stream are legal in its dialect.
//!
//! It accepts every legal order of events and reports the first illegal event. Each requirement is a
//! [`StreamRule`]. Unknown events, block types and fields pass: only known violations are reported. If
//! compatible providers do something that the provider itself does not, and readers can handle it, it is a
//! warning and does not end the check.
//!
//! The bytes may be hostile. An event is kept until it is complete, but only up to [`MAX_EVENT_BYTES`] of
//! it. For earlier content, the linter keeps at most [`MAX_TRACKED`] numbers and digests. To check that
//! the arguments of calls are JSON, it keeps up to [`MAX_KEPT_BYTES`] of them. Anything beyond these two
//! limits is not checked. The report does not depend on how the bytes are split.
//!
//! The linter does not compare a stream with its request, and does not judge the model's content.

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
    /// The dialect of the grammar.
    pub dialect: Dialect,
    /// The name of the profile that judged. `None` if the sender of the stream is unknown.
    pub profile: Option<&'static str>,
    /// How the stream ended.
    pub ended: Ended,
    /// The warnings, each rule only at its first position. The error, if there is one, is last.
    pub violations: Vec<StreamViolation>,
    /// The provider's message if it reported an error inside the stream, cut to one short line.
    pub provider_error: Option<String>,
    /// Number of events that were checked.
    pub n_events: usize,
    /// Number of bytes in the stream, including those that were no longer checked.
    pub n_bytes: usize,
}

impl StreamReport {
    /// Returns the first illegal event, or the missing end. A legal stream has neither.
    pub fn error(&self) -> Option<&StreamViolation> {
        self.violations.iter().find(|violation| violation.severity == Severity::Error)
    }
}

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ended {
    /// With its terminal event.
    Complete,
    /// With an error that the provider reported inside the stream, which is legal.
    ErrorEvent,
    /// Before its terminal event.
    Truncated,
    /// With the first illegal event. The rest was not checked.
    Illegal,
}

impl Ended {
    /// Returns the name used in reports, for example `error-event`.
    pub fn name(self) -> &'static str {
        match self {
            Ended::Complete => "complete",
            Ended::ErrorEvent => "error-event",
            Ended::Truncated => "truncated",
            Ended::Illegal => "illegal",
        }
    }
}

/// Checks the bytes of a complete stream from an unknown provider of a dialect.
pub fn lint(dialect: Dialect, bytes: &[u8]) -> StreamReport {
    lint_as(StreamStrictness::AsItSays(dialect), bytes)
}

/// Checks the bytes of a complete stream with the given strictness.
pub fn lint_as(strictness: StreamStrictness, bytes: &[u8]) -> StreamReport {
    let mut linter = Linter::with(strictness);
    linter.feed(bytes);
    linter.finish()
}

/// Checks a stream as its bytes arrive.
#[derive(Debug)]
pub struct Linter {
    reader: Reader,
    checker: StreamChecker,
    n_bytes: usize,
}

/// How the bytes of a stream are split into events.
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

impl Dialect {
    /// Returns whether a provider may stream the items of one JSON array instead of events.
    pub fn may_stream_array(self) -> bool {
        match self.definition().framing {
            Framing::LinesOrArray => true,
            Framing::Lines | Framing::LinesOrChunks | Framing::Frames => false,
        }
    }
}

#[derive(Debug)]
enum Reader {
    Lines(LineReader),
    /// Until the first byte shows whether the stream is text.
    LinesOrChunks,
    Chunks(FrameReader),
    /// Until the first byte that is not white space shows whether the stream is an array.
    LinesOrArray(LineReader),
    Array(ArrayReader),
    Frames(FrameReader),
}

impl Linter {
    /// Creates a linter for a stream from an unknown provider of a dialect.
    pub fn new(dialect: Dialect) -> Linter {
        Linter::with(StreamStrictness::AsItSays(dialect))
    }

    /// Creates a linter with the given strictness.
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

    /// Takes bytes. They may be split anywhere.
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
            // A frame begins with its length in four bytes. Frames are shorter than 16 MiB, so the first
            // byte is 0.
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

    /// Ends the stream.
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
