//! Reports of recorded streams for `brickbat check --stream`.

use std::fmt::Write;

use serde_json::{Value, json};

use super::excerpt::shown;
use super::github;
use super::text::{BAD, GOOD, WARN, painted};
use crate::Severity;
use crate::colour::Colour;
use crate::streams::{Ended, StreamReport, StreamViolation};

/// Maximum number of characters shown for a violation.
const MAX_MESSAGE: usize = 600;

/// Returns whether a stream has no violation and is complete.
pub fn is_sound(report: &StreamReport) -> bool {
    matches!(report.ended, Ended::Complete | Ended::ErrorEvent)
}

/// Writes the violations of a stream, and a line about how it ended.
pub fn stream_to_text(file: &str, report: &StreamReport, colour: Colour) -> String {
    let mut text = String::new();
    for violation in &report.violations {
        one(&mut text, file, violation, colour);
    }
    let ended = match report.ended {
        Ended::Complete => painted(colour, GOOD, "complete"),
        Ended::ErrorEvent => painted(colour, WARN, "ended by an error of the provider"),
        Ended::Truncated => painted(colour, BAD, "truncated"),
        Ended::Illegal => painted(colour, BAD, "illegal"),
    };
    let _ = write!(
        text,
        "{file}: {ended}: {} stream, {} events, {} bytes",
        report.dialect, report.n_events, report.n_bytes
    );
    match n_warnings(report) {
        0 => {}
        1 => text.push_str(", 1 warning"),
        n => {
            let _ = write!(text, ", {n} warnings");
        }
    }
    if let Some(words) = &report.provider_error {
        let _ = write!(text, "; the provider said: {}", shown(words, MAX_MESSAGE));
    }
    text.push('\n');
    text
}

fn one(text: &mut String, file: &str, violation: &StreamViolation, colour: Colour) {
    let tone = if violation.severity == Severity::Error { BAD } else { WARN };
    let word = painted(colour, tone, violation.severity.name());
    let _ = writeln!(text, "{word}[{}]: {}", violation.rule.id, shown(&violation.message, MAX_MESSAGE));
    let line = violation.place.line.map(|line| format!(":{line}")).unwrap_or_default();
    let _ = writeln!(
        text,
        " --> {file}{line} at event {}, byte {}",
        violation.place.event, violation.place.offset
    );
    if !violation.excerpt.is_empty() {
        let _ = writeln!(text, "  |\n  | {}\n  |", violation.excerpt);
    }
    let _ = writeln!(text, "  = rule: {}", violation.rule.summary);
    let _ = writeln!(text, "  = source: {}\n", violation.rule.source);
}

fn n_warnings(report: &StreamReport) -> usize {
    report.violations.iter().filter(|violation| violation.severity == Severity::Warning).count()
}

/// Writes each violation as a GitHub workflow command.
pub fn stream_to_github(file: &str, report: &StreamReport) -> String {
    report.violations.iter().map(|violation| github::stream_violation(file, violation)).collect()
}

/// Writes a GitHub workflow command for a stream that could not be judged, with the reason.
pub fn unjudged_to_github(file: &str, reason: &str) -> String {
    github::unjudged(file, None, reason)
}

/// Writes the report as JSON.
pub fn stream_to_json(file: &str, report: &StreamReport) -> Value {
    json!({
        "file": file,
        "dialect": report.dialect.name(),
        "profile": report.profile,
        "ended": report.ended.name(),
        "events": report.n_events,
        "bytes": report.n_bytes,
        "provider_error": report.provider_error,
        "faults": report.violations.iter().map(violation_to_json).collect::<Vec<Value>>(),
    })
}

fn violation_to_json(violation: &StreamViolation) -> Value {
    json!({
        "rule": violation.rule.id,
        "severity": violation.severity.name(),
        "message": violation.message,
        "place": { "event": violation.place.event, "offset": violation.place.offset, "line": violation.place.line },
        "excerpt": violation.excerpt,
        "summary": violation.rule.summary,
        "source": violation.rule.source,
    })
}
