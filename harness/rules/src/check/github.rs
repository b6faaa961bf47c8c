//! Writes findings as GitHub workflow commands.
//!
//! Each command is one line; see
//! <https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-an-error-message>.

use super::excerpt::shown;
use super::{Finding, Level};
use crate::streams::StreamViolation;

/// Maximum length of a provider's message in characters. An annotation has little room, and GitHub cuts it
/// at 4 kB.
const MAX_MESSAGE: usize = 1000;

/// Writes a finding as an annotation.
pub(super) fn finding(file: &str, finding: &Finding) -> String {
    let command = match finding.level {
        Level::Refused | Level::Denied => "error",
        Level::Warning => "warning",
    };
    let place = finding.place;
    format!(
        "::{command} file={},line={},col={},title={}::{}\n",
        property(file),
        place.line,
        place.column,
        property(finding.rule.id),
        message(&format!(
            "{} (at {})\n{}{}",
            shown(&finding.message, MAX_MESSAGE),
            finding.pointer,
            minded_by(finding),
            finding.rule.why
        )),
    )
}

/// Writes a violation in a recorded stream as an annotation. A binary stream has no lines, so the
/// annotation names line 1.
pub(super) fn stream_violation(file: &str, violation: &StreamViolation) -> String {
    let rule = violation.rule;
    format!(
        "::{} file={},line={},title={}::{}\n",
        violation.severity.name(),
        property(file),
        violation.place.line.unwrap_or(1),
        property(rule.id),
        message(&format!(
            "{} (at event {}, byte {})\n{}",
            shown(&violation.message, MAX_MESSAGE),
            violation.place.event,
            violation.place.offset,
            rule.summary
        )),
    )
}

/// Names the providers that object, if several were asked.
fn minded_by(finding: &Finding) -> String {
    if finding.refused_by.len() + finding.warned_by.len() < 2 {
        return String::new();
    }
    let line = |(word, names): (&str, &[&str])| match names {
        [] => String::new(),
        names => format!("{word} {}\n", names.join(", ")),
    };
    [("Refused by", &*finding.refused_by), ("Warned of by", &*finding.warned_by)].map(line).concat()
}

/// Writes an annotation for a text that could not be judged.
pub(super) fn unjudged(file: &str, line: Option<u64>, reason: &str) -> String {
    let line = line.unwrap_or(1);
    let reason = message(&shown(reason, MAX_MESSAGE));
    format!("::error file={},line={line},title=not judged::{reason}\n", property(file))
}

fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
