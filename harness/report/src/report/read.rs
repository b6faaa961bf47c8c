//! Reads the JSON of a report back into a [`Report`].
//!
//! Only reports of this version of brickbat are read: checks and rules are looked up by their names, and an
//! unknown value is an error with its location. Nothing is judged.

use serde::Deserialize;

use super::{Account, BaselineComparison, Case, Repeats, Report, SCHEMA, Shard, Stopped, Timing};
use crate::baseline::{Disposition, check_named};
use crate::record::{FindingNote, ReceiptNote};
use brickbat_rules::Rule;
use brickbat_scenario::duty::Repaired;
use brickbat_scenario::premise::Premise;
use brickbat_scenario::verdict::{Finding, Verdict};

/// The largest report that is read, in bytes. A case takes about 1 KB, and a run has a few thousand.
pub const MAX_BYTES: usize = 256 << 20;

/// The reason why a report cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("it is larger than {} MiB", MAX_BYTES >> 20)]
    TooLarge,
    /// It is not JSON, or not a report: the location, and the expected content.
    #[error("it is not a report of `brickbat run`: {0}")]
    Malformed(String),
    /// Another version of brickbat has written it.
    #[error("it was written by brickbat {version}, and this is {this}", version = .0, this = env!("CARGO_PKG_VERSION"))]
    Version(String),
    /// A value that is not valid in a report: the location, and the value.
    #[error("at {0}: {1}")]
    Unknown(String, String),
}

/// The part that shows whether the rest can be read.
#[derive(Deserialize)]
struct Head {
    schema: u32,
    brickbat: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenReport {
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
    requirements: Option<String>,
    #[serde(default)]
    selection: Vec<String>,
    #[serde(default)]
    baselines: Vec<BaselineComparison>,
    #[serde(default)]
    shard: Option<Shard>,
    #[serde(default)]
    stopped: Option<Stopped>,
    #[serde(default)]
    timing: Option<Timing>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCase {
    system: String,
    plan: String,
    #[serde(default)]
    premise: Option<Premise>,
    verdict: Verdict,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    findings: Vec<FindingNote>,
    #[serde(default)]
    application: Vec<FindingNote>,
    #[serde(default)]
    repaired: Vec<Repaired>,
    #[serde(default)]
    dispositions: Vec<Disposition>,
    #[serde(default)]
    receipts: Vec<ReceiptNote>,
    #[serde(default)]
    repeats: Option<Repeats>,
    #[serde(default)]
    unconfirmed: bool,
    reproduce: String,
}

impl Report {
    /// Reads a report that this version has written as JSON.
    ///
    /// # Errors
    ///
    /// Fails if the text is anything else.
    pub fn from_json(text: &str) -> Result<Report, ReadError> {
        if text.len() > MAX_BYTES {
            return Err(ReadError::TooLarge);
        }
        let head: Head = read(text)?;
        if head.schema != SCHEMA || head.brickbat != env!("CARGO_PKG_VERSION") {
            return Err(ReadError::Version(head.brickbat));
        }
        let written: WrittenReport = read(text)?;
        if let Some(shard) = written.shard.filter(|shard| shard.checked().is_none()) {
            return Err(ReadError::Unknown("/shard".to_owned(), format!("there is no shard {shard}")));
        }
        let cases = written.cases.into_iter().enumerate().map(|(index, case)| case.read(index));
        let mut cases: Vec<Case> = cases.collect::<Result<_, ReadError>>()?;
        let took = written.timing.iter().flat_map(|timing| &timing.cases_ms);
        cases.iter_mut().zip(took).for_each(|(case, ms)| case.took_ms = Some(*ms));
        let report = Report::new(written.seed, written.profiles, cases);
        if report.summary != written.summary {
            return Err(ReadError::Unknown("/summary".to_owned(), "it does not match the cases".to_owned()));
        }
        let WrittenReport { accounts, requirements, selection, baselines, shard, stopped, timing, .. } =
            written;
        Ok(Report { accounts, requirements, selection, baselines, shard, stopped, timing, ..report })
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
        if !self.dispositions.is_empty() && self.dispositions.len() != self.findings.len() {
            let what = "there must be one disposition for each finding".to_owned();
            return Err(ReadError::Unknown(format!("{place}/dispositions"), what));
        }
        let findings = findings_of(self.findings, &format!("{place}/findings"))?;
        let application = findings_of(self.application, &format!("{place}/application"))?;
        Ok(Case {
            system: self.system,
            plan: self.plan,
            premise: self.premise,
            verdict: self.verdict,
            reason: self.reason,
            findings,
            application,
            repaired: self.repaired,
            dispositions: self.dispositions,
            receipts: self.receipts,
            repeats: self.repeats,
            unconfirmed: self.unconfirmed,
            reproduce: self.reproduce,
            took_ms: None,
            // A report lists its checks in its accounts.
            asked: Vec::new(),
        })
    }
}

fn findings_of(notes: Vec<FindingNote>, place: &str) -> Result<Vec<Finding>, ReadError> {
    let read = |(at, note): (usize, FindingNote)| finding_of(note, &format!("{place}/{at}"));
    notes.into_iter().enumerate().map(read).collect()
}

fn finding_of(note: FindingNote, place: &str) -> Result<Finding, ReadError> {
    let unknown = |key: &str, name: &str| {
        ReadError::Unknown(format!("{place}/{key}"), format!("there is no {key} `{name}`"))
    };
    let check = check_named(&note.check).ok_or_else(|| unknown("check", &note.check))?;
    let known = |name: &String| Rule::all().find(|rule| rule.id == name).ok_or_else(|| unknown("rule", name));
    let rule = note.rule.as_ref().map(known).transpose()?.map(|rule| rule.id);
    let also = findings_of(note.also, &format!("{place}/also"))?;
    let FindingNote {
        severity, permanence, message, place, trigger, calls, model, expected, got, left, ..
    } = note;
    let bare = Finding::new(check, severity, &message);
    let (trigger, calls) = (trigger.unwrap_or(bare.trigger), calls.unwrap_or(bare.calls));
    Ok(Finding { permanence, place, rule, trigger, calls, model, expected, got, also, left, ..bare })
}
