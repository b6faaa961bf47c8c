//! Redaction: what must not reach a report, a terminal or a run folder is taken out of every text on its way there.
//!
//! Taken out are the secrets that the caller knows (values of credential variables of the environment), keys of known
//! shapes, what a name such as `password` announces, the values of headers that carry credentials, names of users in the
//! paths of their homes, e-mail addresses and names of machines. It reads no environment itself.
//! It does not look for what merely is random: ids that providers mint must stay as they are.

mod bytes;
mod named;
mod private;
mod shapes;

use std::borrow::Cow;

use serde_json::Value;

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Texts that are taken out wherever they stand, and what is put in their place.
#[derive(Debug, Clone)]
pub struct Redactor {
    /// By their first byte, the longest first, so that a secret which contains another one is taken out as a whole.
    literals: Vec<Literal>,
    /// Where the literals of each first byte begin, and at its end their number.
    begins: [usize; 257],
}

#[derive(Debug, Clone)]
struct Literal {
    text: String,
    instead: String,
    edges: Edges,
}

/// What may stand next to a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edges {
    /// Anything.
    Any,
    /// Nothing that would make it a part of another name.
    Path,
}

impl Default for Redactor {
    fn default() -> Redactor {
        Redactor { literals: Vec::new(), begins: [0; 257] }
    }
}

/// A shorter value of the environment could not be distinguished from a word, and would be found in every report.
const MIN_SECRET: usize = 8;

/// The same for a value of small letters alone, such as `reference`: a stand-in for a key, not a key.
const MIN_WORDY_SECRET: usize = 16;

impl Redactor {
    /// Takes out these secrets, and the path of the user's home.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>, home: Option<&str>) -> Redactor {
        let redactor = Redactor::default().with_secrets(secrets);
        match home.map(|home| home.trim_end_matches('/')) {
            // Below the root, every path would be the user's.
            None | Some("") => redactor,
            Some(home) => redactor.with_path(home, "~"),
        }
    }

    /// Also takes out these secrets.
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

    /// Also puts `instead` in the place of a path or an address.
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

    /// A text without what must not be shown.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let bytes = text.as_bytes();
        let mut clean = String::new();
        let (mut copied, mut at) = (0, 0);
        // What a name announces further on. Until there, something else may have to go.
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
            // The two may overlap.
            let end =
                announced.filter(|(start, _)| *start < end).map_or(end, |announced| announced.1.max(end));
            announced = announced.filter(|announced| announced.0 >= end);
            clean.push_str(&text[copied..start]);
            clean.push_str(instead);
            (copied, at) = (end, end.max(at + 1));
        }
        if copied == 0 && clean.is_empty() {
            return Cow::Borrowed(text);
        }
        clean.push_str(&text[copied..]);
        Cow::Owned(clean)
    }

    /// A value of a header.
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

    /// Cleans a text in its place.
    pub fn string(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.text(text) {
            *text = clean;
        }
    }

    /// What is to be taken out at a place: from where to where, and what is put there. Before `floor` all is done.
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

impl Literal {
    /// How long it is where it stands at the beginning of some bytes: as a whole, or as much as was left of it when it was
    /// cut for display.
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

/// Headers whose value is a credential, in small letters.
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

/// Headers of any client, in small letters.
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

/// Whether a header carries a credential, by its name or by the words in it.
pub fn is_credential_header(name: &str) -> bool {
    is_known_header(name) || named::is_header(&name.to_ascii_lowercase())
}

/// Whether a header tells nothing of who sends it.
pub fn is_harmless_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_of_sdk =
        name.starts_with("x-stainless-") || name.starts_with("sec-fetch-") || name.starts_with("sec-ch-");
    let is_named = ["-version", "-model", "-beta"].iter().any(|end| name.ends_with(end));
    !is_credential_header(&name) && (is_of_sdk || is_named || HARMLESS_HEADERS.contains(&name.as_str()))
}

/// Whether a part of a query carries a credential.
pub fn is_credential_query(name: &str) -> bool {
    named::is_query_name(name)
}

fn is_known_header(name: &str) -> bool {
    CREDENTIAL_HEADERS.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether a field of a JSON object is such a header, as errors of SDKs quote them, or a secret by its name and its value.
/// A tool may have an argument called `cookie`.
pub(crate) fn is_secret_field(name: &str, value: &str) -> bool {
    (is_known_header(name) && !name.eq_ignore_ascii_case("cookie")) || named::is_secret_field(name, value)
}

/// Whether the name of an environment variable looks like that of a credential.
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

/// Whether the text there is not a part of a longer name.
fn is_whole_path(bytes: &[u8], start: usize, end: usize) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.~".contains(byte);
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    // A dot after a path ends a sentence; one before it makes it relative.
    let after = bytes.get(end).filter(|byte| **byte != b'.');
    let escape = bytes::is_after_escape(bytes, start);
    (escape || !before.is_some_and(is_name)) && !after.is_some_and(is_name)
}

/// As it stands inside a JSON string.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// As it stands in a query.
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
