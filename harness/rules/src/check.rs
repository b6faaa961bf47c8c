//! Checks requests for `brickbat check`: takes bytes and returns findings with a location and an excerpt.
//!
//! The module opens no files. The caller specifies where a text begins, and [`CheckReport`] writes the
//! findings.

mod addressee;
mod excerpt;
mod github;
mod json;
mod providers;
#[cfg(feature = "recordings")]
mod recorded;
mod report;
mod sarif;
mod stream;
mod tally;
mod text;

use std::fmt;
use std::ops::Range;

use crate::json::{self as body, Part};
use crate::{self as rules, Address, Dialect, Profile, Rule, UnionViolation, list_of, validate};
use addressee::{Addressee, Around};

pub use addressee::Basis;
pub use excerpt::{Excerpt, Line, conversation};
pub use providers::{Providers, Strictness};
#[cfg(feature = "recordings")]
pub use recorded::{check_recorded, line_offsets};
pub use report::{CheckFormat, CheckReport};
pub use sarif::streams_to_sarif;
pub use stream::{is_sound, stream_to_github, stream_to_json, stream_to_text, unjudged_to_github};
pub use tally::Tally;

/// Options for checking a request.
#[derive(Debug, Clone, Default)]
pub struct CheckOptions {
    /// The dialect, if the request need not show it. A profile implies its dialect.
    pub dialect: Option<Dialect>,
    /// How strict the provider is.
    pub strictness: Strictness,
    /// The host and the path. Empty parts are taken from the context of the request.
    pub address: Address,
    /// The model. Overrides any other name in or around the request.
    pub model: Option<String>,
    /// Rules to ignore.
    pub off: Vec<&'static Rule>,
    /// Rules to treat as errors even when the provider accepts the request.
    pub denied: Vec<&'static Rule>,
}

/// The position where a text begins in its file.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    /// Line, from 1.
    pub line: u64,
    /// First byte, from 0.
    pub offset: u64,
}

/// A checked request with its findings.
#[derive(Debug, Clone)]
pub struct CheckedRequest {
    /// The providers that judged the request.
    pub providers: Providers,
    /// Why these providers were chosen.
    pub basis: Basis,
    /// The host, if known.
    pub host: Option<String>,
    /// The model, if known.
    pub model: Option<String>,
    /// If the model is unknown: the rules that apply only to some models, and so were skipped or only
    /// partly checked.
    pub rules_by_model: Vec<&'static str>,
    /// The line on which the request begins, from 1.
    pub line: u64,
    /// The first [`MAX_FINDINGS`] findings, in the provider's order of checks.
    pub findings: Vec<Finding>,
    /// The number of further findings.
    pub n_more: usize,
    /// The status of the first rejection. `None` if every provider accepts the request.
    pub status: Option<u16>,
    /// The profiles that reject the request, the dialect's default first.
    pub refused_by: Vec<&'static str>,
    /// True if the provider accepts the request but it breaks a denied rule.
    pub is_denied: bool,
}

/// A violation of a rule at a location in a file.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// How serious it is.
    pub level: Level,
    /// The JSON pointer into the text. For a bare list of messages, it starts in the list.
    pub pointer: String,
    /// The provider's message. With several providers, the message of the first that objects.
    pub message: String,
    /// The profiles that reject the request because of this violation.
    pub refused_by: Vec<&'static str>,
    /// The profiles that warn about it.
    pub warned_by: Vec<&'static str>,
    /// The location in the file.
    pub place: FileSpan,
    /// The text around that location.
    pub excerpt: Excerpt,
}

/// How serious a violation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The provider rejects the request.
    Refused,
    /// The provider accepts the request, but the user denies the rule.
    Denied,
    /// The provider accepts the request. Older or stricter providers reject it.
    Warning,
}

/// A range in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct FileSpan {
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
    /// First byte in the file, from 0.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
}

/// Why a text could not be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckError {
    /// The text is not JSON. Contains the reader's error.
    NotJson(String),
    /// The text is JSON, but neither a request nor a list of messages.
    NoConversation,
    /// The dialect is ambiguous or unknown.
    NoDialect,
    /// The request is for a known API that Brickbat does not support. Contains its name.
    NotSpoken(String),
    /// No profile is known for this dialect at this host.
    NoProfile {
        /// The dialect.
        dialect: Dialect,
        /// The host.
        host: String,
    },
    /// The request is of another dialect than the profile that should judge it.
    OtherDialect {
        /// The dialect of the request.
        dialect: Dialect,
        /// The profile.
        profile: &'static str,
    },
    /// A recorded request that asks for no reply, such as an upload, an embedding or a list of models.
    NoReply,
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::NotJson(words) => write!(f, "not JSON: {words}"),
            CheckError::NoConversation => f.write_str("neither a request nor a list of messages"),
            CheckError::NoDialect => f.write_str("the text does not show its dialect"),
            CheckError::NotSpoken(name) => write!(f, "written for {name}, which Brickbat does not support"),
            CheckError::NoProfile { dialect, host } => {
                write!(f, "no profile known for {dialect} at {host}")
            }
            CheckError::OtherDialect { dialect, profile } => {
                write!(f, "a request of {dialect}, which the profile {profile} does not judge")
            }
            CheckError::NoReply => f.write_str("a request that asks for no reply"),
        }
    }
}

impl std::error::Error for CheckError {}

/// The maximum number of findings kept per request. A broken session has a handful; further findings are
/// only counted.
pub const MAX_FINDINGS: usize = 100;

impl CheckedRequest {
    /// Returns the number of findings at a level.
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }
}

/// Judges a request body, a bare list of messages, or a row with a body in its field `request`.
///
/// # Errors
///
/// Fails if the text is not JSON or is not recognized as a request.
pub fn check(text: &[u8], start: Start, options: &CheckOptions) -> Result<CheckedRequest, CheckError> {
    let readable = body::without_halves(text);
    let row = row_of(&readable);
    let subject = Subject::of(text, &readable, row.as_ref());
    let around = row.map(|row| row.around).unwrap_or_default();
    let place = |span: Range<usize>| FileSpan::of(text, span, start);
    judge(&subject, &around, start.line, options, |_, _| true, place).map_err(|error| match error {
        CheckError::NoDialect => unknown(&readable),
        error => error,
    })
}

/// Returns the range of the request in a text that [`check`] accepts: the complete text, or the field
/// `request` in a row.
pub fn request_in(text: &[u8]) -> Range<usize> {
    row_of(&body::without_halves(text)).map_or(0..text.len(), |row| row.request)
}

/// Judges a request. `counts` returns whether a violation is reported, and `place` converts a byte range of the text to a
/// location in its file.
fn judge(
    subject: &Subject,
    around: &Around,
    line: u64,
    options: &CheckOptions,
    counts: impl Fn(&UnionViolation, Dialect) -> bool,
    place: impl Fn(Range<usize>) -> FileSpan,
) -> Result<CheckedRequest, CheckError> {
    let addressee = Addressee::of(subject, around, options).map_err(|error| match error {
        // No provider takes a text that is not JSON.
        CheckError::NoProfile { .. } => subject.not_json().unwrap_or(error),
        error => error,
    })?;
    let Addressee { providers, basis, host, model, to_name } = addressee;
    let mut violations = match subject.is_list {
        true => providers.judge_list(subject.bytes, model.as_deref()),
        false => providers.judge(&validate::naming(subject.bytes, to_name.as_deref()), model.as_deref()),
    };
    violations.retain(|found| counts(found, providers.dialect()));
    violations.retain(|found| !options.off.iter().any(|rule| rule.id == found.violation.rule.id));
    let status = violations.iter().find(|found| !found.refused_by.is_empty());
    let status = status.map(|found| found.violation.status());
    let refused_by = refused_by(providers.dialect(), &violations);
    let level = |found: &UnionViolation| {
        let is_denied = || options.denied.iter().any(|rule| rule.id == found.violation.rule.id);
        match found.refused_by.len() {
            0 if is_denied() => Level::Denied,
            0 => Level::Warning,
            _ => Level::Refused,
        }
    };
    let is_denied = violations.iter().any(|found| level(found) == Level::Denied);
    let n_more = violations.len().saturating_sub(MAX_FINDINGS);
    violations.truncate(MAX_FINDINGS);
    let list = rules::list_of(providers.dialect());
    subject.place_halves(&mut violations);
    // Only a body without violations has been read to its end. For others, this shows whether they are
    // JSON.
    let excerpts = match violations.is_empty() {
        true => Vec::new(),
        false => {
            let pointers: Vec<&str> =
                violations.iter().map(|found| found.violation.pointer.as_str()).collect();
            excerpt::excerpts(subject, list, &pointers)
                .map_err(|error| CheckError::NotJson(error.to_string()))?
        }
    };
    let findings = violations.into_iter().zip(excerpts).map(|(found, (span, excerpt))| {
        let span = span.start + subject.offset..span.end + subject.offset;
        let level = level(&found);
        let UnionViolation { violation, refused_by, warned_by } = found;
        Finding {
            rule: violation.rule,
            level,
            pointer: subject.pointer(violation.pointer, list),
            message: violation.message,
            refused_by: names(&refused_by),
            warned_by: names(&warned_by),
            place: place(span),
            excerpt,
        }
    });
    let findings = findings.collect();
    let rules_by_model = if model.is_none() { providers.rules_by_model() } else { Vec::new() };
    Ok(CheckedRequest {
        providers,
        basis,
        host,
        model,
        rules_by_model,
        line,
        findings,
        n_more,
        status,
        refused_by,
        is_denied,
    })
}

/// Returns all profiles that reject a body because of one of these violations.
fn refused_by(dialect: Dialect, violations: &[UnionViolation]) -> Vec<&'static str> {
    let refuses = |name: &&str| {
        violations.iter().any(|found| found.refused_by.iter().any(|profile| profile.name == *name))
    };
    let all = Profile::all().filter(|profile| profile.dialect == dialect);
    all.map(|profile| profile.name).filter(refuses).collect()
}

fn names(profiles: &[&'static Profile]) -> Vec<&'static str> {
    profiles.iter().map(|profile| profile.name).collect()
}

/// The judged range of a text.
struct Subject<'a> {
    bytes: &'a [u8],
    /// The same bytes without unpaired surrogates. Providers reject these, and JSON readers cannot read
    /// past them.
    readable: &'a [u8],
    /// The position where the range begins in the text.
    offset: usize,
    /// True for a bare list of messages.
    is_list: bool,
    /// The pointer to this range in the text.
    prefix: &'static str,
}

impl<'a> Subject<'a> {
    fn of(text: &'a [u8], readable: &'a [u8], row: Option<&RequestRow>) -> Subject<'a> {
        let range = row.map_or(0..text.len(), |row| row.request.clone());
        let (bytes, readable) = (&text[range.clone()], &readable[range.clone()]);
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        let prefix = if row.is_some() { "/request" } else { "" };
        Subject { bytes, readable, offset: range.start, is_list: first == Some(&b'['), prefix }
    }

    /// The error of a text that is not JSON.
    fn not_json(&self) -> Option<CheckError> {
        let read = body::walk(self.readable, "messages", |_| {});
        read.err().map(|error| CheckError::NotJson(error.to_string()))
    }

    /// Moves violations of the whole body to the first unpaired surrogate, if there is one.
    fn place_halves(&self, violations: &mut [UnionViolation]) {
        let Some(half) = body::halves(self.bytes).next() else { return };
        let Some(pointer) = body::pointer_at(self.readable, half) else { return };
        for found in violations.iter_mut().filter(|found| found.violation.pointer.is_empty()) {
            found.violation.pointer = match self.is_list {
                true => format!("/{}{pointer}", rules::list_of(found.violation.rule.dialect())),
                false => pointer.clone(),
            };
        }
    }

    /// Converts a pointer into the judged body to a pointer into the text.
    fn pointer(&self, pointer: String, list: &str) -> String {
        let own = if self.is_list {
            pointer.strip_prefix('/').and_then(|rest| rest.strip_prefix(list)).unwrap_or(&pointer)
        } else {
            &pointer
        };
        format!("{}{own}", self.prefix)
    }
}

/// A row of a recording: a request among other fields.
struct RequestRow {
    request: Range<usize>,
    around: Around,
}

fn row_of(text: &[u8]) -> Option<RequestRow> {
    // Most texts are not rows; this check is cheap.
    if !std::str::from_utf8(text).is_ok_and(|text| text.contains("\"request\"")) {
        return None;
    }
    let (mut found, mut has_messages) = (None, false);
    let read = body::walk(text, "messages", |part| match part {
        Part::Rest(row) => {
            let request = row.field("request");
            let is_row = request.is_object() || request.is_array();
            found = is_row.then(|| RequestRow { request: request.span(), around: Around::of_row(row) });
        }
        _ => has_messages = true,
    });
    read.ok()?;
    found.filter(|_| !has_messages)
}

/// Returns why no dialect was found.
fn unknown(text: &[u8]) -> CheckError {
    let mut is_conversation = false;
    let mut look = |part: Part<'_, '_>| match part {
        Part::Begin => {}
        Part::Item(_, message) => {
            is_conversation |= ["role", "parts", "type"].iter().any(|field| message.get(field).is_some());
        }
        Part::Rest(body) => {
            is_conversation |= Dialect::ALL.into_iter().any(|dialect| body.get(list_of(dialect)).is_some());
        }
    };
    let is_list = text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let read =
        if is_list { body::walk_list(text, &mut look) } else { body::walk(text, "messages", &mut look) };
    match read {
        Err(error) => CheckError::NotJson(error.to_string()),
        Ok(()) if is_conversation => CheckError::NoDialect,
        Ok(()) => CheckError::NoConversation,
    }
}

impl FileSpan {
    fn of(text: &[u8], span: Range<usize>, start: Start) -> FileSpan {
        let before = &text[..span.start.min(text.len())];
        let n_newlines = before.iter().filter(|byte| **byte == b'\n').count();
        let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        // Count characters: continuation bytes of UTF-8 do not start a column.
        let n_chars = before[line..].iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        FileSpan {
            line: start.line + n_newlines as u64,
            column: n_chars as u64 + 1,
            offset: start.offset + span.start as u64,
            length: span.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests;
