//! Redaction: removes private data from every text before it reaches a report, a terminal or a run folder.
//!
//! It removes secrets that the caller passes in (values of credential variables in the environment), keys
//! of known formats, values after names such as `password`, values of headers with credentials, user names
//! in home paths, e-mail addresses and machine names. It does not read the environment itself. It does not
//! search for random-looking text, because ids from providers must stay unchanged.

mod bytes;
mod named;
mod private;
mod shapes;

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

/// The text that replaces a secret.
pub const REDACTED: &str = "[redacted]";

/// Texts to replace everywhere, with their replacements.
#[derive(Debug, Clone)]
pub struct Redactor {
    /// Sorted by first byte, then longest first, so that a secret containing another one is removed
    /// completely.
    literals: Vec<Literal>,
    /// The index of the first literal for each first byte, and the total number at the end.
    begins: [usize; 257],
}

#[derive(Debug, Clone)]
struct Literal {
    text: String,
    instead: String,
    edges: Edges,
}

/// The characters that may be next to a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edges {
    /// All characters.
    Any,
    /// Only characters that do not make it part of a longer name.
    Path,
}

impl Default for Redactor {
    fn default() -> Redactor {
        Redactor { literals: Vec::new(), begins: [0; 257] }
    }
}

/// A shorter value from the environment could be an ordinary word, and would match in every report.
const MIN_SECRET: usize = 8;

/// The minimum for a value with only lower-case letters, such as `reference`: a placeholder, not a key.
const MIN_WORDY_SECRET: usize = 16;

impl Redactor {
    /// Creates a redactor for these secrets and for the path of the user's home.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>, home: Option<&str>) -> Redactor {
        let redactor = Redactor::default().with_secrets(secrets);
        match home.map(|home| home.trim_end_matches('/')) {
            // With the root as home, every path would be the user's.
            None | Some("") => redactor,
            Some(home) => redactor.with_path(home, "~"),
        }
    }

    /// Adds these secrets.
    pub fn with_secrets<'a>(mut self, secrets: impl IntoIterator<Item = &'a str>) -> Redactor {
        for secret in secrets {
            let lines = secret.lines().filter(|line| line.len() >= MIN_WORDY_SECRET);
            for text in std::iter::once(secret).chain(lines).map(str::trim).filter(|text| is_secret(text)) {
                self.add(text, REDACTED, Edges::Any);
                self.add(&escaped(text), REDACTED, Edges::Any);
                self.add(&percent_encoded(text), REDACTED, Edges::Any);
            }
        }
        self
    }

    /// Adds a path or an address to replace with `instead`.
    pub fn with_path(mut self, path: &str, instead: &str) -> Redactor {
        self.add(path, instead, Edges::Path);
        self
    }

    fn add(&mut self, text: &str, instead: &str, edges: Edges) {
        let Some(first) = text.bytes().next().map(usize::from) else { return };
        let known = &self.literals[self.begins[first]..self.begins[first + 1]];
        if known.iter().any(|known| known.text == text) {
            return;
        }
        let at = self.begins[first] + known.partition_point(|known| known.text.len() >= text.len());
        let literal = Literal { text: text.to_owned(), instead: instead.to_owned(), edges };
        self.literals.insert(at, literal);
        self.begins[first + 1..].iter_mut().for_each(|begin| *begin += 1);
    }

    /// Returns a text without private data.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let spans = self.spans(text);
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut clean, mut copied) = (String::new(), 0);
        for (span, instead) in spans {
            clean.push_str(&text[copied..span.start]);
            clean.push_str(instead);
            copied = span.end;
        }
        clean.push_str(&text[copied..]);
        Cow::Owned(clean)
    }

    /// Cleans the pieces of one text. Each piece keeps its part of the text; the replacement goes to the piece in which
    /// the private data begins.
    pub fn pieces(&self, pieces: &mut [String]) {
        let joined = pieces.concat();
        let edits = self.spans(&joined);
        replace_in_pieces(pieces, edits.into_iter().map(|(span, instead)| (span, instead.to_owned())));
    }

    /// Returns the private parts of a text in their order, each with its replacement.
    fn spans(&self, text: &str) -> Vec<(Range<usize>, &str)> {
        let bytes = text.as_bytes();
        let mut spans = Vec::new();
        let (mut copied, mut at) = (0, 0);
        // The value that a name announces further on. Other matches may come before it.
        let mut announced: Option<(usize, usize)> = None;
        while at < bytes.len() {
            let due = announced
                .filter(|(start, _)| *start <= at)
                .map(|(start, end)| (start.max(copied), end, REDACTED));
            let (start, end, instead) = match due.or_else(|| self.at(text, copied, at)) {
                Some(found) if found.0 <= at => found,
                found => {
                    announced = announced.or(found.map(|(start, end, _)| (start, end)));
                    at += 1;
                    continue;
                }
            };
            // The two ranges may overlap.
            let end =
                announced.filter(|(start, _)| *start < end).map_or(end, |announced| announced.1.max(end));
            announced = announced.filter(|announced| announced.0 >= end);
            spans.push((start..end, instead));
            (copied, at) = (end, end.max(at + 1));
        }
        spans
    }

    /// Returns a header's value without private data.
    pub fn header<'t>(&self, name: &str, value: &'t str) -> Cow<'t, str> {
        if is_credential_header(name) { Cow::Borrowed(REDACTED) } else { self.text(value) }
    }

    /// Cleans every string and every name inside a value.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.string(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(fields) => {
                let dirty = fields.keys().any(|name| matches!(self.text(name), Cow::Owned(_)));
                if dirty {
                    let old = std::mem::take(fields);
                    fields
                        .extend(old.into_iter().map(|(name, value)| (self.text(&name).into_owned(), value)));
                }
                for (name, value) in fields.iter_mut() {
                    match value {
                        Value::String(text) if is_secret_field(name, text) => REDACTED.clone_into(text),
                        value => self.value(value),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Cleans a text in place.
    pub fn string(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.text(text) {
            *text = clean;
        }
    }

    /// Returns the range to replace, and its replacement, for a match at a position. Everything before
    /// `floor` is done.
    fn at(&self, text: &str, floor: usize, at: usize) -> Option<(usize, usize, &str)> {
        let rest = &text.as_bytes()[at..];
        let first = usize::from(rest[0]);
        let literals = &self.literals[self.begins[first]..self.begins[first + 1]];
        let found = literals.iter().find_map(|literal| {
            let end = at + literal.in_whole(rest)?;
            let fits = literal.edges == Edges::Any || is_whole_path(text.as_bytes(), at, end);
            fits.then_some((at, end, literal.instead.as_str()))
        });
        found.or_else(|| shapes::at(text, floor, at).map(|(start, end)| (start, end, REDACTED)))
    }
}

/// Replaces parts of the text that the pieces make together. `edits` are in order and do not overlap; each replacement
/// goes to the piece in which its part begins.
pub fn replace_in_pieces(pieces: &mut [String], edits: impl IntoIterator<Item = (Range<usize>, String)>) {
    let mut edits = edits.into_iter();
    let mut edit = edits.next();
    let mut start = 0;
    for piece in pieces {
        let end = start + piece.len();
        let (mut clean, mut copied) = (String::new(), start);
        while let Some((span, instead)) = &edit {
            if span.start >= end {
                break;
            }
            if span.start >= start {
                clean.push_str(&piece[copied - start..span.start - start]);
                clean.push_str(instead);
            }
            copied = span.end.min(end);
            if span.end > end {
                // The rest is in the next pieces.
                break;
            }
            edit = edits.next();
        }
        clean.push_str(&piece[copied - start..]);
        *piece = clean;
        start = end;
    }
}

impl Literal {
    /// Returns the length of the literal at the beginning of some bytes: all of it, or the part that
    /// remains after a cut for display.
    fn in_whole(&self, rest: &[u8]) -> Option<usize> {
        let own = self.text.as_bytes();
        if rest.starts_with(own) {
            return Some(own.len());
        }
        let n_equal = own.iter().zip(rest).take_while(|(own, there)| own == there).count();
        let is_cut =
            n_equal >= MIN_SECRET && self.edges == Edges::Any && rest[n_equal..].starts_with(bytes::CUT);
        is_cut.then_some(n_equal)
    }
}

fn is_secret(text: &str) -> bool {
    let is_wordy = text.bytes().all(|byte| byte.is_ascii_lowercase() || b"-_.".contains(&byte));
    text.len() >= if is_wordy { MIN_WORDY_SECRET } else { MIN_SECRET }
}

/// Headers that contain credentials, in lower case.
const CREDENTIAL_HEADERS: [&str; 10] = [
    "api-key",
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
    "x-amz-security-token",
    "x-api-key",
    "x-auth-token",
    "x-goog-api-key",
    "x-stainless-api-key",
];

/// Headers that any client sends, in lower case.
const HARMLESS_HEADERS: [&str; 26] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "amz-sdk-request",
    "anthropic-beta",
    "anthropic-dangerous-direct-browser-access",
    "anthropic-version",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "expect",
    "host",
    "keep-alive",
    "openai-beta",
    "origin",
    "pragma",
    "priority",
    "te",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "x-goog-api-client",
];

/// Returns whether a header contains a credential, based on its name or the words in it.
pub fn is_credential_header(name: &str) -> bool {
    is_known_header(name) || named::is_header(&name.to_ascii_lowercase())
}

/// Returns whether a header reveals nothing about its sender.
pub fn is_harmless_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_of_sdk =
        name.starts_with("x-stainless-") || name.starts_with("sec-fetch-") || name.starts_with("sec-ch-");
    let is_named = ["-version", "-model", "-beta"].iter().any(|end| name.ends_with(end));
    !is_credential_header(&name) && (is_of_sdk || is_named || HARMLESS_HEADERS.contains(&name.as_str()))
}

/// Returns whether a query parameter contains a credential.
pub fn is_credential_query(name: &str) -> bool {
    named::is_query_name(name)
}

fn is_known_header(name: &str) -> bool {
    CREDENTIAL_HEADERS.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns whether a field of a JSON object is such a header, as quoted in SDK errors, or is a secret
/// according to its name and value. A tool may have an argument called `cookie`.
pub(crate) fn is_secret_field(name: &str, value: &str) -> bool {
    (is_known_header(name) && !name.eq_ignore_ascii_case("cookie")) || named::is_secret_field(name, value)
}

/// Returns whether an environment variable's name suggests that it contains a credential.
pub fn is_credential_variable(name: &str) -> bool {
    const ENDINGS: [&str; 15] = [
        "_KEY",
        "_KEY_ID",
        "APIKEY",
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "_PASS",
        "_PAT",
        "_AUTH",
        "_COOKIE",
        "_CREDENTIAL",
        "_CREDENTIALS",
        "_CONNECTION_STRING",
        "DATABASE_URL",
    ];
    let name = name.to_ascii_uppercase();
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Returns whether the range is not part of a longer name.
fn is_whole_path(bytes: &[u8], start: usize, end: usize) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.~".contains(byte);
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    // A dot after a path ends a sentence. A dot before it makes it relative.
    let after = bytes.get(end).filter(|byte| **byte != b'.');
    let escape = bytes::is_after_escape(bytes, start);
    (escape || !before.is_some_and(is_name)) && !after.is_some_and(is_name)
}

/// Escapes a text for a JSON string.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Escapes a text for a query.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests;
