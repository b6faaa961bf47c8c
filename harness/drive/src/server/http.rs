//! HTTP/1.1 as bytes: heads and bodies of requests read, heads and chunks of replies written. No I/O.
//!
//! Only what a client of an HTTP API needs; no pipelining, no upgrades, no HTTP/1.0.

/// Headers of a request. Real clients send about 20.
const MAX_HEADERS: usize = 100;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) framing: Framing,
    /// Whether the peer waits for `100 Continue`.
    pub(super) expects_continue: bool,
    pub(super) after: After,
    pub(super) len: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Length(usize),
    Chunked,
}

/// What becomes of the connection after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    KeepAlive,
    Close,
}

/// Why the server itself, not the core, answers a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HttpRefusal {
    Malformed,
    /// Not HTTP/1.1.
    Version,
    HeadTooLarge,
    BodyTooLarge,
    /// The rest of the request did not come.
    TimedOut,
    UnknownPath,
    /// A gate takes only POST.
    GateMethod,
    Busy,
    /// The core panicked.
    Broken,
}

impl HttpRefusal {
    /// The status and the message of the answer.
    fn answer(self) -> (u16, &'static str) {
        match self {
            HttpRefusal::Malformed => (400, "brickbat: not a valid HTTP/1.1 request"),
            HttpRefusal::Version => (505, "brickbat: only HTTP/1.1 is served"),
            HttpRefusal::HeadTooLarge => (431, "brickbat: the request head is too large"),
            HttpRefusal::BodyTooLarge => (413, "brickbat: the request body is too large"),
            HttpRefusal::TimedOut => (408, "brickbat: the rest of the request did not come"),
            HttpRefusal::UnknownPath => (404, "brickbat: no plan is running at this path"),
            HttpRefusal::GateMethod => (405, "brickbat: a tool gate takes only POST"),
            HttpRefusal::Busy => (503, "brickbat: too many connections"),
            HttpRefusal::Broken => (500, "brickbat: the provider itself failed"),
        }
    }
}

/// Reads a head from the start of the bytes; none if it is not complete yet.
pub(super) fn read_head(bytes: &[u8], max_body: usize) -> Result<Option<Head>, HttpRefusal> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let len = match request.parse(bytes) {
        Ok(httparse::Status::Complete(len)) => len,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(HttpRefusal::HeadTooLarge),
        Err(_) => return Err(HttpRefusal::Malformed),
    };
    if request.version != Some(1) {
        return Err(HttpRefusal::Version);
    }
    let mut head = Head {
        method: request.method.unwrap_or_default().to_owned(),
        target: request.path.unwrap_or_default().to_owned(),
        framing: Framing::Length(0),
        expects_continue: false,
        after: After::KeepAlive,
        len,
    };
    let mut length = None;
    for header in request.headers.iter() {
        let value = header.value.trim_ascii();
        if header.name.eq_ignore_ascii_case("content-length") {
            let n = read_length(value, max_body)?;
            if length.replace(n).is_some_and(|before| before != n) {
                return Err(HttpRefusal::Malformed);
            }
            head.framing = Framing::Length(n);
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            if !value.eq_ignore_ascii_case(b"chunked") || head.framing == Framing::Chunked {
                return Err(HttpRefusal::Malformed);
            }
            head.framing = Framing::Chunked;
        } else if header.name.eq_ignore_ascii_case("expect") {
            head.expects_continue = value.eq_ignore_ascii_case(b"100-continue");
        } else if header.name.eq_ignore_ascii_case("connection") && names_close(value) {
            head.after = After::Close;
        }
    }
    // Two framings at once are how requests get smuggled; no honest client sends them.
    if length.is_some() && request.headers.iter().any(|h| h.name.eq_ignore_ascii_case("transfer-encoding")) {
        return Err(HttpRefusal::Malformed);
    }
    Ok(Some(head))
}

fn read_length(value: &[u8], max_body: usize) -> Result<usize, HttpRefusal> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(HttpRefusal::Malformed);
    }
    // Digits alone fail to parse only when there are too many.
    let n = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
    n.filter(|n| *n <= max_body).ok_or(HttpRefusal::BodyTooLarge)
}

fn names_close(value: &[u8]) -> bool {
    value.split(|byte| *byte == b',').any(|token| token.trim_ascii().eq_ignore_ascii_case(b"close"))
}

/// Whether bytes hold the end of a head. It may find one too many, never one too few.
pub(super) fn may_end_head(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
        rest = &rest[at + 1..];
        if rest.starts_with(b"\n") || rest.starts_with(b"\r\n") {
            return true;
        }
    }
    false
}

/// The path of a target, without the query.
pub(super) fn path_of(target: &str) -> Option<&str> {
    let path = target.split(['?', '#']).next().unwrap_or_default();
    match path.strip_prefix("http://") {
        Some(absolute) => Some(&absolute[absolute.find('/')?..]),
        None => Some(path).filter(|path| path.starts_with('/')),
    }
}

/// Splits a path into the token of a mount and the path below it.
pub(super) fn split_path(path: &str) -> Option<(u64, &str)> {
    let below = path.strip_prefix("/p/")?;
    let (token, path) = below.split_at(below.find('/').unwrap_or(below.len()));
    let path = if path.is_empty() { "/" } else { path };
    Some((token.parse().ok()?, path))
}

/// The go-ahead for a peer that asked before it sends the body.
pub(super) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

pub(super) const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

pub(super) fn write_head(
    out: &mut Vec<u8>,
    status: u16,
    headers: &[(&'static str, impl AsRef<str>)],
    framing: Framing,
    after: After,
) {
    out.extend_from_slice(b"HTTP/1.1 ");
    write_number(out, usize::from(status), 10);
    out.push(b' ');
    out.extend_from_slice(reason(status).as_bytes());
    for (name, value) in headers {
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_ref().as_bytes());
    }
    write_end_of_head(out, Some(framing), after);
}

/// Writes the head of an answer that somebody else gives. Without framing it has no body.
pub(super) fn write_foreign_head(
    out: &mut Vec<u8>,
    status: u16,
    headers: &[(String, Vec<u8>)],
    framing: Option<Framing>,
    after: After,
) {
    out.extend_from_slice(b"HTTP/1.1 ");
    write_number(out, usize::from(status), 10);
    out.push(b' ');
    out.extend_from_slice(reason(status).as_bytes());
    for (name, value) in headers {
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
    }
    write_end_of_head(out, framing, after);
}

fn write_end_of_head(out: &mut Vec<u8>, framing: Option<Framing>, after: After) {
    match framing {
        None => {}
        Some(Framing::Chunked) => out.extend_from_slice(b"\r\ntransfer-encoding: chunked"),
        Some(Framing::Length(n)) => {
            out.extend_from_slice(b"\r\ncontent-length: ");
            write_number(out, n, 10);
        }
    }
    if after == After::Close {
        out.extend_from_slice(b"\r\nconnection: close");
    }
    out.extend_from_slice(b"\r\n\r\n");
}

/// Writes one chunk. No bytes are no chunk, since an empty chunk ends the body.
pub(super) fn write_chunk(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    write_number(out, bytes.len(), 16);
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

pub(super) fn write_json(out: &mut Vec<u8>, status: u16, body: &[u8], after: After) {
    let headers = [("content-type", "application/json")];
    write_head(out, status, &headers, Framing::Length(body.len()), after);
    out.extend_from_slice(body);
}

pub(super) fn write_refusal(out: &mut Vec<u8>, refusal: HttpRefusal, after: After) {
    let (status, message) = refusal.answer();
    let body = format!(r#"{{"error":{{"type":"brickbat_error","message":"{message}"}}}}"#);
    write_json(out, status, body.as_bytes(), after);
}

/// Writes a number; several times faster than formatting, which shows at a dozen chunks a reply.
fn write_number(out: &mut Vec<u8>, number: usize, base: usize) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b"0123456789abcdef"[rest % base];
        rest /= base;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Payload Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        529 => "Overloaded",
        _ => "Other",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAX_BODY: usize = 1 << 10;

    #[test]
    fn targets_are_split_into_token_and_path() {
        let split = |target| path_of(target).and_then(split_path);
        assert_eq!(split("/p/3/v1/messages?beta=true"), Some((3, "/v1/messages")));
        assert_eq!(split("http://127.0.0.1:80/p/3/gate/x"), Some((3, "/gate/x")));
        assert_eq!(split("/p/3"), Some((3, "/")));
        for nowhere in ["", "*", "/", "/p/", "/p/x/y", "/q/3", "http://host", "/p/99999999999999999999/"] {
            assert_eq!(split(nowhere), None, "{nowhere}");
        }
        for nowhere in ["", "*", "http://host", "p/3"] {
            assert_eq!(path_of(nowhere), None, "{nowhere}");
        }
    }

    #[test]
    fn head_tells_framing_and_what_follows() {
        let bytes = b"POST /x HTTP/1.1\r\nContent-Length: 3\r\nConnection: TE, Close\r\nExpect: 100-Continue\r\n\r\nabc";
        let head = read_head(bytes, MAX_BODY).unwrap().unwrap();
        assert_eq!((head.method.as_str(), head.target.as_str()), ("POST", "/x"));
        assert_eq!((head.framing, head.after, head.len), (Framing::Length(3), After::Close, bytes.len() - 3));
        assert!(head.expects_continue);
    }

    #[test]
    fn end_of_head_is_found_in_any_line_ending() {
        assert!(may_end_head(b"\r\n\r\n") && may_end_head(b"x\n\n") && may_end_head(b"x\n\r\n"));
        assert!(!may_end_head(b"x\r\ny\r\n") && !may_end_head(b""));
    }

    proptest! {
        #[test]
        fn hostile_bytes_are_read_or_refused(
            bytes in "([xyz/: \r\n\0]|\r\n|\n|POST / HTTP/1.1\r\n|content-length:|transfer-encoding:|chunked|9){0,60}",
        ) {
            if let Ok(Some(head)) = read_head(bytes.as_bytes(), MAX_BODY) {
                prop_assert!(head.len <= bytes.len());
            }
        }
    }
}
