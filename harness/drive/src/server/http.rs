//! HTTP/1.1 as bytes: reads heads and bodies of requests, and writes heads and chunks of replies. No I/O.
//!
//! It supports what a client of an HTTP API needs: no pipelining, no upgrades, no HTTP/1.0.

use super::admission::Admission;

/// The maximum number of headers in a request. Real clients send about 20.
const MAX_HEADERS: usize = 100;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) framing: Framing,
    /// True if the peer waits for `100 Continue`.
    pub(super) expects_continue: bool,
    pub(super) after: After,
    pub(super) len: usize,
    /// The hosts that the headers `host` name, and the authority of a target in absolute form.
    pub(super) hosts: Vec<String>,
    /// The origins of the pages for which a browser sends the request.
    pub(super) origins: Vec<String>,
    /// The relation of such a page to this server.
    pub(super) site: Option<String>,
}

impl Head {
    /// Checks that the request is accepted by `admission`.
    pub(super) fn admitted(&self, admission: &Admission) -> Result<(), HttpRefusal> {
        self.hosts.iter().try_for_each(|host| admission.host(host))?;
        self.origins.iter().try_for_each(|origin| admission.origin(origin))?;
        // If the page is named, its origin was already checked.
        let site = self.site.as_ref().filter(|_| self.origins.is_empty());
        site.map_or(Ok(()), |site| admission.site(site))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Length(usize),
    Chunked,
}

/// Keeps or closes the connection after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    KeepAlive,
    Close,
}

/// The reason why the server itself, not the core, answers a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HttpRefusal {
    Malformed,
    /// Not HTTP/1.1.
    Version,
    HeadTooLarge,
    BodyTooLarge,
    /// The rest of the request did not arrive.
    TimedOut,
    UnknownPath,
    /// The mount at the root was dropped, so the server is stopping.
    Stopping,
    /// The host is not this machine.
    ForeignHost,
    /// The request comes from a page of another site.
    ForeignOrigin,
    /// A path that another server might interpret differently.
    DotSegments,
    /// A target with a fragment, which is invalid in a request.
    Fragment,
    /// A gate accepts only POST.
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
            HttpRefusal::TimedOut => (408, "brickbat: the rest of the request did not arrive"),
            HttpRefusal::UnknownPath => (404, "brickbat: no plan is running at this path"),
            HttpRefusal::Stopping => (503, "brickbat: this server is stopping"),
            HttpRefusal::ForeignHost => (
                403,
                "brickbat: the Host of the request is not a name of this machine; serve, proxy and wrap accept it with --allow-host NAME",
            ),
            HttpRefusal::ForeignOrigin => (
                403,
                "brickbat: the request comes from a web page of another site; serve, proxy and wrap accept its Origin with --allow-origin ORIGIN",
            ),
            HttpRefusal::DotSegments => (
                400,
                "brickbat: the path has a segment `.` or `..`, so it is not forwarded; send the path without it",
            ),
            HttpRefusal::Fragment => {
                (400, "brickbat: the request target has a `#`, so it is not forwarded; encode it as %23")
            }
            HttpRefusal::GateMethod => (405, "brickbat: a tool gate takes only POST"),
            HttpRefusal::Busy => (503, "brickbat: too many connections"),
            HttpRefusal::Broken => (500, "brickbat: the provider itself failed"),
        }
    }
}

/// Reads a head from the start of the bytes. `None` if it is not complete yet.
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
        hosts: Vec::new(),
        origins: Vec::new(),
        site: None,
    };
    head.hosts.extend(authority_of(&head.target).map(str::to_owned));
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
        } else if header.name.eq_ignore_ascii_case("host") {
            head.hosts.push(String::from_utf8_lossy(value).into_owned());
        } else if header.name.eq_ignore_ascii_case("origin") {
            head.origins.push(String::from_utf8_lossy(value).into_owned());
        } else if header.name.eq_ignore_ascii_case("sec-fetch-site") {
            head.site = Some(String::from_utf8_lossy(value).into_owned());
        } else if header.name.eq_ignore_ascii_case("expect") {
            head.expects_continue = value.eq_ignore_ascii_case(b"100-continue");
        } else if header.name.eq_ignore_ascii_case("connection") && names_close(value) {
            head.after = After::Close;
        }
    }
    // Two framings at once are used to smuggle requests; no honest client sends them.
    if length.is_some() && request.headers.iter().any(|h| h.name.eq_ignore_ascii_case("transfer-encoding")) {
        return Err(HttpRefusal::Malformed);
    }
    Ok(Some(head))
}

fn read_length(value: &[u8], max_body: usize) -> Result<usize, HttpRefusal> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(HttpRefusal::Malformed);
    }
    // Pure digits fail to parse only when there are too many.
    let n = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
    n.filter(|n| *n <= max_body).ok_or(HttpRefusal::BodyTooLarge)
}

fn names_close(value: &[u8]) -> bool {
    value.split(|byte| *byte == b',').any(|token| token.trim_ascii().eq_ignore_ascii_case(b"close"))
}

/// True if bytes contain the end of a head. It may report an end too many, but never misses one.
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

/// The part after the scheme of a target in absolute form, as clients send it to a classic proxy.
fn absolute(target: &str) -> Option<&str> {
    ["http://", "https://"].iter().find_map(|scheme| {
        let is_it = target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
        is_it.then(|| &target[scheme.len()..])
    })
}

/// The authority of a target in absolute form.
fn authority_of(target: &str) -> Option<&str> {
    absolute(target).and_then(|rest| rest.split(['/', '?', '#']).next())
}

/// The path of a target with its query, as it was sent. Only the scheme and authority in an absolute form are
/// removed. A later `://` is part of the path or the query.
pub(crate) fn origin_form(target: &str) -> Option<&str> {
    match absolute(target) {
        Some(rest) => rest.find(['/', '?', '#']).map(|at| &rest[at..]).filter(|path| path.starts_with('/')),
        None => Some(target).filter(|target| target.starts_with('/')),
    }
}

/// The path of a target, without the query.
pub(super) fn path_of(target: &str) -> Option<&str> {
    origin_form(target).and_then(|path| path.split(['?', '#']).next())
}

/// True if a path contains a `.` or `..` segment, regardless of how its dots and slashes are encoded. A
/// server would resolve it, and answer for a different path than the requested one.
pub(crate) fn has_dot_segments(path: &str) -> bool {
    const MAX_DOTS: usize = 6;
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let plain = path
        .replace("%2f", "/")
        .replace("%2F", "/")
        .replace("%5c", "/")
        .replace("%5C", "/")
        .replace('\\', "/");
    plain.split('/').any(|segment| {
        // Some servers end a segment at a `;`.
        let segment = segment.split(';').next().unwrap_or_default();
        segment.len() <= MAX_DOTS
            && matches!(segment.replace("%2e", ".").replace("%2E", ".").as_str(), "." | "..")
    })
}

/// Splits a path into the token of a mount and the path below it.
pub(super) fn split_path(path: &str) -> Option<(u64, &str)> {
    let below = path.strip_prefix("/p/")?;
    let (token, path) = below.split_at(below.find('/').unwrap_or(below.len()));
    let path = if path.is_empty() { "/" } else { path };
    Some((token.parse().ok()?, path))
}

/// The go-ahead for a peer that waits for it before it sends the body.
pub(super) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

pub(super) const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

pub(super) fn write_head(
    out: &mut Vec<u8>,
    status: u16,
    headers: &[(&'static str, impl AsRef<str>)],
    framing: Framing,
    after: After,
) {
    let headers = headers.iter().map(|(name, value)| (*name, value.as_ref().as_bytes()));
    write_status_and_headers(out, status, headers);
    write_end_of_head(out, Some(framing), after);
}

/// Writes the head of an answer that comes from another server. Without framing it has no body.
pub(super) fn write_foreign_head(
    out: &mut Vec<u8>,
    status: u16,
    headers: &[(String, Vec<u8>)],
    framing: Option<Framing>,
    after: After,
) {
    let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_slice()));
    write_status_and_headers(out, status, headers);
    write_end_of_head(out, framing, after);
}

fn write_status_and_headers<'h>(
    out: &mut Vec<u8>,
    status: u16,
    headers: impl Iterator<Item = (&'h str, &'h [u8])>,
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

/// Writes one chunk. Empty bytes write nothing, because an empty chunk ends the body.
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

/// Writes a number; several times faster than formatting, which matters at a dozen chunks a reply.
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
    fn only_the_scheme_and_authority_of_an_absolute_form_are_removed() {
        for (target, path) in [
            ("/v1/files?url=https://example.com/a.png", "/v1/files?url=https://example.com/a.png"),
            ("/proxy/http://127.0.0.1:9/evil", "/proxy/http://127.0.0.1:9/evil"),
            ("http://127.0.0.1:1/v1?u=http://b/c", "/v1?u=http://b/c"),
            ("HTTPS://host/v1//x/?", "/v1//x/?"),
            ("//host/v1", "//host/v1"),
            ("/%2e?a=%2F+b", "/%2e?a=%2F+b"),
        ] {
            assert_eq!(origin_form(target), Some(path));
        }
        for nowhere in ["*", "", "http://host", "http://host?/x", "ftp://host/x", "v1/x"] {
            assert_eq!(origin_form(nowhere), None, "{nowhere}");
        }
        assert_eq!(path_of("/v1/files?url=https://example.com/a.png"), Some("/v1/files"));
    }

    #[test]
    fn dot_segments_are_detected_however_they_are_written() {
        for path in [
            "/v1/../../admin",
            "/v1/..",
            "/./v1",
            "/v1/%2e%2e/x",
            "/v1/.%2E/x",
            "/v1/%2e/x",
            "/v1/..%2fx",
            "/v1\\..\\x",
            "/v1/..%5Cx",
            "/v1/..;a=b/x",
            "/..?q",
        ] {
            assert!(has_dot_segments(path), "{path}");
        }
        for path in [
            "/v1/...",
            "/v1/.well-known/x",
            "/v1/a..b",
            "/v1?x=/../y",
            "/v1/models/gpt-4.1",
            "/",
            "/v1/%2e%2e%2e",
        ] {
            assert!(!has_dot_segments(path), "{path}");
        }
    }

    #[test]
    fn a_head_gives_the_framing_and_whether_the_connection_stays_open() {
        let bytes = b"POST /x HTTP/1.1\r\nContent-Length: 3\r\nConnection: TE, Close\r\nExpect: 100-Continue\r\n\r\nabc";
        let head = read_head(bytes, MAX_BODY).unwrap().unwrap();
        assert_eq!((head.method.as_str(), head.target.as_str()), ("POST", "/x"));
        assert_eq!((head.framing, head.after, head.len), (Framing::Length(3), After::Close, bytes.len() - 3));
        assert!(head.expects_continue);
    }

    #[test]
    fn the_end_of_a_head_is_found_with_any_line_ending() {
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
