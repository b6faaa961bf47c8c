//! Sorts headers into those that are forwarded and those that belong to one connection.

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

use brickbat_engine::provider::Headers;

/// Headers of one connection (RFC 9110, 7.6.1), and those that are written again for the other one.
const OF_CONNECTION: [&str; 11] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

fn is_of_connection(name: &str, named: &[String]) -> bool {
    OF_CONNECTION.iter().any(|known| name.eq_ignore_ascii_case(known))
        || named.iter().any(|own| name.eq_ignore_ascii_case(own))
}

/// The headers that a `connection` header names.
fn named<'v>(values: impl Iterator<Item = &'v str>) -> Vec<String> {
    values.flat_map(|value| value.split(',')).map(|name| name.trim().to_ascii_lowercase()).collect()
}

/// The forwarded headers of a request. The server is asked not to compress its answers, because compressed
/// answers cannot be judged in transit.
pub(super) fn onward(headers: Headers<'_>) -> HeaderMap {
    let all: Vec<_> = headers.iter().collect();
    let connection = all.iter().filter(|(name, _)| name.eq_ignore_ascii_case("connection"));
    let named = named(connection.map(|(_, value)| &**value));
    let mut onward = HeaderMap::new();
    for (name, value) in &all {
        let is_dropped = is_of_connection(name, &named) || name.eq_ignore_ascii_case("accept-encoding");
        let header = HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_str(value).ok());
        if let Some((name, value)) = header.filter(|_| !is_dropped) {
            onward.append(name, value);
        }
    }
    onward.insert(hyper::header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    onward
}

/// The returned headers of an answer.
pub(super) fn back(headers: &HeaderMap) -> Vec<(String, Vec<u8>)> {
    let connection = headers.get_all(hyper::header::CONNECTION).iter();
    let named = named(connection.filter_map(|value| value.to_str().ok()));
    let kept = headers.iter().filter(|(name, _)| !is_of_connection(name.as_str(), &named));
    kept.map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_forwarded_and_headers_of_the_connection_are_not() {
        let head = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: X-Own, close\r\nX-Own: 1\r\nTE: trailers\r\n\
            Accept-Encoding: gzip, br\r\nX-Api-Key: k\r\nAnthropic-Version: 2023-06-01\r\nContent-Length: 3\r\n\r\n";
        let onward = onward(Headers::of_head(head));
        let mut names: Vec<&str> = onward.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["accept-encoding", "anthropic-version", "x-api-key"]);
        assert_eq!(onward["accept-encoding"], "identity");
        let mut answer = HeaderMap::new();
        for (name, value) in
            [("connection", "x-hop"), ("x-hop", "1"), ("content-length", "2"), ("request-id", "r")]
        {
            answer.append(name, HeaderValue::from_static(value));
        }
        assert_eq!(back(&answer), [("request-id".to_owned(), b"r".to_vec())]);
    }
}
