//! The items of one JSON array that is sent piece by piece: how Gemini streams without `alt=sse`.
//!
//! It finds where each item ends by counting brackets outside of strings, and leaves it to the parser what is in it.

use super::event::{End, EventKind, MAX_EVENT_BYTES, Piece, StreamEvent, StreamOffset};

#[derive(Debug)]
pub(crate) struct ArrayReader {
    at: StreamOffset,
    item: Vec<u8>,
    begun: StreamOffset,
    /// Open brackets; the array's own is the first.
    depth: usize,
    string: InString,
    is_too_long: bool,
    is_closed: bool,
}

/// Whether the next byte stands in a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InString {
    No,
    Yes,
    AfterBackslash,
}

impl ArrayReader {
    /// A reader for an array that begins at this place.
    pub(crate) fn starting_at(at: StreamOffset) -> ArrayReader {
        ArrayReader {
            at,
            item: Vec::new(),
            begun: at,
            depth: 0,
            string: InString::No,
            is_too_long: false,
            is_closed: false,
        }
    }

    /// Takes bytes and hands on what they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(StreamOffset, Piece<'_>)) {
        for byte in bytes {
            self.byte(*byte, &mut take);
            self.at.offset += 1;
            if *byte == b'\n' {
                self.at.line = self.at.line.map(|line| line + 1);
            }
        }
    }

    pub(crate) fn finish(self, _take: impl FnMut(StreamOffset, Piece<'_>)) -> End {
        End { mark: self.at, inside: !self.is_closed && !self.item.is_empty() }
    }

    fn byte(&mut self, byte: u8, take: &mut impl FnMut(StreamOffset, Piece<'_>)) {
        if self.string != InString::No {
            self.string = match (self.string, byte) {
                (InString::Yes, b'\\') => InString::AfterBackslash,
                (InString::Yes, b'"') => InString::No,
                _ => InString::Yes,
            };
            return self.keep(byte);
        }
        if self.is_closed {
            if !byte.is_ascii_whitespace() {
                take(self.at, Piece::Unreadable("something follows the end of the array", &[byte]));
            }
            return;
        }
        match byte {
            b'[' if self.depth == 0 => self.depth = 1,
            b']' if self.depth == 1 => {
                self.end_item(take);
                self.depth = 0;
                self.is_closed = true;
            }
            b',' if self.depth == 1 => self.end_item(take),
            b'[' | b'{' => {
                self.depth += 1;
                self.keep(byte);
            }
            b']' | b'}' => {
                // The last bracket is the array's own, and only `]` closes it.
                self.depth = self.depth.saturating_sub(1).max(1);
                self.keep(byte);
            }
            b'"' => {
                self.string = InString::Yes;
                self.keep(byte);
            }
            _ if byte.is_ascii_whitespace() && self.item.is_empty() => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.item.is_empty() {
            self.begun = self.at;
        }
        if self.item.len() < MAX_EVENT_BYTES { self.item.push(byte) } else { self.is_too_long = true }
    }

    fn end_item(&mut self, take: &mut impl FnMut(StreamOffset, Piece<'_>)) {
        if std::mem::take(&mut self.is_too_long) {
            take(self.begun, Piece::Unreadable("the item is longer than 16 MiB", &self.item));
        } else if !self.item.is_empty() {
            take(
                self.begun,
                Piece::Event(StreamEvent { kind: EventKind::Message, name: "", data: &self.item }),
            );
        }
        self.item.clear();
    }
}
