//! Checks of requests, as `brickbat check` shows them: bytes in, findings with place and excerpt out.
//!
//! It opens no files: the caller says where a text comes from, and [`CheckReport`] writes the findings.

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
mod text;

use std::fmt;
use std::ops::Range;

use crate::json::{self as body, Part};
use crate::{self as rules, Address, Dialect, Profile, Rule, UnionViolation, validate};
use addressee::{Addressee, Around};

pub use addressee::Basis;
pub use excerpt::{Excerpt, Line, conversation};
pub use providers::{Providers, Strictness};
#[cfg(feature = "recordings")]
pub use recorded::{check_recorded, line_offsets};
pub use report::{CheckFormat, CheckReport, Tally};
pub use sarif::streams_to_sarif;
pub use stream::{is_sound, stream_to_github, stream_to_json, stream_to_text, unjudged_to_github};

/// How a request is checked.
#[derive(Debug, Clone, Default)]
pub struct CheckOptions {
    /// The dialect, if the request need not show it. A profile has its own.
    pub dialect: Option<Dialect>,
    /// How strict the provider is.
    pub strictness: Strictness,
    /// Who answers, and what the path says; else what stands around the request.
    pub address: Address,
    /// The model that is asked, whatever stands in or around the request.
    pub model: Option<String>,
    /// Rules whose violations are ignored.
    pub off: Vec<&'static Rule>,
    /// Rules whose violation is an error even where the provider would accept it.
    pub denied: Vec<&'static Rule>,
}

/// Where a text begins in its file.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    /// Its line, from 1.
    pub line: u64,
    /// Its first byte, from 0.
    pub offset: u64,
}

/// A request with its findings.
#[derive(Debug, Clone)]
pub struct CheckedRequest {
    /// Who judged.
    pub providers: Providers,
    /// Why it is they who judged.
    pub basis: Basis,
    /// The host, if it is known.
    pub host: Option<String>,
    /// The model, if it is known.
    pub model: Option<String>,
    /// If it is not: the rules that bind for some models only, and so were not held against the request, or not in full.
    pub rules_by_model: Vec<&'static str>,
    /// The line on which the request begins, from 1.
    pub line: u64,
    /// The first [`MAX_FINDINGS`], in the order in which the provider checks.
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub n_more: usize,
    /// The status of the first refusal; nothing if every provider accepts the request.
    pub status: Option<u16>,
    /// The profiles that refuse it, the dialect's default first.
    pub refused_by: Vec<&'static str>,
    /// Whether a denied rule is broken by a request that the provider accepts.
    pub is_denied: bool,
}

/// A violation of a rule at a place of a file.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The consequence.
    pub level: Level,
    /// The JSON pointer into the text; into the list, where that stands alone.
    pub pointer: String,
    /// The provider's sentence; of several providers, that of the first that objects.
    pub message: String,
    /// The profiles that refuse the request because of it.
    pub refused_by: Vec<&'static str>,
    /// The profiles that warn of it.
    pub warned_by: Vec<&'static str>,
    /// Where it stands in the file.
    pub place: FileSpan,
    /// What stands there.
    pub excerpt: Excerpt,
}

/// The consequence of a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The provider refuses the request.
    Refused,
    /// The provider accepts it, but the user does not.
    Denied,
    /// The provider accepts it; others, older ones or stricter ones do not.
    Warning,
}

/// A stretch of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct FileSpan {
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1.
    pub column: u64,
    /// First byte in the file, from 0.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

/// Why a text could not be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckError {
    /// It is not JSON; with the reader's error.
    NotJson(String),
    /// It is JSON, but neither a request nor a list of messages.
    NoConversation,
    /// Several dialects could have written it, or one that is not known here.
    NoDialect,
    /// It is written for a known API that Brickbat does not speak, of this name.
    NotSpoken(String),
    /// No profile is known for this dialect at this host.
    NoProfile {
        /// The dialect.
        dialect: Dialect,
        /// The host.
        host: String,
    },
    /// It is a recorded request that asks for no reply: an upload, an embedding, a list of models.
    NoReply,
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::NotJson(words) => write!(f, "not JSON: {words}"),
            CheckError::NoConversation => f.write_str("neither a request nor a list of messages"),
            CheckError::NoDialect => f.write_str("the text does not show its dialect"),
            CheckError::NotSpoken(name) => write!(f, "written for {name}, which is not spoken"),
            CheckError::NoProfile { dialect, host } => {
                write!(f, "no profile known for {dialect} at {host}")
            }
            CheckError::NoReply => f.write_str("a request that asks for no reply"),
        }
    }
}

impl std::error::Error for CheckError {}

/// Findings that are kept of one request. A broken session has a handful; the others are counted.
pub const MAX_FINDINGS: usize = 100;

impl CheckedRequest {
    /// How many findings there are of that level.
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }
}

/// Judges a request body, a bare list of messages, or a row that holds a body in its field `request`.
///
/// # Errors
///
/// The text is not JSON, or not recognised as a request.
pub fn check(text: &[u8], start: Start, options: &CheckOptions) -> Result<CheckedRequest, CheckError> {
    let readable = body::without_halves(text);
    let row = row_of(&readable);
    let subject = Subject::of(text, &readable, row.as_ref());
    let around = row.map(|row| row.around).unwrap_or_default();
    let place = |span: Range<usize>| FileSpan::of(text, span, start);
    judge(&subject, &around, start.line, options, place).map_err(|error| match error {
        CheckError::NoDialect => unknown(&readable),
        error => error,
    })
}

/// Where the request stands in a text that [`check`] takes: the whole of it, or the field `request` of a row.
pub fn request_in(text: &[u8]) -> Range<usize> {
    row_of(&body::without_halves(text)).map_or(0..text.len(), |row| row.request)
}

/// Judges what is known to be a request; `place` says where in its file a stretch of it stands.
fn judge(
    subject: &Subject,
    around: &Around,
    line: u64,
    options: &CheckOptions,
    place: impl Fn(Range<usize>) -> FileSpan,
) -> Result<CheckedRequest, CheckError> {
    let Addressee { providers, basis, host, model, to_name } = Addressee::of(subject, around, options)?;
    let mut violations = match subject.is_list {
        true => providers.judge_list(subject.bytes, model.as_deref()),
        false => providers.judge(&validate::naming(subject.bytes, to_name.as_deref()), model.as_deref()),
    };
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
    // A body that breaks nothing has been read to its end, so only now is it known that this one is JSON.
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

/// Everyone who refuses a body because of one of these violations.
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

/// What is judged: a stretch of a text.
struct Subject<'a> {
    bytes: &'a [u8],
    /// The same without halves of characters, which providers refuse, and with which nothing else could be read.
    readable: &'a [u8],
    /// Where it begins in the text.
    offset: usize,
    /// Whether it is a bare list of messages.
    is_list: bool,
    /// The pointer to it in the text.
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

    /// Places what is said of the whole body at the first half of a character, if that is what is wrong with it.
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

    /// A pointer into the text, made from one into the body that the rules judged.
    fn pointer(&self, pointer: String, list: &str) -> String {
        let own = if self.is_list {
            pointer.strip_prefix('/').and_then(|rest| rest.strip_prefix(list)).unwrap_or(&pointer)
        } else {
            &pointer
        };
        format!("{}{own}", self.prefix)
    }
}

/// A row of a recording: a request among other things.
struct RequestRow {
    request: Range<usize>,
    around: Around,
}

fn row_of(text: &[u8]) -> Option<RequestRow> {
    // Most texts are no rows, and this tells it soon.
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

/// Why no dialect was found.
fn unknown(text: &[u8]) -> CheckError {
    let mut is_conversation = false;
    let mut look = |part: Part<'_, '_>| match part {
        Part::Begin => {}
        Part::Item(_, message) => {
            is_conversation |= ["role", "parts", "type"].iter().any(|field| message.get(field).is_some());
        }
        Part::Rest(body) => {
            is_conversation |=
                ["messages", "contents", "input"].iter().any(|field| body.get(field).is_some());
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
        // Bytes that continue a character are no columns.
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
