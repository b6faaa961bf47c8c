//! Splits a stream into its events without changing their bytes.

use std::ops::Range;

/// The way in which a stream is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// After each blank line.
    Lines,
    /// By the length prefix of each frame.
    Frames,
}

/// The bytes that do not form a complete event yet.
#[derive(Debug)]
pub(super) struct Pieces {
    cut: Cut,
    waiting: Vec<u8>,
}

/// The maximum number of event bytes buffered. A longer event is forwarded in parts.
const MAX_EVENT_BYTES: usize = 16 << 20;

impl Pieces {
    pub(super) fn new(cut: Cut) -> Pieces {
        Pieces { cut, waiting: Vec::new() }
    }

    /// Takes bytes and returns the events that are now complete.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.waiting.extend_from_slice(bytes);
        let mut whole = Vec::new();
        let mut used = 0;
        while let Some(event) = self.next(used) {
            used = event.end;
            whole.push(self.waiting[event].to_vec());
        }
        self.waiting.drain(..used);
        if self.waiting.len() > MAX_EVENT_BYTES {
            whole.push(self.rest());
        }
        whole
    }

    /// Takes the remaining bytes.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.waiting)
    }

    /// The range of the next complete event, starting at `from`.
    fn next(&self, from: usize) -> Option<Range<usize>> {
        let bytes = &self.waiting[from..];
        let length = match self.cut {
            Cut::Lines => end_of_event(bytes)?,
            Cut::Frames => {
                let length = u32::from_be_bytes(bytes.get(..4)?.try_into().ok()?);
                let length = usize::try_from(length).ok()?;
                // An impossible length is left to the linter.
                if (4..=MAX_EVENT_BYTES).contains(&length) { length } else { bytes.len() }
            }
        };
        (length > 0 && length <= bytes.len()).then(|| from..from + length)
    }
}

/// The end of the first event: after the blank line that follows it. A CR at the end may be the first half of
/// a CRLF, so the next byte is needed.
fn end_of_event(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut is_blank = true;
    while at < bytes.len() {
        let width = match bytes[at] {
            b'\r' if at + 1 == bytes.len() => return None,
            b'\r' if bytes[at + 1] == b'\n' => 2,
            b'\r' | b'\n' => 1,
            _ => {
                is_blank = false;
                at += 1;
                continue;
            }
        };
        at += width;
        if is_blank {
            return Some(at);
        }
        is_blank = true;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(kind: Cut, bytes: &[u8], n_at_once: usize) -> (Vec<Vec<u8>>, Vec<u8>) {
        let mut pieces = Pieces::new(kind);
        let events = bytes.chunks(n_at_once).flat_map(|bytes| pieces.take(bytes)).collect();
        (events, pieces.rest())
    }

    #[test]
    fn any_split_gives_the_same_events_and_loses_no_byte() {
        let lines = b"event: a\ndata: 1\n\n: note\r\n\r\ndata: 2\r\n\r\ndata: half";
        let frames =
            [&5_u32.to_be_bytes()[..], b"x", &6_u32.to_be_bytes()[..], b"yz", &9_u32.to_be_bytes()[..]]
                .concat();
        for (kind, bytes, n_events) in [(Cut::Lines, &lines[..], 3), (Cut::Frames, &frames, 2)] {
            for n_at_once in 1..bytes.len() {
                let (events, rest) = cut(kind, bytes, n_at_once);
                assert_eq!(events.len(), n_events, "{kind:?} {n_at_once}");
                assert_eq!([events.concat(), rest].concat(), bytes, "{kind:?} {n_at_once}");
            }
        }
    }

    #[test]
    fn an_impossible_length_hides_no_bytes() {
        let (events, rest) = cut(Cut::Frames, b"\0\0\0\x01junk", 8);
        assert_eq!((events.concat(), rest), (b"\0\0\0\x01junk".to_vec(), Vec::new()));
    }
}
