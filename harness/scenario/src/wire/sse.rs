//! A server-sent event reader that accepts bytes split at any position.
//!
//! It implements the parts of the WHATWG grammar that providers use
//! (<https://html.spec.whatwg.org/multipage/server-sent-events.html>): `event` and `data` fields, comments,
//! and LF, CRLF and CR line ends. It ignores `id` and `retry`.

/// One dispatched event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The event name; empty if none was given.
    pub name: &'a str,
    /// The data lines, joined by line feeds.
    pub data: &'a str,
}

/// Reads events from bytes as they arrive.
#[derive(Debug, Clone, Default)]
pub struct SseReader {
    line: Vec<u8>,
    after_cr: bool,
    name: String,
    data: String,
    has_data: bool,
    overflowed: bool,
}

/// The maximum size of one event in bytes. Real frames are below 100 kB; more is an attack or a bug.
const MAX_EVENT_BYTES: usize = 4 << 20;

impl SseReader {
    /// Takes bytes and passes each complete event to `event`.
    pub fn feed(&mut self, bytes: &[u8], mut event: impl FnMut(SseEvent<'_>)) {
        let mut rest = bytes;
        while let [first, after @ ..] = rest {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                rest = after;
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                return self.extend_line(rest);
            };
            self.extend_line(&rest[..end]);
            self.after_cr = rest[end] == b'\r';
            self.end_line(&mut event);
            rest = &rest[end + 1..];
        }
    }

    /// True if an event exceeded the maximum size; its end was dropped.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    fn extend_line(&mut self, bytes: &[u8]) {
        let room = MAX_EVENT_BYTES.saturating_sub(self.line.len() + self.data.len());
        self.overflowed |= bytes.len() > room;
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn end_line(&mut self, event: &mut impl FnMut(SseEvent<'_>)) {
        if self.line.is_empty() {
            if std::mem::take(&mut self.has_data) {
                event(SseEvent { name: &self.name, data: &self.data });
            }
            self.name.clear();
            self.data.clear();
            return;
        }
        let line = String::from_utf8_lossy(&self.line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(value);
                self.has_data = true;
            }
            _ => {}
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<(String, String)> {
        let mut events = Vec::new();
        let mut reader = SseReader::default();
        for piece in pieces {
            reader.feed(piece, |event| events.push((event.name.to_owned(), event.data.to_owned())));
        }
        assert!(!reader.overflowed());
        events
    }

    #[test]
    fn any_split_gives_the_same_events() {
        let stream =
            "event: a\ndata: 1\ndata:2\n\n: note\r\ndata: Grüße\r\n\r\ndata\r\revent: lost\n\ndata: cut";
        let bytes = stream.as_bytes();
        let expected = [("a", "1\n2"), ("", "Grüße"), ("", "")].map(|(n, d)| (n.to_owned(), d.to_owned()));
        assert_eq!(read([bytes]), expected);
        assert_eq!(read(bytes.chunks(1)), expected);
        for at in 0..bytes.len() {
            let (before, after) = bytes.split_at(at);
            assert_eq!(read([before, after]), expected, "split at {at}");
        }
    }

    #[test]
    fn an_event_without_end_is_bounded() {
        let mut reader = SseReader::default();
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..5 {
            reader.feed(&piece, |_| {});
        }
        assert!(reader.overflowed());
        assert!(reader.line.len() <= MAX_EVENT_BYTES);
    }
}
