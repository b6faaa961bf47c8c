//! The binary frames of AWS event streams: written, read in any split, and shown as text.
//!
//! A frame is a prelude with two lengths and a checksum, headers, a payload, and a checksum
//! (<https://smithy.io/2.0/aws/amazon-eventstream.html>). The crates of the AWS SDK for Rust do the bytes; here they
//! are bounded.

use aws_smithy_eventstream::frame::{read_message_from, write_message_to};
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};

/// The content type of such streams.
pub(super) const CONTENT_TYPE: &str = "application/vnd.amazon.eventstream";

/// The header that tells events from exceptions.
const MESSAGE_TYPE: &str = ":message-type";

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// Part of the reply.
    Event,
    /// An error that the service declares. Nothing follows it.
    Exception,
    /// Anything else, such as an error that the service does not declare.
    Other,
}

/// One frame as it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame<'a> {
    /// What it is.
    pub(super) kind: FrameKind,
    /// The name of the event or of the exception; empty where none was given.
    pub(super) name: &'a str,
    /// The payload.
    pub(super) payload: &'a [u8],
}

/// Appends an event whose payload is JSON.
pub(super) fn write_event(out: &mut Vec<u8>, name: &'static str, payload: Vec<u8>) {
    write(out, "event", ":event-type", name, payload);
}

/// Appends an exception whose payload is JSON.
pub(super) fn write_exception(out: &mut Vec<u8>, name: &'static str, payload: Vec<u8>) {
    write(out, "exception", ":exception-type", name, payload);
}

fn write(
    out: &mut Vec<u8>,
    kind: &'static str,
    name_header: &'static str,
    name: &'static str,
    payload: Vec<u8>,
) {
    let header =
        |name: &'static str, value: &'static str| Header::new(name, HeaderValue::String(value.into()));
    let headers = vec![
        header(name_header, name),
        header(":content-type", "application/json"),
        header(MESSAGE_TYPE, kind),
    ];
    let message = Message::new_from_parts(headers, payload);
    write_message_to(&message, out).expect("three short headers, and a payload far below 4 GiB");
}

/// Reads frames from bytes as they come. After bytes that are no frame nothing can be read any more: without a
/// length nobody knows where the next frame begins.
#[derive(Debug, Default)]
pub(super) struct FrameReader {
    buffer: Vec<u8>,
    is_lost: bool,
}

/// Bytes that one frame may have. Real ones are below 100 kB; more is an attack or a bug.
const MAX_FRAME_BYTES: usize = 4 << 20;

/// Bytes of the length at the beginning of a frame.
const LENGTH_BYTES: usize = 4;

/// The shortest frame: prelude and checksum, without headers and payload.
const MIN_FRAME_BYTES: usize = 16;

impl FrameReader {
    /// Takes bytes and hands each complete frame to `frame`. `Err` says why nothing more will come; it is handed on
    /// once.
    pub(super) fn feed(&mut self, bytes: &[u8], mut frame: impl FnMut(Result<Frame<'_>, String>)) {
        if self.is_lost {
            return;
        }
        self.buffer.extend_from_slice(bytes);
        let mut start = 0;
        while let Some(length) = self.buffer[start..].first_chunk::<LENGTH_BYTES>() {
            let length = u32::from_be_bytes(*length) as usize;
            if !(MIN_FRAME_BYTES..=MAX_FRAME_BYTES).contains(&length) {
                frame(Err(format!("a frame of {length} bytes")));
                return self.lose();
            }
            let Some(mut whole) = self.buffer.get(start..start + length) else { break };
            match read_message_from(&mut whole) {
                Ok(message) => frame(Ok(Frame::of(&message))),
                Err(error) => {
                    frame(Err(error.to_string()));
                    return self.lose();
                }
            }
            start += length;
        }
        self.buffer.drain(..start);
    }

    fn lose(&mut self) {
        self.is_lost = true;
        self.buffer = Vec::new();
    }
}

impl<'a> Frame<'a> {
    fn of(message: &'a Message) -> Frame<'a> {
        let kind = match header(message, MESSAGE_TYPE) {
            Some("event") => FrameKind::Event,
            Some("exception") => FrameKind::Exception,
            _ => FrameKind::Other,
        };
        let name = match kind {
            FrameKind::Event => header(message, ":event-type"),
            FrameKind::Exception => header(message, ":exception-type"),
            FrameKind::Other => header(message, ":error-code"),
        };
        Frame { kind, name: name.unwrap_or_default(), payload: message.payload() }
    }
}

fn header<'a>(message: &'a Message, name: &str) -> Option<&'a str> {
    let found = message.headers().iter().find(|header| header.name().as_str() == name)?;
    found.value().as_string().ok().map(|value| value.as_str())
}

/// A frame as text: its headers as lines, an empty line, its payload. Bytes that are no frame are spelled in
/// hexadecimal digits behind `hex:`. Nothing is lost either way but the checksums.
pub(super) fn shown(frame: &[u8]) -> String {
    let length = frame.first_chunk::<LENGTH_BYTES>().map(|length| u32::from_be_bytes(*length) as usize);
    let mut rest = frame;
    let message = (length == Some(frame.len()) && frame.len() >= MIN_FRAME_BYTES)
        .then(|| read_message_from(&mut rest).ok())
        .flatten();
    message.as_ref().and_then(as_text).unwrap_or_else(|| {
        let digits: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("hex:{digits}")
    })
}

fn as_text(message: &Message) -> Option<String> {
    let mut text = String::new();
    for header in message.headers() {
        let value = header.value().as_string().ok()?;
        text.push_str(&format!("{}: {}\n", header.name().as_str(), value.as_str()));
    }
    text.push('\n');
    text.push_str(std::str::from_utf8(message.payload()).ok()?);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_frames() -> Vec<u8> {
        let mut bytes = Vec::new();
        write_event(&mut bytes, "messageStart", b"{\"role\":\"assistant\"}".to_vec());
        write_exception(&mut bytes, "throttlingException", "{\"message\":\"Grüße\"}".into());
        bytes
    }

    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut reader = FrameReader::default();
        let mut read = Vec::new();
        for piece in pieces {
            reader.feed(piece, |frame| {
                read.push(match frame {
                    Ok(Frame { kind, name, payload }) => {
                        format!("{kind:?} {name} {}", String::from_utf8_lossy(payload))
                    }
                    Err(error) => format!("lost: {error}"),
                });
            });
        }
        assert!(reader.buffer.len() <= MAX_FRAME_BYTES);
        read
    }

    #[test]
    fn any_split_gives_the_same_frames() {
        let bytes = two_frames();
        let expected = [
            "Event messageStart {\"role\":\"assistant\"}",
            "Exception throttlingException {\"message\":\"Grüße\"}",
        ];
        assert_eq!(read([&bytes[..]]), expected);
        assert_eq!(read(bytes.chunks(1)), expected);
        for at in 0..bytes.len() {
            let (before, after) = bytes.split_at(at);
            assert_eq!(read([before, after]), expected, "split at {at}");
        }
    }

    #[test]
    fn a_damaged_frame_ends_the_stream() {
        let bytes = two_frames();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x41;
            let read = read([&damaged[..]]);
            let n_lost = read.iter().filter(|frame| frame.starts_with("lost: ")).count();
            // A length that has grown waits for bytes that never come.
            assert!(n_lost == 1 || read.len() < 2, "{at}: {read:?}");
        }
        let huge = [u32::MAX.to_be_bytes().as_slice(), &[0; 100]].concat();
        assert_eq!(read([&huge[..], &bytes[..]]), ["lost: a frame of 4294967295 bytes"]);
    }

    #[test]
    fn frames_are_shown_as_text() {
        let mut bytes = Vec::new();
        write_event(&mut bytes, "messageStop", b"{\"stopReason\":\"end_turn\"}".to_vec());
        let text = ":event-type: messageStop\n:content-type: application/json\n:message-type: event\n\n{\"stopReason\":\"end_turn\"}";
        assert_eq!(shown(&bytes), text);
        assert_eq!(shown(&bytes[..2]), "hex:0000");
        assert_eq!(shown(b""), "hex:");
    }
}
