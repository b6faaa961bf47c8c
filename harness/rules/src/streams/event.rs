//! An event as the state machines receive it, independent of its transport.

use std::borrow::Cow;

use super::rule::StreamRule;
use super::violation::BrokenRule;
use crate::frames::MAX_FRAME_BYTES;
use crate::json::{Document, Json};

/// Maximum size of an event in bytes. An image comes as one event and takes some megabytes.
pub const MAX_EVENT_BYTES: usize = MAX_FRAME_BYTES;

/// Maximum number of JSON values in an event. Each takes about fifty bytes of memory while the event is
/// checked. Real events contain a few dozen values, and a last event that repeats the complete reply a few
/// thousand.
const MAX_VALUES: usize = 1 << 20;

/// Maximum number of characters shown from an event with a violation.
const MAX_EXCERPT_CHARS: usize = 200;

/// Maximum number of characters in a name or an id that a message shows.
const MAX_QUOTED_CHARS: usize = 60;

#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamEvent<'a> {
    pub(crate) kind: EventKind,
    /// The name, or an empty text.
    pub(crate) name: &'a str,
    pub(crate) data: &'a [u8],
}

/// The transport of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// An ordinary event.
    Message,
    /// A frame that is marked as an error.
    Exception,
}

/// A part of the bytes that a reader has found.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Piece<'a> {
    /// A complete event.
    Event(StreamEvent<'a>),
    /// An event at the end of the bytes without its terminator.
    Unended(StreamEvent<'a>),
    /// Lines that do not belong to an event.
    Stray(&'a [u8]),
    /// Bytes that are not an event, with the reason.
    Unreadable(&'a str, &'a [u8]),
}

/// A position in a stream: the byte, and the line if the stream has lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamOffset {
    pub(crate) offset: usize,
    pub(crate) line: Option<usize>,
}

/// The position where the bytes end, and whether it is inside an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) mark: StreamOffset,
    pub(crate) inside: bool,
}

impl<'a> StreamEvent<'a> {
    /// Parses the data as a JSON object. Fails with `rule` if it is not one.
    pub(crate) fn object(&self, rule: &'static StreamRule) -> Result<Document<'a>, BrokenRule> {
        let broken = |message| BrokenRule { rule, message };
        let n_values = self.data.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
        if n_values > MAX_VALUES {
            return Err(broken(format!("the event has more than {MAX_VALUES} values")));
        }
        match Document::parse(self.data) {
            Ok(document) if document.root().is_object() => Ok(document),
            Ok(_) => Err(broken("the data of the event is JSON, but not an object".to_owned())),
            Err(error) => Err(broken(format!("the data of the event is not JSON: {error}"))),
        }
    }
}

/// Returns a text that is not empty.
pub(crate) fn text<'a>(json: Json<'_, 'a>) -> Option<Cow<'a, str>> {
    json.as_str().filter(|text| !text.is_empty())
}

pub(crate) fn excerpt(bytes: &[u8]) -> String {
    one_line(bytes, MAX_EXCERPT_CHARS)
}

/// Formats a name or an id for a message.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", one_line(text.as_bytes(), MAX_QUOTED_CHARS))
}

fn one_line(bytes: &[u8], n_chars: usize) -> String {
    // A character has at most four bytes.
    let head = &bytes[..bytes.len().min(4 * (n_chars + 1))];
    let text = String::from_utf8_lossy(head);
    let visible = |c: char| if crate::plain::is_plain(c) { c } else { ' ' };
    let mut line: String = text.trim().chars().map(visible).take(n_chars).collect();
    if text.trim().chars().nth(n_chars).is_some() || head.len() < bytes.len() {
        line.push('…');
    }
    line
}
