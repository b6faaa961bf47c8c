//! A request held against the rules, as `brickbat check` shows it: bytes in, findings with place and excerpt out.
//!
//! It knows no files: who reads them says where a text comes from, and [`Report`] writes what was found.

mod bench;
mod excerpt;
mod github;
mod json;
mod report;
mod sarif;
mod stream;
mod text;

use std::ops::Range;

use crate::dialect::Dialect;
use crate::json::{self as body, Part};
use crate::rules::{self, Profile, Rule, UnionViolation};

pub use bench::{Bench, Strictness};
pub use excerpt::{Excerpt, Line, conversation};
pub use report::{Format, Report, Tally};
pub use sarif::streams_to_sarif;
pub use stream::{is_sound, stream_to_github, stream_to_json, stream_to_text, unjudged_to_github};

/// By what a request is judged.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// The dialect, if it need not be guessed. A profile has its own.
    pub dialect: Option<Dialect>,
    /// How strict the provider is.
    pub strictness: Strictness,
    /// Rules whose breaches are passed over.
    pub off: Vec<&'static Rule>,
    /// Rules whose breach is an error even where the provider would take it.
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

/// A request with what is wrong with it.
#[derive(Debug, Clone)]
pub struct Audited {
    /// Who judged.
    pub bench: Bench,
    /// The line on which the request begins, from 1.
    pub line: u64,
    /// The first [`MAX_FINDINGS`], in the order in which the provider checks.
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub n_more: usize,
    /// The status of the first refusal; nothing if every provider takes the request.
    pub status: Option<u16>,
    /// The profiles that refuse it, the dialect's default first.
    pub refused_by: Vec<&'static str>,
    /// Whether a denied rule is broken by a request that the provider takes.
    pub is_denied: bool,
}

/// A breach of a rule at a place of a file.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// What comes of it.
    pub level: Level,
    /// The JSON pointer into the text; into the list, where that stands alone.
    pub pointer: String,
    /// The provider's sentence; of several providers, that of the first that minds.
    pub message: String,
    /// The profiles that refuse the request because of it.
    pub refused_by: Vec<&'static str>,
    /// The profiles that warn of it.
    pub warned_by: Vec<&'static str>,
    /// Where it stands in the file.
    pub place: Place,
    /// What stands there.
    pub excerpt: Excerpt,
}

/// What comes of a breach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The provider refuses the request.
    Refused,
    /// The provider takes it, but the user does not.
    Denied,
    /// The provider takes it; others, older ones or stricter ones do not.
    Warning,
}

/// A stretch of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Place {
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
pub enum Unjudged {
    /// It is not JSON; with the reader's complaint.
    NotJson(String),
    /// It is JSON, but neither a request nor a list of messages.
    NoConversation,
    /// Several dialects could have written it, or one that is not known here.
    NoDialect,
}

/// Findings that are kept of one request. A broken session has a handful; the others are counted.
pub const MAX_FINDINGS: usize = 100;

impl Audited {
    /// How many findings there are of that level.
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }
}

/// Judges a request body, a bare list of messages, or a row that holds a body in its field `request`.
///
/// # Errors
///
/// The text is not JSON, or it is not known what it is.
pub fn audit(text: &[u8], start: Start, terms: &Terms) -> Result<Audited, Unjudged> {
    let row = row_of(text);
    let subject = Subject::of(text, row.as_ref());
    let told = || row.as_ref().and_then(|row| row.dialect).or_else(|| rules::detect(subject.bytes));
    let dialect = || terms.dialect.or_else(told);
    let bench = match terms.strictness {
        Strictness::Profile(profile) => Some(Bench::Profile(profile)),
        Strictness::Newest => dialect().map(|dialect| Bench::Profile(Profile::newest(dialect))),
        Strictness::Union => dialect().map(Bench::Union),
    };
    let Some(bench) = bench else {
        return Err(unknown(text));
    };
    let mut breaches = bench.judge(&subject);
    breaches.retain(|breach| !terms.off.iter().any(|rule| rule.id == breach.violation.rule.id));
    let status = breaches.iter().find(|breach| !breach.refused_by.is_empty());
    let status = status.map(|breach| breach.violation.status());
    let refused_by = refused_by(bench.dialect(), &breaches);
    let level = |breach: &UnionViolation| match breach.refused_by.is_empty() {
        false => Level::Refused,
        true if terms.denied.iter().any(|rule| rule.id == breach.violation.rule.id) => Level::Denied,
        true => Level::Warning,
    };
    let is_denied = breaches.iter().any(|breach| level(breach) == Level::Denied);
    let n_more = breaches.len().saturating_sub(MAX_FINDINGS);
    breaches.truncate(MAX_FINDINGS);
    let list = rules::list_of(bench.dialect());
    // A body that breaks nothing has been read to its end, so only now is it known that this one is JSON.
    let excerpts = match breaches.is_empty() {
        true => Vec::new(),
        false => {
            let pointers: Vec<&str> =
                breaches.iter().map(|breach| breach.violation.pointer.as_str()).collect();
            excerpt::excerpts(&subject, list, &pointers)
                .map_err(|error| Unjudged::NotJson(error.to_string()))?
        }
    };
    let findings = breaches.into_iter().zip(excerpts).map(|(breach, (span, excerpt))| {
        let span = span.start + subject.offset..span.end + subject.offset;
        let level = level(&breach);
        let UnionViolation { violation, refused_by, warned_by } = breach;
        Finding {
            rule: violation.rule,
            level,
            pointer: subject.pointer(violation.pointer, list),
            message: violation.message,
            refused_by: names(&refused_by),
            warned_by: names(&warned_by),
            place: Place::of(text, span, start),
            excerpt,
        }
    });
    let findings = findings.collect();
    Ok(Audited { bench, line: start.line, findings, n_more, status, refused_by, is_denied })
}

/// Everyone who refuses a body because of one of these breaches.
fn refused_by(dialect: Dialect, breaches: &[UnionViolation]) -> Vec<&'static str> {
    let refuses = |name: &&str| {
        breaches.iter().any(|breach| breach.refused_by.iter().any(|profile| profile.name == *name))
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
    /// Where it begins in the text.
    offset: usize,
    /// Whether it is a bare list of messages.
    is_list: bool,
    /// The pointer to it in the text.
    prefix: &'static str,
}

impl<'a> Subject<'a> {
    fn of(text: &'a [u8], row: Option<&Row>) -> Subject<'a> {
        let range = row.map_or(0..text.len(), |row| row.request.clone());
        let bytes = &text[range.clone()];
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        let prefix = if row.is_some() { "/request" } else { "" };
        Subject { bytes, offset: range.start, is_list: first == Some(&b'['), prefix }
    }

    /// A pointer into the text, made from one into the body that the rules judged.
    fn pointer(&self, pointer: String, list: &str) -> String {
        let own = match self.is_list {
            true => pointer.strip_prefix('/').and_then(|rest| rest.strip_prefix(list)).unwrap_or(&pointer),
            false => &pointer,
        };
        format!("{}{own}", self.prefix)
    }
}

/// A row of a recording: a request beside other things.
struct Row {
    request: Range<usize>,
    dialect: Option<Dialect>,
}

fn row_of(text: &[u8]) -> Option<Row> {
    // Most texts are no rows, and this tells it soon.
    if !std::str::from_utf8(text).is_ok_and(|text| text.contains("\"request\"")) {
        return None;
    }
    let (mut found, mut has_messages) = (None, false);
    let read = body::walk(text, "messages", |part| match part {
        Part::Rest(row) => {
            let request = row.field("request");
            let is_row = request.is_object() || request.is_array();
            let dialect = row.field("dialect").as_str().and_then(|name| Dialect::from_name(&name));
            found = is_row.then(|| Row { request: request.span(), dialect });
        }
        _ => has_messages = true,
    });
    read.ok()?;
    found.filter(|_| !has_messages)
}

/// Why no dialect was found.
fn unknown(text: &[u8]) -> Unjudged {
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
        Err(error) => Unjudged::NotJson(error.to_string()),
        Ok(()) if is_conversation => Unjudged::NoDialect,
        Ok(()) => Unjudged::NoConversation,
    }
}

impl Place {
    fn of(text: &[u8], span: Range<usize>, start: Start) -> Place {
        let before = &text[..span.start.min(text.len())];
        let n_newlines = before.iter().filter(|byte| **byte == b'\n').count();
        let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        // Bytes that continue a character are no columns.
        let n_chars = before[line..].iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        Place {
            line: start.line + n_newlines as u64,
            column: n_chars as u64 + 1,
            offset: start.offset + span.start as u64,
            length: span.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests;
