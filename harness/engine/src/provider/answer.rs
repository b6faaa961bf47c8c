//! The input and output of the provider: requests and answers.

use std::borrow::Cow;
use std::sync::Arc;

use brickbat_scenario::plan::{Mark, Side};
use brickbat_scenario::trace::{self, Ending, Event, ExchangeId, Held, RequestHead, RequestKind};
use brickbat_scenario::wire::Frames;

/// A request as the provider sees it.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The HTTP method, upper case.
    pub method: &'a str,
    /// The path below the plan's base URL, for example `/v1/messages`, without the query.
    pub path: &'a str,
    /// The headers. Only the version of the API is read from them.
    pub headers: Headers<'a>,
    /// The body, as received.
    pub body: &'a [u8],
}

/// The headers of a request as they were sent. They are parsed on demand.
#[derive(Debug, Clone, Copy, Default)]
pub struct Headers<'a>(&'a [u8]);

impl<'a> Headers<'a> {
    /// No headers, for a request that did not come over HTTP.
    pub const NONE: Headers<'static> = Headers(&[]);

    /// The headers in the head of a request. The head begins with the request line and is known to be
    /// well-formed.
    pub fn of_head(head: &'a [u8]) -> Headers<'a> {
        let end_of_first_line = head.iter().position(|byte| *byte == b'\n').map_or(head.len(), |at| at + 1);
        Headers(&head[end_of_first_line..])
    }

    /// Returns the first value with this name.
    pub fn named(self, name: &str) -> Option<Cow<'a, str>> {
        self.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Iterates over the names and values, in order. Invalid UTF-8 becomes replacement characters.
    pub fn iter(self) -> impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)> {
        self.0.split(|byte| *byte == b'\n').filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let text = |bytes: &'a [u8]| String::from_utf8_lossy(bytes.trim_ascii());
            Some((text(&line[..colon]), text(&line[colon + 1..])))
        })
    }
}

/// The header with the number of milliseconds after which a client may retry. `retry-after`, in seconds, is
/// also sent, for clients that do not know this one.
pub(super) const RETRY_AFTER_MS: &str = "retry-after-ms";

/// The response of the provider to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The number of the request.
    pub exchange: ExchangeId,
    /// The facts of the request that are not in its body.
    pub asked: RequestHead,
    /// True if the request reveals that the system has compacted its history on its own.
    pub compacted: bool,
    /// The compaction that the request belongs to, if it asks for a summary and something happens to such a request in the
    /// plan.
    pub summary: Option<trace::Compaction>,
    /// The HTTP status.
    pub status: u16,
    /// The headers, without the framing ones.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// True if the body is a stream in chunks; otherwise it has a content length.
    pub streamed: bool,
    /// The body, in frames.
    pub frames: Frames,
    /// The positions at which to stop until released, in order.
    pub holds: Vec<Hold>,
    /// The ending of the body.
    pub ending: Ending,
}

impl Answer {
    /// An answer without a body. It knows only the number of its request.
    pub(super) fn head(
        exchange: ExchangeId,
        status: u16,
        headers: Vec<(&'static str, Cow<'static, str>)>,
    ) -> Answer {
        Answer {
            exchange,
            asked: RequestHead::default(),
            compacted: false,
            summary: None,
            status,
            headers,
            streamed: false,
            frames: Frames::default(),
            holds: Vec::new(),
            ending: Ending::Complete,
        }
    }

    /// The event of the request that gets this answer.
    pub fn requested(&self, kind: RequestKind, body: impl Into<Arc<[u8]>>) -> Event {
        Event::Requested {
            exchange: self.exchange,
            kind,
            head: self.asked.clone(),
            compacted: self.compacted,
            summary: self.summary,
            body: body.into(),
        }
    }
}

/// A position in an answer at which the provider stops until it is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    /// The part of the answer that must have been sent before.
    pub after: Sent,
    /// The same position in the plan's terms.
    pub at: Held,
}

/// The part of an answer sent so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sent {
    /// Nothing.
    Nothing,
    /// The head and this number of frames.
    Frames(usize),
}

impl Answer {
    /// How many milliseconds the client should wait before it retries, if the provider specifies that.
    pub fn pause_ms(&self) -> Option<u64> {
        let header = self.headers.iter().find(|(name, _)| *name == RETRY_AFTER_MS)?;
        header.1.parse().ok()
    }

    /// Adds a hold before the head, in addition to everything planned.
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
    fn headers_are_read_from_a_head() {
        let head = b"POST /v1/messages HTTP/1.1\r\nHost: a:1\r\nX-Api-Key:k\n\r\n";
        let read: Vec<_> = Headers::of_head(head).iter().collect();
        assert_eq!(read, [("Host".into(), "a:1".into()), ("X-Api-Key".into(), "k".into())]);
        assert_eq!(Headers::of_head(b"").iter().count() + Headers::NONE.iter().count(), 0);
    }
}
