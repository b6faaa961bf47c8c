//! A stream held against its grammar, as `brickbat check --stream` shows it.

use std::fmt::Write;

use serde_json::{Value, json};

use super::excerpt::shown;
use super::github;
use super::text::{BAD, GOOD, WARN, painted};
use crate::colour::Colour;
use crate::lint::{Ended, Fault, Report, Severity};

/// Characters of what was found.
const MAX_MESSAGE: usize = 600;

/// Whether a stream is legal and came to its end.
pub fn is_sound(report: &Report) -> bool {
    matches!(report.ended, Ended::Complete | Ended::ErrorEvent)
}

/// The faults of a stream, and a line that says how it ended.
pub fn stream_to_text(file: &str, report: &Report, colour: Colour) -> String {
    let mut text = String::new();
    for fault in &report.faults {
        one(&mut text, file, fault, colour);
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
        report.grammar, report.n_events, report.n_bytes
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

fn one(text: &mut String, file: &str, fault: &Fault, colour: Colour) {
    let tone = if fault.rule.severity == Severity::Error { BAD } else { WARN };
    let word = painted(colour, tone, fault.rule.severity.name());
    let _ = writeln!(text, "{word}[{}]: {}", fault.rule.id, shown(&fault.message, MAX_MESSAGE));
    let line = fault.place.line.map(|line| format!(":{line}")).unwrap_or_default();
    let _ = writeln!(text, " --> {file}{line} at event {}, byte {}", fault.place.event, fault.place.offset);
    if !fault.excerpt.is_empty() {
        let _ = writeln!(text, "  |\n  | {}\n  |", fault.excerpt);
    }
    let _ = writeln!(text, "  = rule: {}", fault.rule.summary);
    let _ = writeln!(text, "  = source: {}\n", fault.rule.source);
}

fn n_warnings(report: &Report) -> usize {
    report.faults.iter().filter(|fault| fault.rule.severity == Severity::Warning).count()
}

/// The same as commands of GitHub's workflows, one for each fault.
pub fn stream_to_github(file: &str, report: &Report) -> String {
    report.faults.iter().map(|fault| github::fault(file, fault)).collect()
}

/// The same of a stream that could not be judged, with the reason.
pub fn unjudged_to_github(file: &str, reason: &str) -> String {
    github::unjudged(file, None, reason)
}

/// The same for programs.
pub fn stream_to_json(file: &str, report: &Report) -> Value {
    json!({
        "file": file,
        "dialect": report.grammar.name(),
        "ended": report.ended.name(),
        "events": report.n_events,
        "bytes": report.n_bytes,
        "provider_error": report.provider_error,
        "faults": report.faults.iter().map(fault_to_json).collect::<Vec<Value>>(),
    })
}

fn fault_to_json(fault: &Fault) -> Value {
    json!({
        "rule": fault.rule.id,
        "severity": fault.rule.severity.name(),
        "message": fault.message,
        "place": { "event": fault.place.event, "offset": fault.place.offset, "line": fault.place.line },
        "excerpt": fault.excerpt,
        "summary": fault.rule.summary,
        "source": fault.rule.source,
    })
}
