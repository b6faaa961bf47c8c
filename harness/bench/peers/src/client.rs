//! An HTTP/1.1 client that records how each body ends.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A server that is silent for this long is considered hung.
const PATIENCE: Duration = Duration::from_secs(30);

/// A keep-alive connection that sends many requests.
pub struct Connection {
    to: SocketAddr,
    stream: TcpStream,
    /// Bytes that were read but belong to no reply yet.
    buffer: Vec<u8>,
}

pub struct Reply {
    pub status: u16,
    /// The body without chunk framing.
    pub body: Vec<u8>,
    pub end: End,
}

/// How a body ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// At the end that its head or its last chunk announces.
    Whole,
    /// The connection was closed or reset before that.
    Broken,
}

/// How the length of a body is given.
enum Length {
    Bytes(usize),
    Chunked,
    UntilClosed,
}

impl Connection {
    pub fn open(to: SocketAddr) -> io::Result<Connection> {
        let stream = TcpStream::connect(to)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Connection { to, stream, buffer: Vec::new() })
    }

    /// Sends a request, and reconnects if the server has closed the connection meanwhile.
    pub fn send(&mut self, request: &[u8]) {
        if self.stream.write_all(request).is_err() {
            *self = Connection::open(self.to).unwrap();
            self.stream.write_all(request).unwrap();
        }
    }

    /// Reads a reply to its end. Returns `None` if the connection ends before the head.
    pub fn receive(&mut self) -> Option<Reply> {
        let head_len = loop {
            if let Some(at) = find(&self.buffer, b"\r\n\r\n") {
                break at + 4;
            }
            self.more()?;
        };
        let head = String::from_utf8_lossy(&self.buffer[..head_len]).to_ascii_lowercase();
        self.buffer.drain(..head_len);
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let value = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let length = match value("content-length:") {
            Some(n) => Length::Bytes(n.parse().ok()?),
            None if value("transfer-encoding:") == Some("chunked") => Length::Chunked,
            None => Length::UntilClosed,
        };
        let (body, end) = match length {
            Length::Bytes(n) => self.body_of(n),
            Length::Chunked => self.chunks(),
            Length::UntilClosed => {
                while self.more().is_some() {}
                (std::mem::take(&mut self.buffer), End::Whole)
            }
        };
        Some(Reply { status, body, end })
    }

    fn body_of(&mut self, n: usize) -> (Vec<u8>, End) {
        while self.buffer.len() < n {
            if self.more().is_none() {
                return (std::mem::take(&mut self.buffer), End::Broken);
            }
        }
        (self.buffer.drain(..n).collect(), End::Whole)
    }

    fn chunks(&mut self) -> (Vec<u8>, End) {
        let (mut body, mut at) = (Vec::new(), 0);
        loop {
            // A chunk: its size in hexadecimal, then the bytes, with a line break after each.
            let line = find(&self.buffer[at..], b"\r\n").map(|n| at + n);
            let size = line.map(|end| {
                let digits = self.buffer[at..end].split(|byte| *byte == b';').next().unwrap_or_default();
                usize::from_str_radix(&String::from_utf8_lossy(digits), 16).unwrap()
            });
            match (line, size) {
                (Some(end), Some(size)) if self.buffer.len() >= end + 2 + size + 2 => {
                    body.extend_from_slice(&self.buffer[end + 2..end + 2 + size]);
                    at = end + 2 + size + 2;
                    if size == 0 {
                        self.buffer.drain(..at);
                        return (body, End::Whole);
                    }
                }
                _ => {
                    if self.more().is_none() {
                        // Keep the part of the incomplete chunk that has arrived.
                        let begun = line.map_or(self.buffer.len(), |end| end + 2);
                        body.extend_from_slice(self.buffer.get(begun..).unwrap_or_default());
                        self.buffer.clear();
                        return (body, End::Broken);
                    }
                }
            }
        }
    }

    /// Reads the bytes that have arrived. Returns `None` if the connection has ended.
    fn more(&mut self) -> Option<()> {
        let mut bytes = [0; 16 * 1024];
        match self.stream.read(&mut bytes) {
            Ok(0) => None,
            Ok(n) => {
                self.buffer.extend_from_slice(&bytes[..n]);
                Some(())
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
            Err(error) => panic!("{}: {error}", self.to),
        }
    }
}

/// Builds a request as a client sends it.
pub fn post(path: &str, body: &str) -> Vec<u8> {
    let n = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\nanthropic-version: 2023-06-01\r\n\
         authorization: Bearer none\r\nx-api-key: none\r\nx-goog-api-key: none\r\ncontent-type: application/json\r\n\
         content-length: {n}\r\n\r\n"
    );
    (head + body).into_bytes()
}

/// Returns the complete events of a stream, and whether anything follows them.
pub fn events(body: &[u8]) -> (Vec<String>, bool) {
    let text = String::from_utf8_lossy(body).replace("\r\n", "\n");
    let mut events: Vec<String> = text.split("\n\n").map(str::to_owned).collect();
    let rest = events.pop().unwrap_or_default();
    (events, !rest.is_empty())
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
