//! The provider: request bytes in, frames, holds and an ending out. It does no I/O.
//!
//! There is one core. [`crate::simulate`] calls it directly; the socket server moves its bytes.
//! Both play an [`Answer`] by the same rule: write the head and the frames in order, stop at each hold
//! until it is released, then end the body as told.

use crate::trace::{Ending, ExchangeId, Held};

/// A request as the provider sees it.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The HTTP method, upper case.
    pub method: &'a str,
    /// The path below the plan's base URL, for example `/v1/messages`, without the query.
    pub path: &'a str,
    /// The body.
    pub body: &'a [u8],
}

/// What the provider sends for one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The number of the request.
    pub exchange: ExchangeId,
    /// HTTP status.
    pub status: u16,
    /// Headers besides the framing ones.
    pub headers: Vec<(&'static str, String)>,
    /// Whether the body is a stream in chunks; otherwise it has a content length.
    pub streamed: bool,
    /// The body.
    pub frames: Frames,
    /// Where to stop until released, in order.
    pub holds: Vec<Hold>,
    /// How the body ends.
    pub ending: Ending,
}

/// A place in an answer at which the provider stops until it is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    /// What must have been sent: nothing, or the head and so many frames.
    pub after: Sent,
    /// The same in the words of the plan.
    pub at: Held,
}

/// How much of an answer has been sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sent {
    /// Nothing.
    Nothing,
    /// The head and the first so many frames.
    Frames(usize),
}

/// The frames of a body, end to end in one buffer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frames {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Frames {
    /// No frames, with room for a body of so many bytes.
    pub fn with_capacity(n_bytes: usize) -> Frames {
        Frames { bytes: Vec::with_capacity(n_bytes), ends: Vec::new() }
    }

    /// Appends a frame that `write` fills.
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// Number of frames.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of the frames in a range.
    pub fn slice(&self, range: std::ops::Range<usize>) -> &[u8] {
        let start = if range.start == 0 { 0 } else { self.ends[range.start - 1] };
        let end = if range.end == 0 { 0 } else { self.ends[range.end - 1] };
        &self.bytes[start..end.max(start)]
    }

    /// Keeps the first so many frames.
    pub fn truncate(&mut self, n_frames: usize) {
        self.ends.truncate(n_frames);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }
}
