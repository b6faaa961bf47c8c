//! The report as JUnit XML, one suite for each system.

use quick_junit::{NonSuccessKind, Report as XmlReport, TestCase, TestCaseStatus, TestSuite};

use super::Report;
use crate::verdict::{Harm, Verdict};

/// The report as XML. A finding milder than `fail_on` does not fail its case.
pub fn to_xml(report: &Report, fail_on: Harm) -> String {
    let mut xml = XmlReport::new("brickbat");
    let mut suites: Vec<TestSuite> = Vec::new();
    for case in &report.cases {
        let mut status = match case.judged {
            Verdict::Pass => TestCaseStatus::success(),
            Verdict::Unreachable | Verdict::Unsupported => TestCaseStatus::skipped(),
            Verdict::Fail if case.worst().is_some_and(|harm| harm > fail_on) => TestCaseStatus::success(),
            Verdict::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
            _ => TestCaseStatus::non_success(NonSuccessKind::Error),
        };
        let words = case.findings.first().map(|finding| format!("{}: {}", finding.check, finding.message));
        if let Some(words) = words.or_else(|| case.reason.clone()) {
            status.set_message(words);
        }
        status.set_type(case.worst().map_or_else(|| case.verdict.clone(), |harm| harm.name().to_owned()));
        status.set_description(format!("again: {}", case.reproduce));
        let mut test = TestCase::new(case.plan.clone(), status);
        test.set_classname(case.system.clone());
        // Findings milder than what fails the case are told all the same.
        let told = case.findings.iter().map(|finding| {
            format!("{} ({}): {}, {}\n", finding.check, finding.harm.name(), finding.message, finding.place)
        });
        let told: String = told.collect();
        if !told.is_empty() {
            test.set_system_out(told);
        }
        match suites.iter_mut().find(|suite| suite.name.as_str() == case.system) {
            Some(suite) => {
                suite.add_test_case(test);
            }
            None => {
                let mut suite = TestSuite::new(case.system.clone());
                suite.add_test_case(test);
                suites.push(suite);
            }
        }
    }
    xml.add_test_suites(suites);
    xml.to_string().unwrap_or_else(|error| format!("<!-- failed to write XML: {error} -->\n"))
}
