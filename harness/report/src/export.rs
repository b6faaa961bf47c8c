//! A finding as a test for the affected project: self-contained, red on the affected version, and green once
//! the bug is fixed.
//!
//! The test is generated only from a case's [`Record`]. The provider's replies become a stub, byte for byte.
//! The user's and the tools' actions become lines in the test, each waiting for everything that was observed
//! before it. The fault becomes one small assertion. The system's template shows how an application uses the
//! SDK. A case that a test in one process cannot express, such as the death of a process, is refused. No
//! test is exported partially.

mod assertion;
mod code;
mod issue;
mod packages;
mod page;
mod replies;
mod rules;
mod story;
mod template;
mod words;

use crate::baseline::Baseline;
use crate::record::{FindingNote, Record};
use assertion::Assertion;
use page::Page;
use story::Story;

pub use assertion::NoAssertion;
pub use packages::Package;
pub use template::{Mistake, TemplateError};

/// The test framework that a test is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framework {
    /// Vitest, in JavaScript.
    Vitest,
    /// The Node.js test runner.
    NodeTest,
    /// pytest, in Python.
    Pytest,
}

/// The language of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    JavaScript,
    Python,
}

/// The system of a record, as far as the record does not describe it.
#[derive(Debug, Clone)]
pub struct Target<'a> {
    /// Its name, such as `ai-sdk`.
    pub system: &'a str,
    /// The package that is tested, such as `ai`.
    pub sdk: &'a str,
    /// The version on which the finding was seen.
    pub version: &'a str,
    /// The mode in which it was used, such as `ui-messages`.
    pub mode: &'a str,
    /// How an application uses it: a template, see `harness/systems/README.md`.
    pub template: &'a str,
    /// A template with the headings of the project's issues, if the system has one.
    pub issue: Option<&'a str>,
    /// The packages of the adapter with their versions, which include those that the test needs.
    pub packages: &'a [Package],
    /// The system's known findings, which may contain the reason and the public report for this one.
    pub baseline: Option<&'a Baseline>,
}

/// A finding as a set of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The assertion of the test, in a sentence.
    pub title: String,
    /// The test first, then its package file and the issue text.
    pub files: Vec<ExportFile>,
}

/// One file of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFile {
    /// Its name, without a folder.
    pub name: String,
    pub text: String,
}

/// The reason why a finding cannot be exported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("no finding of the case counts, so there is nothing to export")]
    NoFinding,
    #[error("the case has no finding of the check `{0}`")]
    NoSuchFinding(String),
    #[error("the case was not driven, so it has no requests")]
    NotDriven,
    #[error("no test can express any of its findings:{}", list(.0))]
    NoAssertion(Vec<(String, NoAssertion)>),
    #[error("a test in one process cannot express this: {0}")]
    Story(String),
    #[error("the template of `{system}` cannot express this: {why}")]
    Template { system: String, why: String },
    #[error("the template of `{system}` cannot express this: {source}")]
    WrongTemplate { system: String, source: TemplateError },
}

fn list(reasons: &[(String, NoAssertion)]) -> String {
    reasons.iter().map(|(check, reason)| format!("\n  {check}: {reason}")).collect()
}

impl Framework {
    fn language(self) -> Language {
        match self {
            Framework::Vitest | Framework::NodeTest => Language::JavaScript,
            Framework::Pytest => Language::Python,
        }
    }

    /// A system's file that shows how an application uses it, in the language of the framework.
    pub fn template(self) -> &'static str {
        match self.language() {
            Language::JavaScript => "export.mjs",
            Language::Python => "export.py",
        }
    }
}

/// Generates a test from a finding: the first that a test can express, or the first of the requested check.
///
/// # Errors
///
/// The reason why there is no such test.
pub fn export(
    record: &Record,
    target: &Target<'_>,
    framework: Framework,
    check: Option<&str>,
) -> Result<Export, Refusal> {
    let observed = record.observed.as_ref().ok_or(Refusal::NotDriven)?;
    let (finding, assertion) = choose(record, check)?;
    let story = Story::of(record, observed, &assertion)?;
    let replies = replies::of(record, observed, &story)?;
    let page =
        Page { record, target, framework, finding, assertion: &assertion, story: &story, replies: &replies };
    let test = page.test()?;
    let packages = packages::file(&test, target.packages, framework);
    let issue = issue::text(&page, &test, &packages)?;
    Ok(Export { title: page.title(), files: vec![test, packages, issue] })
}

/// The finding that is exported, with its assertion.
fn choose<'a>(record: &'a Record, check: Option<&str>) -> Result<(&'a FindingNote, Assertion), Refusal> {
    let is_asked = |finding: &&FindingNote| check.is_none_or(|check| finding.check == check);
    let asked: Vec<&FindingNote> = record.case.all_findings().filter(is_asked).collect();
    match check {
        _ if record.case.findings.is_empty() => return Err(Refusal::NoFinding),
        Some(check) if asked.is_empty() => return Err(Refusal::NoSuchFinding(check.to_owned())),
        _ => {}
    }
    let mut reasons = Vec::new();
    for finding in asked {
        match Assertion::of(record, finding) {
            Ok(assertion) => return Ok((finding, assertion)),
            Err(reason) => reasons.push((finding.check.clone(), reason)),
        }
    }
    Err(Refusal::NoAssertion(reasons))
}
