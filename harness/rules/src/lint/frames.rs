//! Frames of the binary event stream of AWS (<https://smithy.io/2.0/aws/amazon-eventstream.html>).
//!
//! A frame is its length, the length of its headers, a checksum of the two, headers, payload, and a checksum of it
//! all. The first checksum is looked at as soon as it is there: a wrong length would make the reader wait for bytes
//! that never come.

use aws_smithy_eventstream::frame::read_message_from;
use aws_smithy_types::event_stream::{HeaderValue, Message};

use super::event::{End, Event, Kind, MAX_EVENT_BYTES, Mark, Piece};

/// Reads events from bytes as they come.
#[derive(Debug, Default)]
pub(super) struct FrameReader {
    frame: Vec<u8>,
    n_bytes: usize,
    is_broken: bool,
}

/// Bytes of the two lengths and their checksum.
const N_PRELUDE: usize = 12;

/// Bytes of a frame without headers and payload.
const MIN_FRAME_BYTES: usize = N_PRELUDE + 4;

impl FrameReader {
    /// Takes bytes and hands on what they complete. After the first broken frame nothing can be found any more.
    pub(super) fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(Mark, Piece<'_>)) {
        let mut rest = bytes;
        while !self.is_broken && !rest.is_empty() {
            let wanted = match frame_length(&self.frame) {
                Some(Ok(length)) => length,
                Some(Err(_)) => return,
                None => N_PRELUDE,
            };
            let (head, tail) = rest.split_at(rest.len().min(wanted - self.frame.len()));
            self.frame.extend_from_slice(head);
            self.n_bytes += head.len();
            rest = tail;
            let mark = Mark { offset: self.n_bytes - self.frame.len(), line: None };
            match frame_length(&self.frame) {
                Some(Err(reason)) => self.breaks(mark, &reason, &mut take),
                Some(Ok(length)) if length == self.frame.len() => {
                    match read_message_from(&mut self.frame.as_slice()) {
                        Ok(message) => hand_on(mark, &message, &mut take),
                        Err(error) => self.breaks(mark, &error.to_string(), &mut take),
                    }
                    self.frame.clear();
                }
                _ => {}
            }
        }
    }

    /// Says where the bytes end.
    pub(super) fn finish(self, _take: impl FnMut(Mark, Piece<'_>)) -> End {
        End { mark: Mark { offset: self.n_bytes, line: None }, inside: !self.frame.is_empty() }
    }

    fn breaks(&mut self, mark: Mark, reason: &str, take: &mut impl FnMut(Mark, Piece<'_>)) {
        self.is_broken = true;
        take(mark, Piece::Unreadable(reason, &[]));
    }
}

/// Whether bytes begin with the prelude of a frame.
pub(super) fn is_frame(bytes: &[u8]) -> bool {
    matches!(frame_length(bytes), Some(Ok(_)))
}

/// The length of a frame, or why it cannot be one. Nothing before the prelude is there.
fn frame_length(frame: &[u8]) -> Option<Result<usize, String>> {
    let (prelude, checksum) = frame.get(..N_PRELUDE)?.split_at(8);
    let checksum = u32::from_be_bytes(checksum.try_into().ok()?);
    if crc32(prelude) != checksum {
        return Some(Err(format!(
            "the checksum of the frame's lengths is {checksum:#010x}, not {:#010x}",
            crc32(prelude)
        )));
    }
    let length = u32::from_be_bytes(prelude[..4].try_into().ok()?) as usize;
    Some(match length {
        MIN_FRAME_BYTES..=MAX_EVENT_BYTES => Ok(length),
        _ => Err(format!("a frame cannot have {length} bytes")),
    })
}

/// The checksum of IEEE 802.3, bit by bit, which is fast enough for eight bytes.
fn crc32(bytes: &[u8]) -> u32 {
    let shift = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), shift))
}

fn hand_on(mark: Mark, message: &Message, take: &mut impl FnMut(Mark, Piece<'_>)) {
    let header = |name: &str| {
        let header = message.headers().iter().find(|header| header.name().as_str() == name);
        match header.map(|header| header.value()) {
            Some(HeaderValue::String(text)) => text.as_str(),
            _ => "",
        }
    };
    let (kind, name) = match header(":message-type") {
        "event" => (Kind::Message, header(":event-type")),
        "exception" => (Kind::Exception, header(":exception-type")),
        "error" => (Kind::Exception, header(":error-code")),
        _ => {
            return take(
                mark,
                Piece::Unreadable("the frame has no known `:message-type`", message.payload()),
            );
        }
    };
    take(mark, Piece::Event(Event { kind, name, data: message.payload() }));
}
