//! Reads cassettes, HAR files and rows into exchanges.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;
use serde_saphyr::{DuplicateKeyPolicy, MergeKeyPolicy, Spanned};

use super::{Exchange, base64};
use crate::Profile;
use crate::json::{Document, Json};

/// Why a recording cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingError {
    /// The line, from 1, if known.
    pub line: Option<u64>,
    /// The reason.
    pub words: String,
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.words)
    }
}

impl std::error::Error for RecordingError {}

impl RecordingError {
    fn at(line: u64, words: impl Into<String>) -> RecordingError {
        RecordingError { line: Some(line), words: words.into() }
    }
}

/// Returns whether a text looks like a HAR file or a cassette, with a list of entries or interactions.
pub fn is_recording(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    if !text.trim_start().starts_with('{') {
        return text.lines().any(|line| line.starts_with("interactions:"));
    }
    let may_be = text.contains("\"entries\"") || text.contains("\"interactions\"");
    let document = may_be.then(|| Document::parse(text.as_bytes()).ok()).flatten();
    document.is_some_and(|document| {
        let root = document.root();
        root.field("log").field("entries").is_array() || root.field("interactions").is_array()
    })
}

/// Reads a complete file: a HAR file, a cassette as YAML or JSON, or one row.
///
/// # Errors
///
/// Fails if the text has none of these formats, or an exchange is incomplete.
pub fn read(text: &[u8]) -> Result<Vec<Exchange>, RecordingError> {
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    match first {
        Some(b'{') => of_json(text),
        _ => cassette(text),
    }
}

fn of_json(text: &[u8]) -> Result<Vec<Exchange>, RecordingError> {
    let document =
        Document::parse(text).map_err(|error| RecordingError::at(error.line() as u64, not_json(&error)))?;
    let root = document.root();
    let entries = root.field("log").field("entries");
    let mut lines = Lines { text, at: 0, line: 1 };
    if entries.is_array() {
        return entries.items().map(|entry| har(entry, lines.of(entry))).collect();
    }
    let interactions = root.field("interactions");
    if interactions.is_array() {
        let each = interactions.items().map(|interaction| {
            let line = lines.of(interaction);
            let interaction = interaction.to_value();
            let part = |name: &str| interaction.get(name).cloned().unwrap_or_default();
            recorded(&part("request"), &part("response"), line)
        });
        return each.collect();
    }
    row(text, 1).map(|row| vec![row])
}

/// Returns the reader's error without the line, which is reported separately.
fn not_json(error: &serde_json::Error) -> String {
    let place = format!(" at line {} column ", error.line());
    format!("not JSON: {}", error.to_string().replacen(&place, " at column ", 1))
}

/// Reads a row: an object with a `request` body and the `status` of the reply.
///
/// # Errors
///
/// Fails if it is not such a row.
pub fn row(text: &[u8], line: u64) -> Result<Exchange, RecordingError> {
    let document = Document::parse(text).map_err(|error| RecordingError::at(line, not_json(&error)))?;
    let root = document.root();
    let word = |name: &str| root.field(name).as_str().map(|word| word.into_owned());
    let (request, status) = (root.field("request"), root.field("status"));
    if !request.is_object() {
        return Err(RecordingError::at(
            line,
            "neither a HAR, nor a cassette, nor a row with a `request` body",
        ));
    }
    let Some(status) = status.as_u64().and_then(|status| u16::try_from(status).ok()) else {
        return Err(RecordingError::at(line, "the row has no `status`"));
    };
    let mut exchange = Exchange::at(&word("url").unwrap_or_default());
    if let Some(host) = word("host") {
        exchange.host = host;
    }
    Ok(Exchange {
        line,
        dialect: word("dialect"),
        model: word("model").or_else(|| request.field("model").as_str().map(|word| word.into_owned())),
        request: request.raw().as_bytes().to_vec(),
        version: version_of(&root.field("headers").to_value()),
        status,
        error: sentence(&root.field("error").to_value()),
        is_ours: root.field("by").is("brickbat"),
        reply: Some(root.field("reply").to_value()).filter(serde_json::Value::is_array),
        ..exchange
    })
}

/// Finds the line on which each value begins. Look up values in text order.
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
}

impl Lines<'_> {
    fn of(&mut self, value: Json) -> u64 {
        let start = value.span().start;
        let between = self.text.get(self.at..start).unwrap_or_default();
        self.line += between.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.at = self.at.max(start);
        self.line
    }
}

/// An entry of a HAR: <http://www.softwareishard.com/blog/har-12-spec/>.
fn har(entry: Json, line: u64) -> Result<Exchange, RecordingError> {
    let request = entry.field("request");
    let Some(url) = request.field("url").as_str() else {
        return Err(RecordingError::at(line, "the entry has no request with a `url`"));
    };
    let status =
        entry.field("response").field("status").as_u64().and_then(|status| u16::try_from(status).ok());
    let Some(status) = status else {
        return Err(RecordingError::at(line, "the entry has no response with a `status`"));
    };
    let post = request.field("postData");
    let text = post.field("text").as_str().unwrap_or_default();
    let is_base64 = post.field("encoding").is("base64") || post.field("_encoding").is("base64");
    let content = entry.field("response").field("content");
    let answer = content.field("text").as_str().unwrap_or_default();
    let answer = plain(&answer, content.field("encoding").is("base64"));
    let exchange = exchange(&url, line, plain(&text, is_base64), status, &String::from_utf8_lossy(&answer));
    Ok(Exchange { version: version_of(&request.field("headers").to_value()), ..exchange })
}

/// A VCR cassette, with the field names of its successors in several languages.
#[derive(Deserialize)]
struct Cassette {
    interactions: Vec<Spanned<Interaction>>,
}

#[derive(Deserialize)]
struct Interaction {
    request: Value,
    response: Value,
}

fn cassette(text: &[u8]) -> Result<Vec<Exchange>, RecordingError> {
    let text = std::str::from_utf8(text).map_err(|_| RecordingError::at(1, "not UTF-8"))?;
    let cassette: Cassette = serde_saphyr::from_str_with_options(text, options()).map_err(|error| {
        let error = error.without_snippet();
        let line = error.location().map(|location| location.line());
        let words = error.to_string();
        // The location is reported separately.
        let words = words.lines().next().unwrap_or_default();
        let words = words.split(" at line ").next().unwrap_or_default();
        RecordingError { line, words: format!("not a cassette: {words}") }
    })?;
    let each = cassette.interactions.iter();
    each.map(|interaction| {
        let line = interaction.referenced.line();
        recorded(&interaction.value.request, &interaction.value.response, line)
    })
    .collect()
}

/// A text as YAML, if it is.
pub(super) fn yaml(text: &str) -> Option<Value> {
    serde_saphyr::from_str_with_options(text, options()).ok()
}

/// Maximum number of nodes in a cassette. A long session has about ten thousand.
const MAX_NODES: usize = 2_000_000;

/// Maximum depth of a cassette, the same as for JSON.
const MAX_DEPTH: usize = 127;

/// Recorders create no anchors of their own, but may write equal values only once.
const MAX_ALIASES: usize = 10_000;

fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: MAX_NODES,
            max_events: 4 * MAX_NODES,
            max_depth: MAX_DEPTH,
            flow_nesting_limit: 2 * MAX_DEPTH,
            max_anchors: MAX_ALIASES,
            max_aliases: MAX_ALIASES,
            max_recorded_anchor_events: MAX_NODES,
            max_documents: 1,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAX_NODES,
            max_replay_stack_depth: 16,
        },
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        merge_keys: MergeKeyPolicy::Error,
        ignore_binary_tag_for_string: true,
        with_snippet: false,
    }
}

/// An interaction of a cassette.
fn recorded(request: &Value, response: &Value, line: u64) -> Result<Exchange, RecordingError> {
    let url = ["uri", "url"].iter().find_map(|name| request.get(name)?.as_str());
    let Some(url) = url else {
        return Err(RecordingError::at(line, "the interaction has no request with a `uri`"));
    };
    let status = response
        .pointer("/status/code")
        .or_else(|| response.get("status_code"))
        .or_else(|| response.get("status"))
        .and_then(Value::as_u64)
        .and_then(|status| u16::try_from(status).ok());
    let Some(status) = status else {
        return Err(RecordingError::at(line, "the interaction has no response with a `status`"));
    };
    let answer = body(response);
    let exchange = exchange(url, line, body(request), status, &String::from_utf8_lossy(&answer));
    Ok(Exchange { version: request.get("headers").and_then(version_of), ..exchange })
}

/// Reads a body in any of the recorders' formats.
fn body(of: &Value) -> Vec<u8> {
    if let Some(parsed) = of.get("parsed_body").filter(|parsed| !parsed.is_null()) {
        return parsed.to_string().into_bytes();
    }
    match of.get("body").unwrap_or(&Value::Null) {
        Value::Null => Vec::new(),
        Value::String(text) => plain(text, false),
        Value::Object(fields) => {
            let text = |name: &str| fields.get(name).and_then(Value::as_str);
            match (text("base64_string"), text("string")) {
                (Some(text), _) => plain(text, true),
                (None, Some(text)) => plain(text, text_is(fields.get("encoding"), "base64")),
                (None, None) => Value::Object(fields.clone()).to_string().into_bytes(),
            }
        }
        other => other.to_string().into_bytes(),
    }
}

fn text_is(value: Option<&Value>, text: &str) -> bool {
    value.and_then(Value::as_str) == Some(text)
}

/// Returns the bytes of a body. A body that does not look like JSON may be base64 without being marked.
fn plain(text: &str, is_base64: bool) -> Vec<u8> {
    let looks_like_json = |bytes: &[u8]| matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
    if !is_base64 && looks_like_json(text.as_bytes()) {
        return text.as_bytes().to_vec();
    }
    match base64::decode(text) {
        Some(bytes) if is_base64 || looks_like_json(&bytes) => bytes,
        _ => text.as_bytes().to_vec(),
    }
}

/// Returns the version of the provider's API from the headers of a request: an object with a text or a list of texts
/// for each name, or a HAR's list of names and values.
fn version_of(headers: &Value) -> Option<String> {
    let is_meant = |name: &str| name.eq_ignore_ascii_case(Profile::VERSION_HEADER);
    let value = match headers {
        Value::Object(fields) => fields.iter().find(|(name, _)| is_meant(name))?.1,
        Value::Array(items) => {
            let of_name = |item: &&Value| item.get("name").and_then(Value::as_str).is_some_and(is_meant);
            items.iter().find(of_name)?.get("value")?
        }
        _ => return None,
    };
    value.as_str().or_else(|| value.get(0)?.as_str()).map(str::to_owned)
}

fn exchange(url: &str, line: u64, request: Vec<u8>, status: u16, answer: &str) -> Exchange {
    let model = Document::parse(&request).ok().and_then(|document| {
        let model = document.root().field("model").as_str()?;
        Some(model.into_owned())
    });
    let error = match status {
        0..=399 => String::new(),
        _ => sentence(&serde_json::from_str(answer).unwrap_or_else(|_| Value::from(answer))),
    };
    Exchange { line, model, request, status, error, ..Exchange::at(url) }
}

/// Maximum length of a recorded error in characters.
const MAX_ERROR: usize = 400;

/// Where OpenRouter puts the error of the provider behind it, as a text that may be JSON. Its own message is only
/// "Provider returned error" (<https://github.com/diegosouzapw/OmniRoute/issues/3044>).
const RAW: [&str; 2] = ["/error/metadata/raw", "/metadata/raw"];

/// Returns the provider's message from an error body in any envelope. An envelope that is a JSON string is
/// parsed.
fn sentence(error: &Value) -> String {
    if let Some(raw) =
        RAW.iter().find_map(|place| error.pointer(place)?.as_str()).filter(|raw| !raw.is_empty())
    {
        return sentence(&Value::from(raw));
    }
    let places = ["/error/message", "/message", "/detail", "/error", "/Message"];
    let text = match error {
        Value::Null => return String::new(),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ Value::Object(_)) => return sentence(&inner),
            _ => text.clone(),
        },
        Value::Array(items) => return items.first().map(sentence).unwrap_or_default(),
        value => {
            let found = places.iter().find_map(|place| value.pointer(place)?.as_str());
            found.map_or_else(|| value.to_string(), str::to_owned)
        }
    };
    text.split_whitespace().collect::<Vec<&str>>().join(" ").chars().take(MAX_ERROR).collect()
}
