//! Redaction: what must not reach a report, a terminal or a run folder is taken out of every text on its way there.
//!
//! Taken out are the secrets that the caller knows (values of credential variables of the environment), keys of known
//! shapes, the values of headers that carry credentials, and the user's home path. It reads no environment itself.
//! It does not look for what merely is random: ids that providers mint must stay as they are.

mod shapes;

use std::borrow::Cow;

use serde_json::Value;

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Texts that are taken out wherever they stand, and what is put in their place.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// The longest first, so that a secret which contains another one is taken out as a whole.
    literals: Vec<Literal>,
    /// The first bytes of the literals and of the shapes.
    starts: Starts,
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

/// Whether something may start with a byte.
#[derive(Debug, Clone)]
struct Starts([bool; 256]);

impl Default for Starts {
    fn default() -> Starts {
        let mut starts = [false; 256];
        shapes::FIRST_BYTES.iter().for_each(|byte| starts[usize::from(*byte)] = true);
        Starts(starts)
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
        let Some(first) = text.bytes().next() else { return };
        if self.literals.iter().any(|known| known.text == text) {
            return;
        }
        self.starts.0[usize::from(first)] = true;
        let literal = Literal { text: text.to_owned(), instead: instead.to_owned(), edges };
        let at = self.literals.partition_point(|known| known.text.len() >= text.len());
        self.literals.insert(at, literal);
    }

    /// A text without what must not be shown.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let bytes = text.as_bytes();
        let mut clean = String::new();
        let (mut copied, mut at) = (0, 0);
        while at < bytes.len() {
            let found = if self.starts.0[usize::from(bytes[at])] { self.at(text, at) } else { None };
            let Some((start, end, instead)) = found else {
                at += 1;
                continue;
            };
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
                        Value::String(text) if is_credential_field(name) => REDACTED.clone_into(text),
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

    /// What is to be taken out at a place: from where, to where, and what is put there.
    fn at(&self, text: &str, at: usize) -> Option<(usize, usize, &str)> {
        let literal = self.literals.iter().find(|literal| {
            let end = at + literal.text.len();
            text.as_bytes()[at..].starts_with(literal.text.as_bytes())
                && (literal.edges == Edges::Any || is_whole_path(text.as_bytes(), at, end))
        });
        if let Some(literal) = literal {
            return Some((at, at + literal.text.len(), literal.instead.as_str()));
        }
        shapes::at(text.as_bytes(), at).map(|(start, end)| (start, end, REDACTED))
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

/// Whether a header carries a credential.
pub fn is_credential_header(name: &str) -> bool {
    CREDENTIAL_HEADERS.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether a field of a JSON object is such a header, as errors of SDKs quote them. A tool may have an argument
/// called `cookie`.
fn is_credential_field(name: &str) -> bool {
    is_credential_header(name) && !name.eq_ignore_ascii_case("cookie")
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
    let escape = shapes::is_after_escape(bytes, start);
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
