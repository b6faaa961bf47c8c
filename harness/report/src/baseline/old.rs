//! The previous format: entries that list plans, of systems with their versions.
//!
//! It is read only to be rewritten in the current format without losing a reason: each entry becomes one that
//! is restricted to the plans that it lists.

use serde::Deserialize;
use serde_json::Value;

use super::read::squeeze;
use super::{Baseline, Entry, NOT_REPORTED};
use brickbat_engine::checks::CHECKS;
use brickbat_scenario::parse::{self, Diagnostic};
use brickbat_scenario::verdict::Severity;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OldFile {
    #[serde(rename = "schema")]
    _schema: u32,
    system: String,
    entries: Vec<OldEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OldEntry {
    check: String,
    #[serde(default)]
    #[serde(rename = "harm")]
    severity: Option<Severity>,
    #[serde(default)]
    systems: Vec<String>,
    reason: String,
    #[serde(default)]
    link: Option<String>,
    #[serde(default)]
    flaky: bool,
    plans: Vec<String>,
}

/// True if a text is in the previous format.
pub(super) fn is_old(text: &str) -> bool {
    let head: Result<Value, Diagnostic> = parse::document("", text, |_| None);
    head.is_ok_and(|head| head["schema"] == 1)
}

/// Reads a file in the previous format.
pub(super) fn parse(text: &str, file_name: &str) -> Result<Baseline, Diagnostic> {
    let file: OldFile = parse::document(file_name, text, |_| None)?;
    let system = unpinned(&file.system);
    let entries = file.entries.into_iter().map(|entry| converted(entry, &system)).collect();
    Ok(Baseline { file: file_name.to_owned(), system, entries })
}

fn converted(old: OldEntry, system: &str) -> Entry {
    let of_check = CHECKS.iter().find(|check| check.id == old.check).map(|check| check.severity);
    let mut reason = old.reason;
    squeeze(&mut reason);
    Entry {
        severity: old.severity.or(of_check).unwrap_or(Severity::MILDEST),
        check: old.check,
        rule: None,
        actions: Vec::new(),
        systems: old.systems.iter().map(|name| narrowed(name, system)).collect(),
        cases: old.plans,
        reason,
        classes: Vec::new(),
        reported: old.link.unwrap_or_else(|| NOT_REPORTED.to_owned()),
        flaky: old.flaky,
        shown: Vec::new(),
    }
}

/// `ai-sdk` for `ai-sdk@6.*/*`: the name without a pattern of versions and modes.
fn unpinned(pattern: &str) -> String {
    let (name, rest) = pattern.split_at(pattern.find('@').filter(|at| *at > 0).unwrap_or(pattern.len()));
    match rest.split_once('/') {
        // One version was meant, and every mode.
        Some((version, "*")) if !version.contains('*') => format!("{name}{version}"),
        _ if !rest.contains('*') => pattern.to_owned(),
        _ => name.to_owned(),
    }
}

/// `ai-sdk/ui-messages` for `*/ui-messages`; a pattern that names one system stays.
fn narrowed(pattern: &str, system: &str) -> String {
    match pattern.rsplit_once('/') {
        Some((version, mode)) if version.contains('*') => format!("{system}/{mode}"),
        _ => pattern.to_owned(),
    }
}
