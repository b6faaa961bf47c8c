//! Writes findings as SARIF 2.1.0.
//!
//! See <https://docs.oasis-open.org/sarif/sarif/v2.1.0/>. The list of all rules comes first, so that
//! results can be written one by one.

use std::fmt::Display;

use serde_json::{Value, json};

use super::{FileSpan, Finding, Level};
use crate::Rule;
use crate::streams::{StreamReport, StreamRule, StreamViolation};

/// The text before the first result.
pub(super) fn begin() -> String {
    begin_with(Rule::all().map(rule).collect())
}

fn begin_with(rules: Vec<Value>) -> String {
    let driver = json!({
        "name": "brickbat",
        "version": env!("CARGO_PKG_VERSION"),
        "informationUri": env!("CARGO_PKG_REPOSITORY"),
        "rules": rules,
    });
    format!(
        "{{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{{\
         \"tool\":{},\"columnKind\":\"unicodeCodePoints\",\"results\":[",
        json!({ "driver": driver })
    )
}

fn rule(rule: &Rule) -> Value {
    let sentences: String = rule.sentences.iter().map(|sentence| format!("\n{sentence}")).collect();
    let mut described = json!({
        "id": rule.id,
        "name": rule.alias,
        "shortDescription": { "text": rule.summary },
        "fullDescription": { "text": rule.why },
        "help": { "text": format!("{}\n\nThe provider says, with status {}:{sentences}", rule.why, rule.status) },
        "defaultConfiguration": { "level": "error" },
        "properties": { "since": rule.since, "confidence": rule.confidence, "sources": rule.sources },
    });
    if let Some(page) = rule.sources.iter().find(|source| source.starts_with("https://")) {
        described["helpUri"] = json!(page);
    }
    described
}

pub(super) fn result(file: &str, finding: &Finding) -> Value {
    let level = match finding.level {
        Level::Refused | Level::Denied => "error",
        Level::Warning => "warning",
    };
    json!({
        "ruleId": finding.rule.id,
        "ruleIndex": Rule::all().position(|rule| rule.id == finding.rule.id),
        "level": level,
        "message": { "text": finding.message },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(file) },
                "region": region(finding.place),
            },
            "logicalLocations": [{ "fullyQualifiedName": finding.pointer, "kind": "value" }],
        }],
        "properties": { "refusedBy": finding.refused_by, "warnedBy": finding.warned_by },
    })
}

fn region(place: FileSpan) -> Value {
    json!({
        "startLine": place.line,
        "startColumn": place.column,
        "byteOffset": place.offset,
        "byteLength": place.length,
    })
}

/// Writes a text that could not be judged.
pub(super) fn notification(file: &str, line: Option<u64>, reason: &str) -> Value {
    let mut place = json!({ "artifactLocation": { "uri": uri(file) } });
    if let Some(line) = line {
        place["region"] = json!({ "startLine": line });
    }
    json!({
        "level": "error",
        "message": { "text": reason },
        "locations": [{ "physicalLocation": place }],
    })
}

/// The text after the last result.
pub(super) fn end(notes: &[Value]) -> String {
    let invocation = json!({
        "executionSuccessful": notes.is_empty(),
        "toolExecutionNotifications": notes,
    });
    format!("\n],\"invocations\":[{invocation}]}}]}}\n")
}

/// Writes the violations in recorded streams: for each file, the linter's report or the reason why it
/// could not be judged.
pub fn streams_to_sarif<E: Display>(outcomes: &[(String, Result<StreamReport, E>)]) -> String {
    let mut text = begin_with(StreamRule::all().map(stream_rule).collect());
    let mut notes = Vec::new();
    let mut comma = "";
    for (file, judged) in outcomes {
        match judged {
            Ok(report) => report.violations.iter().for_each(|violation| {
                text.push_str(&format!("{comma}\n{}", stream_result(file, violation)));
                comma = ",";
            }),
            Err(reason) => notes.push(notification(file, None, &reason.to_string())),
        }
    }
    text.push_str(&end(&notes));
    text
}

fn stream_rule(rule: &StreamRule) -> Value {
    let mut described = json!({
        "id": rule.id,
        "shortDescription": { "text": rule.summary },
        "help": { "text": rule.summary },
        "defaultConfiguration": { "level": rule.severity.name() },
        "properties": { "sources": [rule.source] },
    });
    if rule.source.starts_with("https://") {
        described["helpUri"] = json!(rule.source);
    }
    described
}

fn stream_result(file: &str, violation: &StreamViolation) -> Value {
    let mut region = json!({ "byteOffset": violation.place.offset });
    if let Some(line) = violation.place.line {
        region["startLine"] = json!(line);
    }
    json!({
        "ruleId": violation.rule.id,
        "ruleIndex": StreamRule::all().position(|rule| rule.id == violation.rule.id),
        "level": violation.severity.name(),
        "message": { "text": violation.message },
        "locations": [{
            "physicalLocation": { "artifactLocation": { "uri": uri(file) }, "region": region },
        }],
        "properties": { "event": violation.place.event },
    })
}

/// Converts a path to a URI reference. Standard input gets a name that cannot be a file name.
fn uri(file: &str) -> String {
    let mut uri = String::new();
    if file.starts_with('/') {
        uri.push_str("file://");
    }
    // A colon in the first segment of a relative path would make that segment a scheme.
    for byte in file.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
