//! Writes findings as one JSON object.

use serde_json::{Value, json};

use super::tally::Tally;
use super::{CheckedRequest, Finding};

/// The text before the first request.
pub(super) const BEGIN: &str = "{\"schema\":1,\"requests\":[";

/// Writes a request with its findings.
pub(super) fn request(file: &str, checked: &CheckedRequest) -> Value {
    json!({
        "file": file,
        "line": checked.line,
        "dialect": checked.providers.dialect(),
        "profile": checked.providers.name(),
        "profile_by": checked.basis,
        "host": checked.host,
        "model": checked.model,
        "rules_by_model": checked.rules_by_model,
        "verdict": if checked.status.is_some() { "refused" } else { "accepted" },
        "status": checked.status,
        "refused_by": checked.refused_by,
        "findings": checked.findings.iter().map(finding).collect::<Vec<Value>>(),
        "more_findings": checked.n_more,
    })
}

fn finding(finding: &Finding) -> Value {
    json!({
        "rule": finding.rule.id,
        "alias": finding.rule.alias,
        "level": finding.level,
        "pointer": finding.pointer,
        "message": finding.message,
        "refused_by": finding.refused_by,
        "warned_by": finding.warned_by,
        "place": finding.place,
        "summary": finding.rule.summary,
        "mend": finding.rule.why,
    })
}

/// Writes the entry for a text that could not be judged.
pub(super) fn unjudged(file: &str, line: Option<u64>, reason: &str) -> Value {
    json!({ "file": file, "line": line, "verdict": "unjudged", "reason": reason })
}

/// The text after the last request.
pub(super) fn end(tally: &Tally) -> String {
    format!("\n],\"summary\":{}}}\n", json!(tally))
}
