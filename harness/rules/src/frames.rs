//! Reads and writes frames of the AWS binary event stream
//! (<https://smithy.io/2.0/aws/amazon-eventstream.html>), which Bedrock uses for streams.
//!
//! A frame consists of its length, the length of its headers, a checksum of the two, headers, payload, and
//! a checksum of everything. The first checksum is verified as soon as it arrives. Otherwise, a wrong
//! length would make the reader wait for bytes that never come.
//!
//! Brickbat has its own implementation because the crates of the AWS SDK add forty dependencies. A test
//! compares the two.

use std::fmt;

/// Maximum size of a frame in bytes. An image comes as one frame and takes some megabytes.
pub const MAX_FRAME_BYTES: usize = 16 << 20;

/// Size of the two lengths and their checksum.
const PRELUDE_BYTES: usize = 12;

const CHECKSUM_BYTES: usize = 4;

/// Size of a frame without headers and payload.
const MIN_FRAME_BYTES: usize = PRELUDE_BYTES + CHECKSUM_BYTES;

/// A frame that was read.
#[derive(Debug, Clone)]
pub struct Frame<'a> {
    headers: Vec<(&'a str, Option<&'a str>)>,
    payload: &'a [u8],
}

/// The type in the header `:message-type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// Part of the reply.
    Event,
    /// An error that the service declares. It ends the stream.
    Exception,
    /// An error that the service does not declare.
    Error,
    /// Missing or unknown.
    Unknown,
}

/// Why bytes are not a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameError {
    /// A checksum is wrong.
    Checksum {
        /// The part of the frame that the checksum covers, as text.
        of: &'static str,
        /// The checksum in the frame.
        found: u32,
        /// The checksum calculated from the bytes.
        expected: u32,
    },
    /// The length does not match the bytes, is below the length of an empty frame, or is above
    /// [`MAX_FRAME_BYTES`].
    Length(usize),
    /// The headers do not fill their part of the frame exactly, or are not text.
    Headers,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameError::Checksum { of, found, expected } => {
                write!(f, "the checksum of the {of} is {found:#010x}, not {expected:#010x}")
            }
            FrameError::Length(length) => write!(f, "a frame cannot have {length} bytes"),
            FrameError::Headers => f.write_str("the headers of the frame are malformed"),
        }
    }
}

impl std::error::Error for FrameError {}

impl<'a> Frame<'a> {
    /// Reads bytes that are one complete frame.
    pub fn read(bytes: &'a [u8]) -> Result<Frame<'a>, FrameError> {
        let wrong_length = FrameError::Length(bytes.len());
        let length = frame_length(bytes).ok_or(wrong_length)??;
        if length != bytes.len() {
            return Err(wrong_length);
        }
        let (content, checksum) = bytes.split_at(length - CHECKSUM_BYTES);
        check(content, number(checksum, 0), "frame")?;
        let n_headers = number(content, 4) as usize;
        let (headers, payload) =
            content[PRELUDE_BYTES..].split_at_checked(n_headers).ok_or(FrameError::Headers)?;
        Ok(Frame { headers: read_headers(headers).ok_or(FrameError::Headers)?, payload })
    }

    /// Returns the headers in order. Headers that are not text have no value.
    pub fn headers(&self) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
        self.headers.iter().copied()
    }

    /// Returns the payload.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Returns the type in the header.
    pub fn kind(&self) -> FrameKind {
        match self.header(":message-type") {
            "event" => FrameKind::Event,
            "exception" => FrameKind::Exception,
            "error" => FrameKind::Error,
            _ => FrameKind::Unknown,
        }
    }

    /// Returns the event or error name, or an empty text.
    pub fn name(&self) -> &'a str {
        match self.kind() {
            FrameKind::Event => self.header(":event-type"),
            FrameKind::Exception => self.header(":exception-type"),
            FrameKind::Error => self.header(":error-code"),
            FrameKind::Unknown => "",
        }
    }

    fn header(&self, name: &str) -> &'a str {
        let header = self.headers.iter().find(|(own, _)| *own == name);
        header.and_then(|(_, value)| *value).unwrap_or_default()
    }
}

fn read_headers(mut rest: &[u8]) -> Option<Vec<(&str, Option<&str>)>> {
    let mut headers = Vec::new();
    while let [n_name, tail @ ..] = rest {
        let (name, tail) = tail.split_at_checked(usize::from(*n_name))?;
        let (kind, tail) = tail.split_first()?;
        // The kinds are true, false, numbers of 1, 2, 4 and 8 bytes, bytes, text, a time, and a UUID.
        let (n_value, tail) = match kind {
            0 | 1 => (0, tail),
            2 => (1, tail),
            3 => (2, tail),
            4 => (4, tail),
            5 | 8 => (8, tail),
            6 | 7 => {
                let (length, tail) = tail.split_first_chunk()?;
                (usize::from(u16::from_be_bytes(*length)), tail)
            }
            9 => (16, tail),
            _ => return None,
        };
        let (value, tail) = tail.split_at_checked(n_value)?;
        let text = if *kind == 7 { Some(str::from_utf8(value).ok()?) } else { None };
        headers.push((str::from_utf8(name).ok()?, text));
        rest = tail;
    }
    Some(headers)
}

/// Appends a frame with these headers and this payload. The headers must be short.
pub fn write(out: &mut Vec<u8>, headers: &[(&str, &str)], payload: &[u8]) {
    let start = out.len();
    let n_headers: usize = headers.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    let length = MIN_FRAME_BYTES + n_headers + payload.len();
    for length in [length, n_headers] {
        out.extend((length as u32).to_be_bytes());
    }
    out.extend(crc32fast::hash(&out[start..]).to_be_bytes());
    for (name, value) in headers {
        out.push(name.len() as u8);
        out.extend(name.as_bytes());
        out.push(7);
        out.extend((value.len() as u16).to_be_bytes());
        out.extend(value.as_bytes());
    }
    out.extend(payload);
    out.extend(crc32fast::hash(&out[start..]).to_be_bytes());
}

/// Returns whether the bytes begin with the prelude of a frame.
pub fn is_frame(bytes: &[u8]) -> bool {
    matches!(frame_length(bytes), Some(Ok(_)))
}

/// Reads frames from bytes as they arrive. Reading ends at bytes that are not a frame: without its length,
/// the start of the next frame is unknown.
#[derive(Debug, Default)]
pub struct FrameReader {
    frame: Vec<u8>,
    n_bytes: usize,
    is_lost: bool,
}

impl FrameReader {
    /// Takes bytes, and calls `each` with each frame that they complete and the offset of its first byte.
    /// An error is reported once.
    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(usize, Result<Frame<'_>, FrameError>)) {
        let mut rest = bytes;
        while !self.is_lost && !rest.is_empty() {
            let wanted = match frame_length(&self.frame) {
                Some(Ok(length)) => length,
                _ => PRELUDE_BYTES,
            };
            let (head, tail) = rest.split_at(rest.len().min(wanted - self.frame.len()));
            self.frame.extend_from_slice(head);
            self.n_bytes += head.len();
            rest = tail;
            let read = match frame_length(&self.frame) {
                Some(Ok(length)) if length == self.frame.len() => Frame::read(&self.frame),
                Some(Err(error)) => Err(error),
                _ => continue,
            };
            self.is_lost = read.is_err();
            each(self.n_bytes - self.frame.len(), read);
            self.frame.clear();
        }
    }

    /// Returns the number of bytes read.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Returns whether a frame has begun and is incomplete.
    pub fn is_inside_frame(&self) -> bool {
        !self.frame.is_empty()
    }
}

/// Returns the length of a frame, or why it is invalid. `None` before the complete prelude has arrived.
fn frame_length(frame: &[u8]) -> Option<Result<usize, FrameError>> {
    let prelude = frame.get(..PRELUDE_BYTES)?;
    let checked = check(&prelude[..8], number(prelude, 8), "frame's lengths");
    Some(checked.and_then(|()| match number(prelude, 0) as usize {
        length @ MIN_FRAME_BYTES..=MAX_FRAME_BYTES => Ok(length),
        length => Err(FrameError::Length(length)),
    }))
}

fn check(bytes: &[u8], found: u32, of: &'static str) -> Result<(), FrameError> {
    match crc32fast::hash(bytes) {
        expected if expected == found => Ok(()),
        expected => Err(FrameError::Checksum { of, found, expected }),
    }
}

/// Reads the number in the four bytes at an offset.
fn number(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |four| u32::from_be_bytes(*four))
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_smithy_eventstream::frame::{read_message_from, write_message_to};
    use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
    use proptest::prelude::*;

    fn two_frames() -> Vec<u8> {
        let mut bytes = Vec::new();
        let content = (":content-type", "application/json");
        let event = [(":event-type", "messageStart"), content, (":message-type", "event")];
        write(&mut bytes, &event, b"{\"role\":\"assistant\"}");
        let exception = [(":exception-type", "throttlingException"), content, (":message-type", "exception")];
        write(&mut bytes, &exception, "{\"message\":\"Grüße\"}".as_bytes());
        bytes
    }

    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut reader = FrameReader::default();
        let mut read = Vec::new();
        for piece in pieces {
            reader.feed(piece, |_, frame| {
                read.push(match frame {
                    Ok(frame) => {
                        let payload = String::from_utf8_lossy(frame.payload());
                        format!("{:?} {} {payload}", frame.kind(), frame.name())
                    }
                    Err(error) => format!("lost: {error}"),
                });
            });
        }
        assert!(reader.frame.len() <= MAX_FRAME_BYTES);
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
            assert!(n_lost == 1 && read.len() <= 2, "{at}: {read:?}");
        }
        let mut huge = [u32::MAX.to_be_bytes(), [0; 4]].concat();
        huge.extend(crc32fast::hash(&huge).to_be_bytes());
        assert_eq!(read([&huge[..], &bytes[..]]), ["lost: a frame cannot have 4294967295 bytes"]);
    }

    fn header_value() -> impl Strategy<Value = HeaderValue> {
        prop_oneof![
            4 => "[ -~é]{1,20}".prop_map(|text| HeaderValue::String(text.into())),
            1 => any::<bool>().prop_map(HeaderValue::Bool),
            1 => any::<i8>().prop_map(HeaderValue::Byte),
            1 => any::<i16>().prop_map(HeaderValue::Int16),
            1 => any::<i32>().prop_map(HeaderValue::Int32),
            1 => any::<i64>().prop_map(HeaderValue::Int64),
            1 => any::<u128>().prop_map(HeaderValue::Uuid),
            1 => prop::collection::vec(any::<u8>(), 1..20)
                .prop_map(|bytes| HeaderValue::ByteArray(bytes.into())),
        ]
    }

    proptest! {
        #[test]
        fn the_aws_sdk_reads_the_same_frames(
            headers in prop::collection::vec(("[a-z:-]{1,20}", header_value()), 0..5),
            payload in prop::collection::vec(any::<u8>(), 0..60),
            flip in prop::option::of((any::<prop::sample::Index>(), 1..=255u8)),
        ) {
            let list = headers.iter().map(|(name, value)| Header::new(name.clone(), value.clone())).collect();
            let mut bytes = Vec::new();
            write_message_to(&Message::new_from_parts(list, payload), &mut bytes).expect("short");
            if let Some((at, mask)) = flip {
                let at = at.index(bytes.len());
                bytes[at] ^= mask;
            }
            match (Frame::read(&bytes), read_message_from(&mut &bytes[..])) {
                (Ok(frame), Ok(message)) => {
                    prop_assert_eq!(frame.payload(), &message.payload()[..]);
                    let theirs = message.headers().iter().map(|header| {
                        (header.name().as_str(), header.value().as_string().ok().map(|text| text.as_str()))
                    });
                    prop_assert!(frame.headers().eq(theirs));
                }
                (ours, theirs) => prop_assert!(ours.is_err() && theirs.is_err(), "{ours:?} {theirs:?}"),
            }
        }

        #[test]
        fn the_aws_sdk_writes_the_same_frames(
            headers in prop::collection::vec(("[a-z:-]{1,20}", "[ -~]{0,20}"), 0..5),
            payload in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let list = headers.iter().map(|(name, value)| {
                Header::new(name.clone(), HeaderValue::String(value.clone().into()))
            });
            let mut theirs = Vec::new();
            let message = Message::new_from_parts(list.collect(), payload.clone());
            write_message_to(&message, &mut theirs).expect("short");
            let headers: Vec<_> = headers.iter().map(|(name, value)| (&name[..], &value[..])).collect();
            let mut ours = Vec::new();
            write(&mut ours, &headers, &payload);
            prop_assert_eq!(ours, theirs);
        }
    }
}
