//! A dated result of one system, as it is stored in a file of its own.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_scenario::plan::CONTROL;
use brickbat_scenario::verdict::{Finding, Level, Severity, Verdict};
use serde::{Deserialize, Serialize};

use crate::baseline::{Baseline, Entry, is_date};
use crate::report::short::cause_id;
use crate::report::text::counted;
use crate::report::{Account, Case, Cause, CheckAccount, Report};

/// The version of the format.
const SCHEMA: u32 = 1;

/// The largest result that is read, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// The causes that are kept of one result: more than any system has shown.
const MAX_CAUSES: usize = 200;

/// The characters that are kept of each text: a few lines on a page.
const MAX_CHARS: usize = 600;

/// The bytes of the longest name of a system. A file name may have 255 with the date.
const MAX_NAME: usize = 200;

/// The result of one system on one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    /// The version of this format.
    pub schema: u32,
    /// The system, with version and mode.
    pub system: String,
    /// The day of the run, `YYYY-MM-DD`.
    pub date: String,
    /// The version of Brickbat.
    pub brickbat: String,
    /// The commit of Brickbat, if it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The dated requirements, if all of them ran. Without them there is no level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requirements: Option<String>,
    /// The words that selected the plans; empty if all ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub selection: Vec<String>,
    /// True if the run ended before all plans were judged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// The dialects of the judged plans.
    pub dialects: Vec<String>,
    /// The number of judged plans.
    pub judged: usize,
    /// The number of plans that the system does not support or does not reach.
    pub beyond: usize,
    /// The number of plans that should have been judged and were not.
    pub open: usize,
    /// The level that is reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// Each level, the lowest first.
    pub steps: Vec<Step>,
    /// The number of causes, even if not all are kept.
    pub n_causes: usize,
    /// The causes of failures, those that need no fault first.
    pub causes: Vec<StoredCause>,
}

/// The result for one level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The level.
    pub level: Level,
    /// The judged plans in which no check of this level and of the lower ones found anything.
    pub clean: usize,
    /// The checks of this level that found something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken_by: Vec<String>,
    /// The checks of this level that had nothing to judge in any plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unasked: Vec<String>,
}

/// A cause of failures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredCause {
    /// Its id: 16 hexadecimal digits.
    pub id: String,
    /// The id that it would have in every system: two versions with the same bug share it.
    pub kind: String,
    /// The check that found it.
    pub check: String,
    /// The severity: what the user loses.
    pub severity: String,
    /// Who does the unusual thing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub premise: Option<String>,
    /// True if it needs no fault.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_fault: bool,
    /// The rule of the provider that is broken, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The problem, in one sentence.
    pub message: String,
    /// The expected and the observed behaviour.
    pub expected: String,
    pub got: String,
    /// The number of plans that show it, and the first of them.
    pub n_plans: usize,
    pub plan: String,
    /// The command that runs this plan again.
    pub reproduce: String,
    /// The reason, from the system's baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The public report: an address, or `owner/repository#number`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The state of the public report, such as `open 2026-11-28` or `fixed in 7.0.1 2026-11-28`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

/// An error in a stored result, or in what was to be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoredError {
    /// It is not a result.
    #[error("this is not a stored result: {0}")]
    Form(String),
    /// It has another version of the format.
    #[error("the stored result has the format {0}, and this version of brickbat reads the format {SCHEMA}")]
    Schema(u32),
    /// A value cannot be that of a result.
    #[error("{field} of the stored result is not valid: {value:?}")]
    Value { field: &'static str, value: String },
}

impl Stored {
    /// The results of each system in a report. The baselines give the reasons and public reports of known causes.
    #[must_use]
    pub fn all_of(report: &Report, date: &str, commit: Option<&str>, baselines: &[Baseline]) -> Vec<Stored> {
        // Known causes are part of a result.
        let mut report = report.clone();
        report.cases.iter_mut().for_each(|case| case.dispositions.clear());
        let causes = report.causes();
        let stored = |account: &Account| {
            let cases: Vec<&Case> =
                report.cases.iter().filter(|case| case.system == account.system).collect();
            let judged: Vec<&Case> = cases.iter().copied().filter(|case| case.is_judged()).collect();
            let dialects: BTreeSet<String> =
                judged.iter().filter_map(|case| Some(dialect_of(&case.plan)?.to_owned())).collect();
            let own: Vec<&Cause<'_>> = causes.iter().filter(|cause| cause.system == account.system).collect();
            let beyond = |case: &&&Case| matches!(case.verdict, Verdict::Unsupported | Verdict::Unreachable);
            let n_beyond = cases.iter().filter(beyond).count();
            Stored {
                schema: SCHEMA,
                system: account.system.clone(),
                date: date.to_owned(),
                brickbat: report.brickbat.clone(),
                commit: commit.map(str::to_owned),
                requirements: report.requirements.clone().filter(|_| report.stopped.is_none()),
                selection: report.selection.clone(),
                stopped: report.stopped.is_some(),
                dialects: dialects.into_iter().collect(),
                judged: judged.len(),
                beyond: n_beyond,
                open: cases.len() - judged.len() - n_beyond,
                level: account.level,
                steps: steps(account, &judged),
                n_causes: own.len(),
                causes: own
                    .iter()
                    .take(MAX_CAUSES)
                    .filter_map(|cause| StoredCause::of(cause, baselines))
                    .collect(),
            }
        };
        report.accounts.iter().map(stored).collect()
    }

    /// Reads a stored result.
    ///
    /// # Errors
    ///
    /// The text is not a result of this version, or a value in it is not valid.
    pub fn parse(text: &str) -> Result<Stored, StoredError> {
        let schema: serde_json::Value =
            serde_json::from_str(text).map_err(|error| StoredError::Form(error.to_string()))?;
        match schema["schema"].as_u64() {
            Some(1) => {}
            Some(other) => return Err(StoredError::Schema(u32::try_from(other).unwrap_or(u32::MAX))),
            None => return Err(StoredError::Form("it has no number `schema`".to_owned())),
        }
        let stored: Stored =
            serde_json::from_value(schema).map_err(|error| StoredError::Form(error.to_string()))?;
        let wrong =
            |field, value: &str| Err(StoredError::Value { field, value: value.chars().take(80).collect() });
        if !is_date(&stored.date) {
            return wrong("date", &stored.date);
        }
        if stored.system.is_empty()
            || stored.system.len() > MAX_NAME
            || super::slug(&stored.system).starts_with('.')
        {
            return wrong("system", &stored.system);
        }
        if !stored.steps.iter().map(|step| step.level).eq(Level::ALL) {
            return wrong("steps", &format!("{} levels", stored.steps.len()));
        }
        if let Some(step) = stored.steps.iter().find(|step| step.clean > stored.judged) {
            return wrong("clean", &step.clean.to_string());
        }
        for cause in &stored.causes {
            if !is_id(&cause.id) {
                return wrong("id", &cause.id);
            }
            if !is_id(&cause.kind) {
                return wrong("kind", &cause.kind);
            }
            if cause.severity().is_none() {
                return wrong("severity", &cause.severity);
            }
        }
        Ok(stored)
    }

    /// The result as JSON, ending in a line feed.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a result is JSON") + "\n"
    }

    /// The name of its file.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}.{}.json", super::slug(&self.system), self.date)
    }

    /// True if all plans of the dated requirements were judged.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.requirements.is_some() && self.selection.is_empty() && !self.stopped
    }

    /// The result for the level above the one that is reached; none if the highest is reached.
    pub(super) fn next_step(&self) -> Option<&Step> {
        self.steps.iter().find(|step| self.level.is_none_or(|level| step.level > level))
    }

    /// The share of judged plans in which no check up to a level found anything, in per cent, rounded down.
    pub(super) fn share(&self, step: &Step) -> usize {
        (step.clean * 100).checked_div(self.judged).unwrap_or_default()
    }

    /// The level as a README can quote it, such as `Brickbat 2026-11 · L1`.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{} · {}", self.label(), self.level_words())
    }

    /// The name of the requirements, such as `Brickbat 2026-11`.
    pub(super) fn label(&self) -> String {
        match (&self.requirements, self.is_whole()) {
            (Some(set), true) => format!("Brickbat {set}"),
            _ => "Brickbat".to_owned(),
        }
    }

    /// The level, or the share of the lowest one. A part of the requirements reaches no level.
    pub(super) fn level_words(&self) -> String {
        if self.judged == 0 {
            return "not judged".to_owned();
        }
        let share = self.steps.first().map_or(0, |step| self.share(step));
        match self.level {
            Some(level) if self.is_whole() => level.name().to_owned(),
            _ if self.is_whole() => format!("L0 {share}%"),
            _ => format!("part run of {}, L0 {share}%", counted(self.judged, "plan")),
        }
    }

    /// The plans that ran, in words.
    pub(super) fn coverage(&self) -> String {
        let dialects = self.dialects.join(", ");
        let end = if self.stopped { "; stopped early" } else { "" };
        match (&self.requirements, self.selection.as_slice()) {
            (Some(set), []) => format!("all of {set}, in {dialects}{end}"),
            (_, []) => format!("only in {dialects}{end}"),
            (_, words) => format!("only {}, in {dialects}{end}", words.join(" ")),
        }
    }

    /// True if another result covers the same plans.
    pub(super) fn is_like(&self, other: &Stored) -> bool {
        let whole = !self.stopped && !other.stopped;
        whole
            && (&self.requirements, &self.selection, &self.dialects)
                == (&other.requirements, &other.selection, &other.dialects)
    }
}

fn steps(account: &Account, judged: &[&Case]) -> Vec<Step> {
    let level_of: BTreeMap<&str, Level> =
        account.checks.iter().map(|check| (check.check.as_str(), check.level)).collect();
    let lowest = |case: &Case| {
        let all = case.findings.iter().flat_map(|finding| std::iter::once(finding).chain(&finding.also));
        all.filter_map(|finding| level_of.get(finding.check)).min().copied()
    };
    let broken: Vec<Option<Level>> = judged.iter().map(|case| lowest(case)).collect();
    let step = |level: Level| {
        let clean = broken.iter().filter(|lowest| lowest.is_none_or(|lowest| lowest > level)).count();
        let named = |is: &dyn Fn(&CheckAccount) -> bool| -> Vec<String> {
            let own = account.checks.iter().filter(|check| check.level == level && is(check));
            own.map(|check| check.check.clone()).collect()
        };
        let broken_by = named(&|check| check.found > 0);
        let unasked = named(&|check| check.spoke == 0 && check.of_application == 0);
        Step { level, clean, broken_by, unasked }
    };
    Level::ALL.into_iter().map(step).collect()
}

impl StoredCause {
    fn of(cause: &Cause<'_>, baselines: &[Baseline]) -> Option<StoredCause> {
        let (case, finding) = cause.example()?;
        let entry = entry_of(case, finding, baselines);
        Some(StoredCause {
            id: cause.id(),
            kind: cause_id("", &cause.signature),
            check: finding.check.to_owned(),
            severity: finding.severity.name().to_owned(),
            premise: cause.premise().map(|premise| premise.name().to_owned()),
            without_fault: cause.fails_without_fault(),
            rule: finding.rule.map(str::to_owned),
            message: cut(&finding.message),
            expected: cut(&finding.expected),
            got: cut(&finding.got),
            n_plans: cause.shown.len(),
            plan: case.plan.clone(),
            reproduce: case.reproduce.clone(),
            reason: entry.map(|entry| entry.reason.clone()).filter(|reason| !reason.is_empty()),
            thread: entry.and_then(Entry::link).map(str::to_owned),
            state: entry.and_then(Entry::state).map(|state| state.words()),
        })
    }

    pub(super) fn severity(&self) -> Option<Severity> {
        Severity::ALL.into_iter().find(|severity| severity.name() == self.severity)
    }
}

fn entry_of<'b>(case: &Case, finding: &Finding, baselines: &'b [Baseline]) -> Option<&'b Entry> {
    let shown = case.plan_findings();
    baselines.iter().find_map(|baseline| Some(&baseline.entries[baseline.entry_of(&shown, finding)?]))
}

/// The dialect in the id of a plan.
fn dialect_of(plan: &str) -> Option<&str> {
    let (_, dialect) = plan.rsplit_once('@')?;
    Some(dialect.strip_suffix(CONTROL).unwrap_or(dialect))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn is_id(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}
