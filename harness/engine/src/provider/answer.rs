//! What goes into the provider and what comes out.

use std::borrow::Cow;

use brickbat_scenario::plan::{Mark, Side};
use brickbat_scenario::trace::{Ending, ExchangeId, Held};
use brickbat_scenario::wire::Frames;

/// A request as the provider sees it.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The HTTP method, upper case.
    pub method: &'a str,
    /// The path below the plan's base URL, for example `/v1/messages`, without the query.
    pub path: &'a str,
    /// The headers, which no answer depends on.
    pub headers: Headers<'a>,
    /// The body.
    pub body: &'a [u8],
}

/// The headers of a request, as they were sent. They are parsed on demand.
#[derive(Debug, Clone, Copy, Default)]
pub struct Headers<'a>(&'a [u8]);

impl<'a> Headers<'a> {
    /// No headers: the request did not come over HTTP.
    pub const NONE: Headers<'static> = Headers(&[]);

    /// The headers in the head of a request, which begins with the request line and is known to be well-formed.
    pub fn of_head(head: &'a [u8]) -> Headers<'a> {
        let end_of_first_line = head.iter().position(|byte| *byte == b'\n').map_or(head.len(), |at| at + 1);
        Headers(&head[end_of_first_line..])
    }

    /// Each name and value, in order. Invalid UTF-8 becomes replacement characters.
    pub fn iter(self) -> impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)> {
        self.0.split(|byte| *byte == b'\n').filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let text = |bytes: &'a [u8]| String::from_utf8_lossy(bytes.trim_ascii());
            Some((text(&line[..colon]), text(&line[colon + 1..])))
        })
    }
}

/// The header that says after how many milliseconds a client may come back. `retry-after`, which counts in seconds,
/// is sent as well, for clients that do not know it.
pub(super) const RETRY_AFTER_MS: &str = "retry-after-ms";

/// What the provider sends for one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The number of the request.
    pub exchange: ExchangeId,
    /// The model that the request asked, if its path names it.
    pub model: Option<String>,
    /// Whether the request shows that the system has compacted its history by itself.
    pub compacted: bool,
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
    /// How long the client is to wait before it asks again, if the provider says so.
    pub fn pause_ms(&self) -> Option<u64> {
        let header = self.headers.iter().find(|(name, _)| *name == RETRY_AFTER_MS)?;
        header.1.parse().ok()
    }

    /// Holds before the head, whatever else is planned.
    pub(super) fn wait_before_head(&mut self) {
        let at = Held { mark: Mark::Headers, side: Side::Before };
        if !self.holds.iter().any(|hold| hold.at == at) {
            self.holds.insert(0, Hold { after: Sent::Nothing, at });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_off_a_head() {
        let head = b"POST /v1/messages HTTP/1.1\r\nHost: a:1\r\nX-Api-Key:k\n\r\n";
        let read: Vec<_> = Headers::of_head(head).iter().collect();
        assert_eq!(read, [("Host".into(), "a:1".into()), ("X-Api-Key".into(), "k".into())]);
        assert_eq!(Headers::of_head(b"").iter().count() + Headers::NONE.iter().count(), 0);
    }
}
