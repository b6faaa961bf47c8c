//! Reads server-sent events with their positions.
//!
//! The grammar is the same as for `SseReader` in the crate `brickbat-scenario`. That reader drops parts
//! that a client never sees. This one also counts bytes and lines, and reports lines that are not fields
//! and an event without a terminator.

use super::event::{End, EventKind, MAX_EVENT_BYTES, Piece, StreamEvent, StreamOffset};

#[derive(Debug, Default)]
pub(crate) struct LineReader {
    /// The current line, without its end.
    line: Vec<u8>,
    after_cr: bool,
    n_bytes: usize,
    /// Number of complete lines.
    n_lines: usize,
    /// The position where the current line begins.
    line_offset: usize,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The position where the current event begins.
    begun: Option<StreamOffset>,
    stray: Vec<u8>,
    stray_begun: Option<StreamOffset>,
    is_too_long: bool,
}

const TOO_LONG: &str = "the event is longer than 16 MiB";

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl LineReader {
    /// Takes bytes, and calls `take` with each piece that they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(StreamOffset, Piece<'_>)) {
        let mut rest = bytes;
        while let [first, after @ ..] = rest {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                self.n_bytes += 1;
                self.line_offset = self.n_bytes;
                rest = after;
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                return self.extend_line(rest);
            };
            self.extend_line(&rest[..end]);
            self.n_bytes += 1;
            self.after_cr = rest[end] == b'\r';
            self.end_line(&mut take);
            self.n_lines += 1;
            self.line_offset = self.n_bytes;
            rest = &rest[end + 1..];
        }
    }

    /// Calls `take` with an incomplete piece at the end of the bytes, and returns the position of the end.
    pub(crate) fn finish(mut self, mut take: impl FnMut(StreamOffset, Piece<'_>)) -> End {
        let mark = self.place();
        if !self.line.is_empty() {
            self.end_line(&mut take);
        }
        self.end_stray(&mut take);
        let inside = self.begun.is_some();
        if let Some(begun) = self.begun
            && self.has_data
            && !self.is_too_long
        {
            let name = String::from_utf8_lossy(&self.name);
            take(
                begun,
                Piece::Unended(StreamEvent { kind: EventKind::Message, name: &name, data: &self.data }),
            );
        }
        End { mark, inside }
    }

    pub(crate) fn place(&self) -> StreamOffset {
        StreamOffset { offset: self.n_bytes, line: Some(self.n_lines + 1) }
    }

    fn extend_line(&mut self, bytes: &[u8]) {
        self.n_bytes += bytes.len();
        let n_kept = self.line.len() + self.name.len() + self.data.len() + self.stray.len();
        let kept = &bytes[..bytes.len().min(MAX_EVENT_BYTES.saturating_sub(n_kept))];
        self.line.extend_from_slice(kept);
        let is_comment = self.line.first() == Some(&b':');
        self.is_too_long |= kept.len() < bytes.len() && !is_comment;
    }

    fn end_line(&mut self, take: &mut impl FnMut(StreamOffset, Piece<'_>)) {
        if self.line.is_empty() {
            return self.end_event(take);
        }
        let mark = StreamOffset { offset: self.line_offset, line: Some(self.n_lines + 1) };
        let has_bom = self.n_lines == 0 && self.line.starts_with(BYTE_ORDER_MARK);
        let line = if has_bom { &self.line[BYTE_ORDER_MARK.len()..] } else { &self.line };
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, [].as_slice()),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => {
                self.begun.get_or_insert(mark);
                value.clone_into(&mut self.name);
            }
            b"data" => {
                self.begun.get_or_insert(mark);
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
            }
            // A comment, or a field that is not part of the event.
            b"" | b"id" | b"retry" => {}
            _ => {
                self.stray_begun.get_or_insert(mark);
                self.stray.extend_from_slice(line);
                self.stray.push(b'\n');
            }
        }
        self.line.clear();
    }

    fn end_event(&mut self, take: &mut impl FnMut(StreamOffset, Piece<'_>)) {
        if std::mem::take(&mut self.is_too_long) {
            let mark = self.begun.or(self.stray_begun).unwrap_or(self.place());
            take(mark, Piece::Unreadable(TOO_LONG, &self.data));
        } else {
            self.end_stray(take);
            if let Some(begun) = self.begun
                && self.has_data
            {
                let name = String::from_utf8_lossy(&self.name);
                take(
                    begun,
                    Piece::Event(StreamEvent { kind: EventKind::Message, name: &name, data: &self.data }),
                );
            }
        }
        self.begun = None;
        self.has_data = false;
        self.name.clear();
        self.data.clear();
        self.stray_begun = None;
        self.stray.clear();
    }

    fn end_stray(&mut self, take: &mut impl FnMut(StreamOffset, Piece<'_>)) {
        if let Some(begun) = self.stray_begun.take() {
            take(begun, Piece::Stray(&self.stray));
            self.stray.clear();
        }
    }
}
