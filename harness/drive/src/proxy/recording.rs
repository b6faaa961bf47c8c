//! The rows of a recording: written as exchanges end, without secrets.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde_json::Value;

use brickbat_engine::provider::Headers;
use brickbat_rules::redact::{Redactor, is_credential_header};

/// A file with a row for each exchange.
#[derive(Debug)]
pub struct Recording {
    file: File,
    /// What is taken out whatever the requests say.
    base: Redactor,
    redactor: Redactor,
    /// Keys that requests have carried.
    keys: BTreeSet<String>,
}

/// Keys that are known at the same time. A program has one or a few; one that mints them without end is no client of a model.
const MAX_KEYS: usize = 64;

impl Recording {
    /// Adds to a file, which is made for its owner alone if it is not there.
    ///
    /// # Errors
    ///
    /// The file cannot be opened.
    pub fn open(path: &Path, redactor: Redactor) -> io::Result<Recording> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Recording { file: options.open(path)?, base: redactor.clone(), redactor, keys: BTreeSet::new() })
    }

    /// Learns the keys of a request, so that no row repeats them.
    pub(super) fn learn(&mut self, headers: Headers<'_>, target: &str) {
        let of_headers = headers.iter().filter(|(name, _)| is_credential_header(name)).map(|(_, value)| {
            let value = value.into_owned();
            value.split_once(' ').map(|(_, key)| key.to_owned()).unwrap_or(value)
        });
        // Gemini takes its key in the query.
        let query = target.split_once('?').map_or("", |(_, query)| query);
        let of_query = query.split('&').filter_map(|pair| pair.strip_prefix("key=")).map(str::to_owned);
        let mut is_new = false;
        for key in of_headers.chain(of_query) {
            is_new |= self.keys.len() < MAX_KEYS && self.keys.insert(key);
        }
        if is_new {
            self.redactor = self.base.clone().with_secrets(self.keys.iter().map(String::as_str));
        }
    }

    /// Writes a row.
    pub(super) fn write(&mut self, mut row: Value) -> io::Result<()> {
        self.redactor.value(&mut row);
        // In one write, so that rows of two proxies do not mix.
        self.file.write_all(format!("{row}\n").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

    use serde_json::json;

    use super::*;

    #[test]
    fn no_key_that_a_request_carried_is_in_a_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        let mut recording = Recording::open(&path, Redactor::default()).unwrap();
        let head = b"POST / HTTP/1.1\r\nAuthorization: Bearer my-own-gateway-token-1\r\nx-api-key: plain-key-22\r\n\r\n";
        recording.learn(Headers::of_head(head), "/v1beta/models/m:generateContent?alt=sse&key=query-key-333");
        let said = "Bearer my-own-gateway-token-1, plain-key-22 and query-key-333";
        recording.write(json!({ "request": { "messages": [said] }, "status": 200 })).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        for key in ["my-own-gateway-token-1", "plain-key-22", "query-key-333"] {
            assert!(!text.contains(key), "{text}");
        }
        assert_eq!(text.lines().count(), 1);
    }
}
