//! An event as the machines see it, whatever carried it.

use std::borrow::Cow;

use super::rule::StreamRule;
use super::violation::BrokenRule;
use crate::frames::MAX_FRAME_BYTES;
use crate::json::{Document, Json};

/// Bytes that one event may have. Images come as one event each and take some megabytes.
pub const MAX_EVENT_BYTES: usize = MAX_FRAME_BYTES;

/// JSON values that one event may hold. Each takes some fifty bytes of memory while the event is judged; real events
/// hold some dozens, and a last event that repeats the whole reply some thousands.
const MAX_VALUES: usize = 1 << 20;

/// Characters of an event that a violation shows.
const MAX_EXCERPT_CHARS: usize = 200;

/// Characters of a name or an id that a message quotes.
const MAX_QUOTED_CHARS: usize = 60;

#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamEvent<'a> {
    pub(crate) kind: EventKind,
    /// Its name; empty where it has none.
    pub(crate) name: &'a str,
    pub(crate) data: &'a [u8],
}

/// What carries an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// An event like any other.
    Message,
    /// A frame that says of itself that it is an error.
    Exception,
}

/// What a reader finds in the bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Piece<'a> {
    /// A whole event.
    Event(StreamEvent<'a>),
    /// An event at the end of the bytes without what should end it.
    Unended(StreamEvent<'a>),
    /// Lines that are no part of an event.
    Stray(&'a [u8]),
    /// Bytes that cannot be read as an event, with the reason.
    Unreadable(&'a str, &'a [u8]),
}

/// A place as readers count it: the byte, and the line where there are lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamOffset {
    pub(crate) offset: usize,
    pub(crate) line: Option<usize>,
}

/// Where the bytes end, and whether that is inside an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) mark: StreamOffset,
    pub(crate) inside: bool,
}

impl<'a> StreamEvent<'a> {
    /// The data as a JSON object; `rule` is broken if it is none.
    pub(crate) fn object(&self, rule: &'static StreamRule) -> Result<Document<'a>, BrokenRule> {
        let broken = |message| BrokenRule { rule, message };
        let n_values = self.data.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
        if n_values > MAX_VALUES {
            return Err(broken(format!("the event holds more than {MAX_VALUES} values")));
        }
        match Document::parse(self.data) {
            Ok(document) if document.root().is_object() => Ok(document),
            Ok(_) => Err(broken("the data of the event is JSON, but no object".to_owned())),
            Err(error) => Err(broken(format!("the data of the event is not JSON: {error}"))),
        }
    }
}

/// A text that is not empty.
pub(crate) fn text<'a>(json: Json<'_, 'a>) -> Option<Cow<'a, str>> {
    json.as_str().filter(|text| !text.is_empty())
}

pub(crate) fn excerpt(bytes: &[u8]) -> String {
    one_line(bytes, MAX_EXCERPT_CHARS)
}

/// A name or an id as a message quotes it.
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
