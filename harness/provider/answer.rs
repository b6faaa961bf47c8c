//! What goes into the provider and what comes out.

use std::borrow::Cow;

use crate::plan::{Mark, Side};
use crate::trace::{Ending, ExchangeId, Held};
use crate::wire::Frames;

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
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
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

impl Answer {
    /// Holds before the head, whatever else is planned.
    pub(super) fn wait_before_head(&mut self) {
        let at = Held { mark: Mark::Headers, side: Side::Before };
        if !self.holds.iter().any(|hold| hold.at == at) {
            self.holds.insert(0, Hold { after: Sent::Nothing, at });
        }
    }
}
