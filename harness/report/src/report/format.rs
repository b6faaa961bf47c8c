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
    render: Render,
}

/// Renders a report, given the mildest severity that makes it red.
#[derive(Debug)]
enum Render {
    Report(fn(&Report, Severity) -> String),
    /// The format also shows the records of the cases that represent the causes, which the run then keeps.
    WithRecords(fn(&Report, Severity, &[Record]) -> String),
}

impl Format {
    /// True if the format shows what happened in the cases.
    pub fn shows_records(&self) -> bool {
        matches!(self.render, Render::WithRecords(_))
    }

    /// The report in this format. `records` are those of the cases that represent its causes.
    pub fn render(&self, report: &Report, fail_on: Severity, records: &[Record]) -> String {
        match self.render {
            Render::Report(render) => render(report, fail_on),
            Render::WithRecords(render) => render(report, fail_on, records),
        }
    }
}

/// Every format.
pub const FORMATS: [Format; 4] = [
    Format {
        ending: "json",
        name: "JSON",
        used_for: "`merge`, `matrix`, `diff` and your own programs; `brickbat schema report` prints its schema",
        render: Render::Report(|report, _| report.to_json()),
    },
    Format {
        ending: "xml",
        name: "JUnit",
        used_for: "the test view of a CI system, with the time of each plan",
        render: Render::Report(junit::to_xml),
    },
    Format {
        ending: "html",
        name: "HTML",
        used_for: "reading: one file with causes, timelines and requests",
        render: Render::WithRecords(html::to_html),
    },
    Format {
        ending: "sarif",
        name: "SARIF",
        used_for: "code scanning",
        render: Render::Report(annotations::to_sarif),
    },
];
