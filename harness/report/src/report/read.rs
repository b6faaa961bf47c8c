//! From the JSON of a report back to a [`Report`].
//!
//! Only what this version of brickbat has written is read: checks and rules are looked up by their names, and a file
//! that says what no report says is refused with the place of it. Nothing is judged.

use std::fmt;

use serde::Deserialize;

use super::{Account, Case, Held, Repeats, Report, SCHEMA, Shard, Timing};
use crate::baseline::{Disposition, check_named};
use crate::record::ReceiptNote;
use brickbat_rules::Rule;
use brickbat_scenario::verdict::{Finding, Permanence, Severity, Verdict};

/// The largest report that is read, in bytes. A case takes about 1 KB, and a run has some thousands.
pub const MAX_BYTES: usize = 256 << 20;

/// Why a report cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError {
    /// It is larger than [`MAX_BYTES`].
    TooLarge,
    /// It is no JSON, or not that of a report: where, and what was expected.
    Malformed(String),
    /// Another version of brickbat has written it.
    Version(String),
    /// A value that no report has: where, and what it is.
    Unknown(String, String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::TooLarge => write!(f, "it is larger than {} MiB", MAX_BYTES >> 20),
            ReadError::Malformed(what) => write!(f, "it is no report of `brickbat run`: {what}"),
            ReadError::Version(version) => {
                write!(f, "brickbat {version} has written it, and this is {}", env!("CARGO_PKG_VERSION"))
            }
            ReadError::Unknown(pointer, what) => write!(f, "at {pointer}: {what}"),
        }
    }
}

impl std::error::Error for ReadError {}

/// The part that says whether the rest can be read.
#[derive(Deserialize)]
struct Head {
    schema: u32,
    brickbat: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(rename = "schema")]
    _schema: u32,
    #[serde(rename = "brickbat")]
    _brickbat: String,
    seed: u64,
    profiles: Vec<String>,
    cases: Vec<WrittenCase>,
    summary: std::collections::BTreeMap<String, usize>,
    accounts: Vec<Account>,
    #[serde(default)]
    baselines: Vec<Held>,
    #[serde(default)]
    shard: Option<Shard>,
    #[serde(default)]
    timing: Option<Timing>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCase {
    system: String,
    plan: String,
    verdict: Verdict,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    findings: Vec<WrittenFinding>,
    #[serde(default)]
    dispositions: Vec<Disposition>,
    #[serde(default)]
    receipts: Vec<ReceiptNote>,
    #[serde(default)]
    repeats: Option<Repeats>,
    reproduce: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFinding {
    check: String,
    harm: Severity,
    #[serde(default)]
    permanence: Option<Permanence>,
    message: String,
    #[serde(rename = "where")]
    place: String,
    #[serde(default)]
    rule: Option<String>,
    expected: String,
    got: String,
}

impl Report {
    /// Reads a report that this version has written as JSON.
    ///
    /// # Errors
    ///
    /// When it is anything else.
    pub fn from_json(text: &str) -> Result<Report, ReadError> {
        if text.len() > MAX_BYTES {
            return Err(ReadError::TooLarge);
        }
        let head: Head = read(text)?;
        if head.schema != SCHEMA || head.brickbat != env!("CARGO_PKG_VERSION") {
            return Err(ReadError::Version(head.brickbat));
        }
        let written: Written = read(text)?;
        if let Some(shard) = written.shard.filter(|shard| shard.checked().is_none()) {
            return Err(ReadError::Unknown("/shard".to_owned(), format!("there is no shard {shard}")));
        }
        let cases = written.cases.into_iter().enumerate().map(|(index, case)| case.read(index));
        let cases: Vec<Case> = cases.collect::<Result<_, ReadError>>()?;
        let report = Report::new(written.seed, written.profiles, cases);
        if report.summary != written.summary {
            return Err(ReadError::Unknown("/summary".to_owned(), "it is not that of the cases".to_owned()));
        }
        let Written { accounts, baselines, shard, timing, .. } = written;
        Ok(Report { accounts, baselines, shard, timing, ..report })
    }
}

fn read<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, ReadError> {
    let deserializer = &mut serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let path = error.path().to_string();
        let what = error.into_inner().to_string();
        ReadError::Malformed(if path == "." { what } else { format!("{path}: {what}") })
    })
}

impl WrittenCase {
    fn read(self, index: usize) -> Result<Case, ReadError> {
        let place = format!("/cases/{index}");
        if !matches!(self.dispositions.len(), 0) && self.dispositions.len() != self.findings.len() {
            let what = "there is not one disposition for each finding".to_owned();
            return Err(ReadError::Unknown(format!("{place}/dispositions"), what));
        }
        let read = |(at, finding): (usize, WrittenFinding)| finding.read(&format!("{place}/findings/{at}"));
        let findings = self.findings.into_iter().enumerate().map(read).collect::<Result<_, ReadError>>()?;
        Ok(Case {
            system: self.system,
            plan: self.plan,
            verdict: self.verdict.name().to_owned(),
            reason: self.reason,
            findings,
            dispositions: self.dispositions,
            receipts: self.receipts,
            repeats: self.repeats,
            reproduce: self.reproduce,
            judged: self.verdict,
            // A report tells of its checkers in its accounts.
            asked: Vec::new(),
        })
    }
}

impl WrittenFinding {
    fn read(self, place: &str) -> Result<Finding, ReadError> {
        let unknown = |key: &str, what: &str, name: &str| {
            ReadError::Unknown(format!("{place}/{key}"), format!("there is no {what} `{name}`"))
        };
        let check = check_named(&self.check).ok_or_else(|| unknown("check", "check", &self.check))?;
        let rule = match &self.rule {
            Some(name) => {
                let known = Rule::all().find(|rule| rule.id == name);
                Some(known.ok_or_else(|| unknown("rule", "rule", name))?.id)
            }
            None => None,
        };
        Ok(Finding {
            check,
            harm: self.harm,
            permanence: self.permanence,
            message: self.message,
            place: self.place,
            rule,
            expected: self.expected,
            got: self.got,
        })
    }
}
