//! The keys that requests carry: known in memory only, so that they can be taken out of all that is printed and recorded.

use std::collections::BTreeSet;

use brickbat_engine::provider::Headers;
use brickbat_rules::redact::{Redactor, is_credential_header};

/// The keys that have passed.
#[derive(Debug)]
pub(super) struct Keys {
    /// What is taken out whatever the requests say.
    base: Redactor,
    redactor: Redactor,
    known: BTreeSet<String>,
}

/// Keys that are known at the same time. A program has one or a few; one that mints them without end is no client of a model.
const MAX_KEYS: usize = 64;

impl Keys {
    pub(super) fn new(base: Redactor) -> Keys {
        Keys { redactor: base.clone(), base, known: BTreeSet::new() }
    }

    /// What takes them out.
    pub(super) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Learns the keys of a request.
    pub(super) fn learn(&mut self, headers: Headers<'_>, target: &str) {
        let of_headers = headers.iter().filter(|(name, _)| is_credential_header(name)).map(|(_, value)| {
            let value = value.into_owned();
            // After the scheme, as in `Bearer KEY`.
            value.split_once(' ').map(|(_, key)| key.to_owned()).unwrap_or(value)
        });
        // Gemini takes its key in the query.
        let query = target.split_once('?').map_or("", |(_, query)| query);
        let of_query = query.split('&').filter_map(|pair| pair.strip_prefix("key=")).map(str::to_owned);
        let mut is_new = false;
        for key in of_headers.chain(of_query) {
            is_new |= self.known.len() < MAX_KEYS && self.known.insert(key);
        }
        if is_new {
            self.redactor = self.base.clone().with_secrets(self.known.iter().map(String::as_str));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_out_wherever_the_request_carried_it() {
        let mut keys = Keys::new(Redactor::default());
        let head = b"POST / HTTP/1.1\r\nAuthorization: Bearer my-own-gateway-token-1\r\nx-api-key: plain-key-22\r\n\r\n";
        keys.learn(Headers::of_head(head), "/v1beta/models/m:generateContent?alt=sse&key=query-key-333");
        let said = "my-own-gateway-token-1, plain-key-22 and query-key-333, but not sse";
        let clean = keys.redactor().text(said);
        assert_eq!(clean, "[redacted], [redacted] and [redacted], but not sse");
    }
}
