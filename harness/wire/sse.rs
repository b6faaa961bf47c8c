//! A reader of server-sent events that takes any split of the bytes.
//!
//! It follows the WHATWG grammar as far as providers use it (<https://html.spec.whatwg.org/multipage/server-sent-events.html>):
//! `event` and `data` fields, comments, LF, CRLF and CR line ends. `id` and `retry` are ignored.

/// One dispatched event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// The event name; empty where none was given.
    pub name: String,
    /// The data lines, joined by line feeds.
    pub data: String,
}

/// Reads events from bytes as they come.
#[derive(Debug, Clone, Default)]
pub struct SseReader {
    line: Vec<u8>,
    after_cr: bool,
    name: String,
    data: String,
    has_data: bool,
    overflowed: bool,
}

/// Bytes that one event may have. Real frames are below 100 kB; more is an attack or a bug.
const MAX_EVENT_BYTES: usize = 4 << 20;

impl SseReader {
    /// Takes bytes and hands each complete event to `event`.
    pub fn feed(&mut self, bytes: &[u8], mut event: impl FnMut(SseEvent)) {
        for &byte in bytes {
            let was_after_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
            match byte {
                b'\n' if was_after_cr => {}
                b'\n' | b'\r' => self.end_line(&mut event),
                _ if self.line.len() + self.data.len() < MAX_EVENT_BYTES => self.line.push(byte),
                _ => self.overflowed = true,
            }
        }
    }

    /// Whether an event was longer than the reader takes; its end was dropped.
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    fn end_line(&mut self, event: &mut impl FnMut(SseEvent)) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            let data = std::mem::take(&mut self.data);
            if std::mem::take(&mut self.has_data) {
                event(SseEvent { name, data });
            }
            return;
        }
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
    }
}
