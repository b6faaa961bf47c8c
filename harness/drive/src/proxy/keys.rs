//! The secrets in requests. They are known only in memory, so that they can be redacted in everything that is
//! printed and recorded.
//!
//! All header values count as secrets, except those of a few harmless headers. So do query values with names
//! that suggest a secret. A server that quotes a request in its error quotes them too, and no list contains
//! the headers of all gateways.

use std::collections::VecDeque;
use std::sync::Arc;

use brickbat_engine::provider::Headers;
use brickbat_rules::base64;
use brickbat_rules::redact::{Redactor, is_credential_header, is_credential_query, is_harmless_header};

/// The values in the requests so far.
#[derive(Debug)]
pub(super) struct Keys {
    /// Redacts everything that does not depend on the requests.
    base: Redactor,
    redactor: Arc<Redactor>,
    /// The values, latest first.
    recent: VecDeque<String>,
}

/// Values that are known at the same time, besides those of the current request. A client sends a few dozen,
/// and a few of them are new in each request (a time, a signature). The oldest are forgotten. An answer is
/// redacted with the values that were known when its request arrived.
const MAX_VALUES: usize = 256;

/// The limit of their bytes. A head has at most 64 KiB.
const MAX_BYTES: usize = 256 << 10;

impl Keys {
    pub(super) fn new(base: Redactor) -> Keys {
        Keys { redactor: Arc::new(base.clone()), base, recent: VecDeque::new() }
    }

    /// Redacts the known values.
    pub(super) fn redactor(&self) -> Arc<Redactor> {
        self.redactor.clone()
    }

    /// Learns the values in a request, and returns a redactor that knows them.
    pub(super) fn learn(&mut self, headers: Headers<'_>, target: &str) -> Arc<Redactor> {
        let own = values(headers, target);
        let mut is_new = false;
        for value in own.iter().rev() {
            match self.recent.iter().position(|known| known == value) {
                Some(at) => {
                    // Known, and used again.
                    self.recent.remove(at);
                }
                None => is_new = true,
            }
            self.recent.push_front(value.clone());
        }
        if is_new {
            let mut n_bytes = 0;
            let mut is_kept = |(n, value): (usize, &String)| {
                n_bytes += value.len();
                n < own.len() || (n < MAX_VALUES && n_bytes <= MAX_BYTES)
            };
            let n_kept = self.recent.iter().enumerate().take_while(|kept| is_kept(*kept)).count();
            self.recent.truncate(n_kept);
            let redactor = self.base.clone().with_secrets(self.recent.iter().map(String::as_str));
            self.redactor = Arc::new(redactor);
        }
        self.redactor()
    }
}

/// The secret values in a request, without duplicates.
fn values(headers: Headers<'_>, target: &str) -> Vec<String> {
    let mut harmless = Vec::new();
    let mut values = Vec::new();
    for (name, value) in headers.iter() {
        if is_harmless_header(&name) {
            harmless.push(value.into_owned());
        } else {
            parts(&name, value.trim(), &mut values);
        }
    }
    let query = target.split_once('?').map_or("", |(_, query)| query);
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        if is_credential_query(&decoded(name)) {
            values.extend([value.to_owned(), decoded(value)]);
        }
    }
    // The values of harmless headers are not secrets, even if another header repeats them.
    values.retain(|value| !value.is_empty() && !harmless.contains(value));
    let mut seen = std::collections::BTreeSet::new();
    values.retain(|value| seen.insert(value.clone()));
    values
}

/// A header value, and its parts that are secrets in their own right.
fn parts(name: &str, value: &str, values: &mut Vec<String>) {
    values.push(value.to_owned());
    // The part after the scheme, as in `Bearer KEY`.
    let Some((scheme, rest)) = value.split_once(' ').map(|(scheme, rest)| (scheme, rest.trim())) else {
        if is_credential_header(name) {
            values.extend(assigned(value));
        }
        return;
    };
    if !is_credential_header(name) {
        return;
    }
    values.push(rest.to_owned());
    values.extend(assigned(value));
    if scheme.eq_ignore_ascii_case("basic")
        && let Some(pair) = base64::decode(rest).and_then(|bytes| String::from_utf8(bytes).ok())
    {
        values.extend(
            pair.split_once(':')
                .into_iter()
                .flat_map(|(user, password)| [user.to_owned(), password.to_owned()]),
        );
        values.push(pair);
    }
}

/// The values in `NAME=VALUE` pairs of a header, such as cookies or Digest and SigV4 parameters. A scope that
/// begins with the id of a key, as in `Credential=ID/DATE/REGION/SERVICE/aws4_request`, also adds that id.
fn assigned(value: &str) -> Vec<String> {
    let pairs = value.split([',', ';', ' ']).filter_map(|part| part.split_once('='));
    let all = pairs.flat_map(|(_, value)| {
        let value = value.trim_matches('"');
        [Some(value), value.split_once('/').map(|(id, _)| id)]
    });
    all.flatten().map(str::to_owned).collect()
}

/// A part of a query with its percent-encoding decoded.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learnt(keys: &mut Keys, lines: &str, target: &str) -> Arc<Redactor> {
        let head = format!("POST {target} HTTP/1.1\r\n{}\r\n\r\n", lines.replace('\n', "\r\n"));
        keys.learn(Headers::of_head(head.as_bytes()), target)
    }

    #[test]
    fn a_key_is_redacted_wherever_the_request_had_it() {
        let mut keys = Keys::new(Redactor::default());
        let redactor = learnt(
            &mut keys,
            "Authorization: Bearer my-own-gateway-token-1\nx-api-key: plain-key-22",
            "/v1beta/models/m:generateContent?alt=sse&key=query-key-333&sig=a%2Fb%2Fc%2Fd%2Fe",
        );
        let said = "my-own-gateway-token-1, plain-key-22, query-key-333, a/b/c/d/e and a%2Fb%2Fc%2Fd%2Fe, but not sse";
        let clean = redactor.text(said);
        assert_eq!(clean, "[redacted], [redacted], [redacted], [redacted] and [redacted], but not sse");
    }

    #[test]
    fn values_of_unknown_headers_are_redacted_and_those_of_harmless_ones_stay() {
        let mut keys = Keys::new(Redactor::default());
        let redactor = learnt(
            &mut keys,
            "x-litellm-api-key: lite-9-llm\nOcp-Apim-Subscription-Key: 0123456789abcdef\nX-Tenant: tenant-number-7\n\
             cookie: a=cookie-one-1; b=cookie-two-2\nanthropic-version: 2023-06-01\ncontent-type: application/json\n\
             x-kind: application/json\nuser-agent: my-agent/1.2.3",
            "/",
        );
        for secret in ["lite-9-llm", "0123456789abcdef", "tenant-number-7", "cookie-one-1", "cookie-two-2"] {
            assert_eq!(redactor.text(&format!("<{secret}>")), "<[redacted]>", "{secret}");
        }
        let harmless = "2023-06-01 application/json my-agent/1.2.3 x-litellm-api-key";
        assert_eq!(redactor.text(harmless), harmless);
    }

    #[test]
    fn all_parts_of_a_signature_and_of_a_basic_pair_are_redacted() {
        let mut keys = Keys::new(Redactor::default());
        let signature = "fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024";
        let header = format!(
            "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE9/20251128/us-east-1/bedrock/aws4_request, \
             SignedHeaders=host;x-amz-date, Signature={signature}\nProxy-Authorization: Basic YWRhLWxvdmU6cGE1NXdvcmQtOQ==",
        );
        let redactor = learnt(&mut keys, &header, "/model/m/converse?X-Amz-Security-Token=session-token-8");
        for secret in [signature, "AKIDEXAMPLE9", "pa55word-9", "session-token-8"] {
            assert_eq!(redactor.text(secret), "[redacted]", "{secret}");
        }
        assert_eq!(
            redactor.text("ada-love:pa55word-9 in 20251128 us-east-1"),
            "[redacted] in 20251128 us-east-1"
        );
    }

    #[test]
    fn many_requests_are_learned_in_bounded_memory() {
        let mut keys = Keys::new(Redactor::default());
        for n in 0..400 {
            let redactor =
                learnt(&mut keys, &format!("x-signature: signature-{n}\nx-api-key: the-one-key-1"), "/");
            assert_eq!(redactor.text(&format!("signature-{n} the-one-key-1")), "[redacted] [redacted]");
        }
        assert!(keys.recent.len() <= MAX_VALUES, "{}", keys.recent.len());
        // The latest values are still known.
        assert_eq!(keys.redactor().text("signature-390"), "[redacted]");
        for n in 0..20 {
            learnt(&mut keys, &format!("x-large-{n}: {n}{}", "large".repeat(9_000)), "/");
        }
        let n_bytes: usize = keys.recent.iter().map(String::len).sum();
        assert!(n_bytes <= MAX_BYTES, "{n_bytes}");
    }
}
