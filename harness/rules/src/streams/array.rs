//! Reads the items of a JSON array that arrives in pieces, as Gemini streams without `alt=sse`.
//!
//! The reader finds the end of each item by counting brackets outside strings. The parser checks the
//! content.

use super::event::{End, EventKind, MAX_EVENT_BYTES, Piece, StreamEvent, StreamOffset};

#[derive(Debug)]
pub(crate) struct ArrayReader {
    at: StreamOffset,
    item: Vec<u8>,
    begun: StreamOffset,
    /// Number of open brackets, including the array's own.
    depth: usize,
    string: InString,
    is_too_long: bool,
    is_closed: bool,
}

/// The position of the next byte relative to strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InString {
    No,
    Yes,
    AfterBackslash,
}

impl ArrayReader {
    /// Creates a reader for an array that begins at this position.
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

    /// Takes bytes, and calls `take` with each piece that they complete.
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
                // The last bracket is the array's own. Only `]` closes it.
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
