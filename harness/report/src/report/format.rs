//! The formats in which a report is written to a file. A new one is a line here and a module that renders it.

use super::{Report, junit};
use brickbat_scenario::verdict::Severity;

/// A format, chosen by the ending of the file's name.
#[derive(Debug)]
pub struct Format {
    pub ending: &'static str,
    pub name: &'static str,
    /// Renders a report, given the mildest severity that makes it red.
    pub render: fn(&Report, Severity) -> String,
}

/// Every format.
pub const FORMATS: [Format; 2] = [
    Format { ending: "json", name: "JSON", render: |report, _| report.to_json() },
    Format { ending: "xml", name: "JUnit", render: junit::to_xml },
];
