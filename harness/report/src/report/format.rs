//! The formats in which a report is written to a file. A new one is a line here and a module that renders it.

use super::{Report, annotations, html, junit};
use crate::record::Record;
use brickbat_scenario::verdict::Severity;

/// A format, chosen by the extension of the file name.
#[derive(Debug)]
pub struct Format {
    pub ending: &'static str,
    pub name: &'static str,
    /// Its readers, for the table of formats in the documents.
    pub used_for: &'static str,
    /// Renders a report, given the mildest severity that makes it red, and the records of the cases that
    /// represent its causes.
    pub render: fn(&Report, Severity, &[Record]) -> String,
}

/// Every format.
pub const FORMATS: [Format; 4] = [
    Format {
        ending: "json",
        name: "JSON",
        used_for: "`merge`, `matrix`, `diff` and your own programs; `brickbat schema report` prints its schema",
        render: |report, _, _| report.to_json(),
    },
    Format {
        ending: "xml",
        name: "JUnit",
        used_for: "the test view of a CI system, with the time of each plan",
        render: |report, fail_on, _| junit::to_xml(report, fail_on),
    },
    Format {
        ending: "html",
        name: "HTML",
        used_for: "reading: one file with causes, timelines and requests",
        render: html::to_html,
    },
    Format {
        ending: "sarif",
        name: "SARIF",
        used_for: "code scanning",
        render: |report, fail_on, _| annotations::to_sarif(report, fail_on),
    },
];
