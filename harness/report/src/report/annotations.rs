//! The causes in a run as GitHub workflow annotations, and as SARIF 2.1.0 for code scanning.
//!
//! A cause has no location in the user's source, so it is filed under the scenario in which it
//! occurs.

use serde_json::{Value, json};

use super::stopped::UNCONFIRMED;
use super::{Case, Cause, Report};
use brickbat_scenario::verdict::{Finding, Severity};

/// The causes as workflow commands, one per line.
///
/// <https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-an-error-message>
pub fn to_github(report: &Report, fail_on: Severity) -> String {
    let mut text = String::new();
    for cause in report.causes() {
        let Some((case, finding)) = cause.example() else { continue };
        let command = if finding.severity <= fail_on { "error" } else { "warning" };
        let title = format!("{} on {}", cause.severity_words(), case.system);
        text.push_str(&format!(
            "::{command} title={}::{}\n",
            property(&title),
            message(&words(&cause, case, finding))
        ));
    }
    if let Some(line) = report.stopped_line() {
        text.push_str(&format!("::error title=stopped::{}\n", message(&line)));
    }
    // The plans that a stopped run did not reach are counted in one line.
    for case in report.cases.iter().filter(|case| case.verdict.is_unjudged() && !report.is_left(case)) {
        let reason = case.reason.as_deref().unwrap_or("no reason given");
        let title = format!("{} on {}", case.plan, case.system);
        text.push_str(&format!("::error title={}::{}\n", property(&title), message(reason)));
    }
    text
}

/// The causes as SARIF.
///
/// <https://docs.oasis-open.org/sarif/sarif/v2.1.0/>
pub fn to_sarif(report: &Report, fail_on: Severity) -> String {
    let causes = report.causes();
    let mut ids: Vec<&str> = causes.iter().map(|cause| cause.signature.check.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let rules: Vec<Value> = ids.iter().map(|id| json!({ "id": id })).collect();
    let results = causes.iter().filter_map(|cause| {
        let (case, finding) = cause.example()?;
        let level = if finding.severity <= fail_on { "error" } else { "warning" };
        let scenario = case.plan.split(['#', '@']).next().unwrap_or_default();
        let mut properties = json!({ "severity": finding.severity.name(), "plans": cause.shown.len() });
        if !cause.is_confirmed() {
            properties["confirmed"] = false.into();
        }
        if cause.fails_without_fault() {
            properties["failsWithoutFault"] = true.into();
        }
        Some(json!({
            "ruleId": finding.check,
            "ruleIndex": ids.iter().position(|id| *id == finding.check),
            "level": level,
            "message": { "text": words(cause, case, finding) },
            "locations": [{
                "physicalLocation": {
                    "artifactLocation": { "uri": format!("scenarios/{scenario}.yaml") },
                    "region": { "startLine": 1 },
                },
                "logicalLocations": [{ "fullyQualifiedName": format!("{} on {}", case.plan, case.system) }],
            }],
            "properties": properties,
        }))
    });
    let unjudged = report.cases.iter().filter(|case| case.verdict.is_unjudged() && !report.is_left(case));
    let unjudged = unjudged.map(|case| {
        let reason = case.reason.as_deref().unwrap_or("no reason given");
        format!("{} on {}: {reason}", case.plan, case.system)
    });
    let notes = report.stopped_line().into_iter().chain(unjudged);
    let notes: Vec<Value> =
        notes.map(|text| json!({ "level": "error", "message": { "text": text } })).collect();
    let sarif = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "brickbat",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            } },
            "results": results.collect::<Vec<Value>>(),
            "invocations": [{ "executionSuccessful": notes.is_empty(), "toolExecutionNotifications": notes }],
        }],
    });
    format!("{sarif:#}\n")
}

fn words(cause: &Cause<'_>, case: &Case, finding: &Finding) -> String {
    let n = super::text::counted(cause.shown.len(), "plan");
    let Finding { check, message, place, .. } = finding;
    let unconfirmed = if cause.is_confirmed() { String::new() } else { format!("{UNCONFIRMED}: ") };
    format!(
        "{unconfirmed}{check}: {message} (at {place})\n{n}, for example {}\nagain: {}",
        case.plan, case.reproduce
    )
}

fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
