//! The report as JUnit XML, one suite for each system. A plan that does not apply to a system is not listed
//! as a test for it. Control plans that fail come first.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report as XmlReport, TestCase, TestCaseStatus, TestSuite};

use super::cause::WITHOUT_FAULT;
use super::stopped::UNCONFIRMED;
use super::text::{also, whole};
use super::{Case, Report};
use crate::baseline::Disposition;
use brickbat_scenario::verdict::{Finding, Severity, Verdict};

/// The report as XML. A finding milder than `fail_on` does not fail its case.
pub fn to_xml(report: &Report, fail_on: Severity) -> String {
    let mut xml = XmlReport::new("brickbat");
    let mut suites: Vec<TestSuite> = Vec::new();
    let mut cases: Vec<&Case> = report.cases.iter().collect();
    cases.sort_by_key(|case| !case.fails_without_fault());
    for case in cases.into_iter().filter(|case| case.verdict != Verdict::Unsupported) {
        add(&mut suites, &case.system, test(case, fail_on));
    }
    if let Some(line) = report.stopped_line() {
        suites.iter_mut().for_each(|suite| {
            suite.set_system_out(line.as_str());
        });
    }
    for stale in report.baselines.iter().flat_map(|held| &held.stale) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(format!("the baseline lists {}, but plans no longer show it", stale.check));
        status.set_type("stale");
        status.set_description(stale.plans.join("\n"));
        let mut test =
            TestCase::new(format!("baseline: {} ({})", stale.check, stale.severity.name()), status);
        test.set_classname(format!("{}.baseline", stale.system));
        add(&mut suites, &stale.system, test);
    }
    if let Some(timing) = &report.timing {
        xml.set_time(Duration::from_millis(timing.wall_ms));
    }
    xml.add_test_suites(suites);
    xml.to_string().unwrap_or_else(|error| format!("<!-- failed to write XML: {error} -->\n"))
}

fn test(case: &Case, fail_on: Severity) -> TestCase {
    let mut status = match case.verdict {
        Verdict::Pass => TestCaseStatus::success(),
        Verdict::Unreachable | Verdict::Unsupported => TestCaseStatus::skipped(),
        Verdict::Fail if case.worst_counted().is_none_or(|severity| severity > fail_on) => {
            TestCaseStatus::success()
        }
        Verdict::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
        _ => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    let first = case.counted().next().or(case.findings.first());
    let unconfirmed = if case.unconfirmed { format!("{UNCONFIRMED}: ") } else { String::new() };
    let without_fault = if case.fails_without_fault() { format!("{WITHOUT_FAULT}: ") } else { String::new() };
    let words =
        first.map(|finding| format!("{unconfirmed}{without_fault}{}: {}", finding.check, finding.message));
    if let Some(words) = words.or_else(|| case.reason.clone()) {
        status.set_message(words);
    }
    status.set_type(case.worst().map_or_else(|| case.verdict.name(), Severity::name));
    status.set_description(whole(case));
    let mut test = TestCase::new(case.plan.clone(), status);
    test.set_classname(format!("{}.{}", case.system, case.family()));
    if let Some(ms) = case.took_ms {
        test.set_time(Duration::from_millis(ms));
    }
    // Findings that are too mild to fail the case are listed too.
    let mut lines: String =
        case.findings.iter().enumerate().map(|(index, finding)| line(case, index, finding)).collect();
    for finding in &case.application {
        let Finding { check, severity, message, place, .. } = finding;
        let words =
            format!("the application's duty here: {check} ({}): {message}, {place}\n", severity.name());
        lines.push_str(&words);
        lines.extend(finding.left.iter().map(|left| format!("  {}\n", left.words())));
    }
    lines.push_str(&case.label().map(|label| format!("comes and goes: {label}\n")).unwrap_or_default());
    if case.unconfirmed {
        lines.push_str(&format!("{UNCONFIRMED}: the run was stopped before the plan ran again\n"));
    }
    if !lines.is_empty() {
        test.set_system_out(lines);
    }
    test
}

fn add(suites: &mut Vec<TestSuite>, system: &str, test: TestCase) {
    let spent = test.time.unwrap_or_default();
    match suites.iter_mut().find(|suite| suite.name.as_str() == system) {
        Some(suite) => {
            suite.set_time(suite.time.unwrap_or_default() + spent);
            suite.add_test_case(test);
        }
        None => {
            let mut suite = TestSuite::new(system.to_owned());
            suite.set_time(spent);
            suite.add_test_case(test);
            suites.push(suite);
        }
    }
}

fn line(case: &Case, index: usize, finding: &Finding) -> String {
    let disposition = match case.dispositions.get(index) {
        Some(Disposition::Expected) => "expected: ",
        Some(Disposition::Declined) => "decided upstream: ",
        Some(Disposition::New) => "new: ",
        None => "",
    };
    let Finding { check, severity, message, place, .. } = finding;
    let model = finding.model.as_ref().map(|model| format!(", asked as {model}")).unwrap_or_default();
    let also = also(finding).map(|also| format!("; also: {also}")).unwrap_or_default();
    format!("{disposition}{check} ({}): {message}, {place}{model}{also}\n", severity.name())
}
