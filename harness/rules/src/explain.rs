//! The pages about rules: each rule's requirement and the reason for it, how to fix a history, and
//! the evidence.
//!
//! A page is generated from the rule's table, the profiles, and the rule's vectors, which serve as
//! examples. Pages about stream rules are short: the requirement, the meaning of a violation, and the
//! source.

mod clients;
mod counts;
mod error;
mod foreign;
mod html;
mod kinds;
mod located;
mod near;
mod neighbours;
mod path;
mod pydantic;
mod reported;
mod said;
mod site;
mod text;
mod topics;

use crate::check::{self, CheckOptions, Start, Strictness};
use crate::lint::{Vector, VectorFile};
use crate::streams::StreamRule;
use crate::{self as rules, Confidence, Memory, Profile, Rule, Severity, Violation};

use counts::RuleCount;

pub use clients::{CLIENT_ERRORS, ClientError};
pub use counts::{Collection, Counts, RuleCounts};
pub use error::{client_pages, error_pages, refusal_in, rules_near, sure_error_pages};
pub use near::{Answer, Near, Vocabulary, answer, nearest};
pub use reported::{Reported, Reports, Subject};
pub use said::{Wordings, is_said_by, rules_saying};
pub use site::{chapters, site};
pub use text::{stream_text, text};
pub use topics::about;

/// The contents of a page.
struct Page {
    rule: &'static Rule,
    /// The position among the checks of its dialect, from 1, and their number.
    order: (usize, usize),
    enforced: Vec<&'static Profile>,
    tolerated: Vec<&'static Profile>,
    lacking: Vec<&'static Profile>,
    /// The hosts with this rule.
    hosts: Vec<String>,
    /// The results from recordings, as text.
    recorded: Vec<String>,
    /// True if a recorded rejection confirms the rule.
    is_recorded: bool,
    before: Option<Example>,
    after: Option<Example>,
    /// The error body in the example.
    envelope: Option<String>,
}

/// A history and the provider's reply.
struct Example {
    comment: String,
    lines: Vec<String>,
    said: String,
}

/// A placeholder for the id that a provider gives to each request.
const REQUEST_ID: &str = "req_1";

impl Page {
    fn of(rule: &'static Rule, vectors: Option<&VectorFile>, counts: &Counts) -> Page {
        let of_dialect = || Rule::all().filter(|other| other.dialect() == rule.dialect());
        let at = of_dialect().position(|other| other.id == rule.id).unwrap_or_default();
        let profiles = |severity: Option<Severity>| {
            let profiles = Profile::all().filter(|profile| profile.dialect == rule.dialect());
            profiles.filter(|profile| profile.severity(rule) == severity).collect()
        };
        let of_recordings = counts.of_rule(rule);
        let (before, after) = vectors.map_or((None, None), VectorFile::example);
        Page {
            rule,
            order: (at + 1, of_dialect().count()),
            enforced: profiles(Some(Severity::Error)),
            tolerated: profiles(Some(Severity::Warning)),
            lacking: profiles(None),
            hosts: rules::hosts_that(
                |profile| profile.severity(rule) == Some(Severity::Error),
                rule.dialect(),
            ),
            recorded: of_recordings.iter().map(RuleCount::words).collect(),
            is_recorded: of_recordings.iter().any(|count| count.broken.agreed > 0),
            before: before.and_then(|vector| Example::of(rule, vector)),
            after: after.and_then(|vector| Example::of(rule, vector)),
            envelope: before.and_then(|vector| envelope(rule, vector)),
        }
    }

    /// Describes the evidence for the rule.
    fn known_from(&self) -> String {
        let has = |is_meant: fn(&str) -> bool| self.rule.sources.iter().any(|source| is_meant(source));
        let kinds = [
            ("recordings", self.is_recorded),
            ("documentation", has(is_documentation)),
            ("public reports", has(is_report)),
            ("published code", has(is_code)),
        ];
        let named: Vec<&str> =
            kinds.into_iter().filter(|(_, is_one)| *is_one).map(|(name, _)| name).collect();
        named.join(", ")
    }

    /// Describes which models the rule applies to.
    fn models(&self) -> &'static str {
        self.rule.models().unwrap_or("all models")
    }

    /// Describes how certain the rule is.
    fn confidence(&self) -> &'static str {
        match self.rule.confidence {
            Confidence::Measured => {
                "measured: a live probe was published, or the documentation says so and several people reported it"
            }
            Confidence::Observed => "observed: a report quotes the provider's message",
            Confidence::Secondary => "secondary: reported at second hand",
            Confidence::Inferred => "inferred from the provider's other messages; no report is known",
        }
    }
}

/// Returns whether a source is a thread with a report about the rule.
fn is_report(source: &str) -> bool {
    ["/issues/", "/pull/", "/discussions/", "://community.", "://errs."]
        .iter()
        .any(|part| source.contains(part))
}

/// Returns whether a source is code, such as a package.
fn is_code(source: &str) -> bool {
    !is_documentation(source) && !is_report(source)
}

/// Returns whether a source is a page of documentation.
fn is_documentation(source: &str) -> bool {
    source.starts_with("https://") && !source.starts_with("https://github.com/") && !is_report(source)
}

/// Describes the consequence for a stream that breaks the rule.
fn of_violation(rule: &StreamRule) -> &'static str {
    let tolerated = rule.dialect().definition().tolerated_of_relatives;
    let is_tolerated = tolerated.iter().any(|other| other.id == rule.id);
    match rule.severity {
        Severity::Error if is_tolerated => {
            "A violation is an error of the provider itself, which never sends such a stream. For its relatives it is a \
             warning."
        }
        Severity::Error => "A violation is an error: the provider never sends such a stream.",
        Severity::Warning => {
            "A violation is a warning: the provider does not do this itself, but its relatives do, or clients survive it."
        }
    }
}

fn profile_of(rule: &Rule, vector: &Vector) -> &'static Profile {
    let named = vector.profile.as_deref().and_then(Profile::named);
    named.unwrap_or_else(|| Profile::newest(rule.dialect()))
}

impl Example {
    fn of(rule: &Rule, vector: &Vector) -> Option<Example> {
        let bytes = vector.bytes()?;
        let profile = profile_of(rule, vector);
        let violations = judged(rule, vector, &bytes);
        let said = match (rules::refusal(&violations), violations.first()) {
            (Some(refusal), _) => format!("{}: {}", refusal.status(), refusal.message),
            (None, Some(warning)) => {
                format!("accepted by {}, with the warning {}", profile.name, warning.rule.id)
            }
            (None, None) => "accepted".to_owned(),
        };
        let list = rules::list_of(rule.dialect());
        let options = CheckOptions { strictness: Strictness::Profile(profile), ..CheckOptions::default() };
        let checked = check::check(&bytes, Start { line: 1, offset: 0 }, &options).ok();
        let finding = checked
            .as_ref()
            .and_then(|checked| checked.findings.iter().find(|finding| finding.rule.id == rule.id));
        let lines = match finding.filter(|finding| !finding.excerpt.lines.is_empty()) {
            Some(finding) => finding.excerpt.to_lines(),
            None => check::conversation(&bytes, list),
        };
        Some(Example { comment: vector.comment.clone(), lines, said })
    }
}

/// Returns the violations in a vector, given the provider's earlier replies.
fn judged(rule: &Rule, vector: &Vector, bytes: &[u8]) -> Vec<Violation> {
    let of_exchanges = |earlier| Memory::of_exchanges(rule.dialect(), earlier);
    let memory = vector.exchanges().map_or_else(Memory::default, of_exchanges);
    rules::validate_remembering(profile_of(rule, vector), &memory, bytes)
}

fn envelope(rule: &Rule, vector: &Vector) -> Option<String> {
    let violations = judged(rule, vector, &vector.bytes()?);
    Some(format!("{:#}", rules::refusal(&violations)?.envelope(REQUEST_ID)))
}

#[cfg(test)]
mod tests;
