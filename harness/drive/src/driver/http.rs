//! A small HTTP/1.1 client: it sends one POST and returns the answer piece by piece.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::readings::Readings;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// The host and the port, as written in a request head.
    authority: String,
    path: String,
}

/// A text that is not the address of a plain HTTP server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an address such as `http://127.0.0.1:4010/p/7`, got `{0}`")]
pub struct NotAnAddress(String);

impl Address {
    pub(super) fn parse(url: &str) -> Result<Address, NotAnAddress> {
        let wrong = || NotAnAddress(url.to_owned());
        let rest = url.strip_prefix("http://").ok_or_else(wrong)?;
        // A space or a line break would end the request line early.
        if rest.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(wrong());
        }
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.is_empty() {
            return Err(wrong());
        }
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let authority = if has_port { authority.to_owned() } else { format!("{authority}:80") };
        let path = if path.is_empty() { "/".to_owned() } else { path.to_owned() };
        Ok(Address { authority, path })
    }
}

/// One request and its answer.
#[derive(Debug)]
pub(super) struct Post {
    state: PostState,
    received: Vec<u8>,
    /// Counts what is read, and the ports of the connection.
    readings: Readings,
    ports: Option<(u16, u16)>,
}

#[derive(Debug)]
enum PostState {
    Unsent { authority: String, request: Vec<u8> },
    Head(TcpStream),
    Counted(TcpStream, usize),
    Chunks(TcpStream),
    Over,
}

/// A piece of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HttpPiece {
    Head {
        status: u16,
        /// The delay after which the server wants the next request, if it names one.
        pause_ms: Option<u64>,
    },
    Body(Vec<u8>),
    End,
    /// The connection broke, or the answer is not HTTP.
    Broken,
}

/// The size limit, in bytes, for a response head; ours are below 1 KiB.
const MAX_HEAD_BYTES: usize = 16 << 10;
/// The limit of one chunk in bytes; our frames are below 1 MiB.
const MAX_CHUNK_BYTES: usize = 16 << 20;

impl Post {
    /// A POST that is sent when the first piece is awaited.
    pub(super) fn new(to: &Address, body: Vec<u8>) -> Post {
        let Address { authority, path } = to;
        let mut request = format!(
            "POST {path} HTTP/1.1\r\nhost: {authority}\r\ncontent-type: application/json\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(&body);
        Post {
            state: PostState::Unsent { authority: authority.clone(), request },
            received: Vec::new(),
            readings: Readings::default(),
            ports: None,
        }
    }

    /// The same POST, with its bytes counted there.
    pub(super) fn counted(self, readings: &Readings) -> Post {
        Post { readings: readings.clone(), ..self }
    }

    /// The next piece. There is none after `End` or `Broken`. Dropping the future loses nothing, except that
    /// a request that is being sent is sent again from the start.
    pub(super) async fn next(&mut self) -> HttpPiece {
        loop {
            if let Some(piece) = self.take() {
                return piece;
            }
            if self.fill().await.is_none() {
                self.state = PostState::Over;
                return HttpPiece::Broken;
            }
        }
    }

    /// The complete body of the answer. `None` if the connection broke.
    pub(super) async fn body(mut self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            match self.next().await {
                HttpPiece::Head { .. } => {}
                HttpPiece::Body(bytes) => body.extend_from_slice(&bytes),
                HttpPiece::End => return Some(body),
                HttpPiece::Broken => return None,
            }
        }
    }

    /// Takes a piece out of the received bytes.
    fn take(&mut self) -> Option<HttpPiece> {
        match std::mem::replace(&mut self.state, PostState::Over) {
            PostState::Head(stream) => self.take_head(stream),
            PostState::Counted(_, 0) => Some(HttpPiece::End),
            PostState::Counted(stream, left) => {
                let n = left.min(self.received.len());
                self.state = PostState::Counted(stream, left - n);
                (n > 0).then(|| HttpPiece::Body(self.received.drain(..n).collect()))
            }
            PostState::Chunks(stream) => self.take_chunk(stream),
            PostState::Over => Some(HttpPiece::Broken),
            unsent @ PostState::Unsent { .. } => {
                self.state = unsent;
                None
            }
        }
    }

    fn take_head(&mut self, stream: TcpStream) -> Option<HttpPiece> {
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut head = httparse::Response::new(&mut headers);
        match head.parse(&self.received) {
            Ok(httparse::Status::Complete(n)) => {
                let header =
                    |name: &str| head.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
                let status = head.code.unwrap_or(0);
                let number = |name: &str| -> Option<u64> {
                    header(name).and_then(|h| std::str::from_utf8(h.value).ok()?.trim().parse().ok())
                };
                let length = number("content-length").and_then(|length| usize::try_from(length).ok());
                let seconds = || number("retry-after").map(|seconds| seconds.saturating_mul(1000));
                let pause_ms = number("retry-after-ms").or_else(seconds);
                self.state = match length {
                    Some(length) => PostState::Counted(stream, length),
                    None => PostState::Chunks(stream),
                };
                self.received.drain(..n);
                Some(HttpPiece::Head { status, pause_ms })
            }
            Ok(httparse::Status::Partial) if self.received.len() < MAX_HEAD_BYTES => {
                self.state = PostState::Head(stream);
                None
            }
            _ => Some(HttpPiece::Broken),
        }
    }

    fn take_chunk(&mut self, stream: TcpStream) -> Option<HttpPiece> {
        let (start, size) = match httparse::parse_chunk_size(&self.received) {
            Ok(httparse::Status::Complete((start, size))) => (start, size as usize),
            Ok(httparse::Status::Partial) => {
                self.state = PostState::Chunks(stream);
                return None;
            }
            Err(_) => return Some(HttpPiece::Broken),
        };
        if size > MAX_CHUNK_BYTES {
            return Some(HttpPiece::Broken);
        }
        let end = start + size + CRLF;
        if self.received.len() < end {
            self.state = PostState::Chunks(stream);
            return None;
        }
        let bytes = self.received[start..start + size].to_vec();
        self.received.drain(..end);
        if size == 0 {
            return Some(HttpPiece::End);
        }
        self.state = PostState::Chunks(stream);
        Some(HttpPiece::Body(bytes))
    }

    /// Sends the request, or receives more. None once the connection is closed.
    async fn fill(&mut self) -> Option<()> {
        if let PostState::Unsent { authority, request } = &self.state {
            let mut stream = TcpStream::connect(authority.as_str()).await.ok()?;
            stream.set_nodelay(true).ok()?;
            self.ports = self.readings.begin(&stream);
            stream.write_all(request).await.ok()?;
            self.state = PostState::Head(stream);
        }
        let (PostState::Head(stream) | PostState::Counted(stream, _) | PostState::Chunks(stream)) =
            &mut self.state
        else {
            return None;
        };
        match stream.read_buf(&mut self.received).await {
            Ok(n) if n > 0 => {
                if let Some(ports) = self.ports {
                    self.readings.add(ports, n);
                }
                Some(())
            }
            _ => None,
        }
    }
}

const CRLF: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_with_a_port_and_a_path() {
        let parsed = |url| Address::parse(url).map(|address| (address.authority, address.path));
        let ok = |authority: &str, path: &str| Ok((authority.to_owned(), path.to_owned()));
        assert_eq!(parsed("http://127.0.0.1:4010/p/7/gate/a?b"), ok("127.0.0.1:4010", "/p/7/gate/a?b"));
        assert_eq!(parsed("http://localhost"), ok("localhost:80", "/"));
        for url in [
            "https://127.0.0.1/",
            "127.0.0.1:4010",
            "http://",
            "http:///p",
            "http://a/b c",
            "http://a/\r\nx:",
        ] {
            assert_eq!(parsed(url), Err(NotAnAddress(url.to_owned())));
        }
    }
}
