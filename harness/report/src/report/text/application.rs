//! The part of the text about the application's duty: a line or two for each kind. These findings do not
//! count.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Report, counted};
use crate::report::Case;
use brickbat_scenario::verdict::{Finding, Severity};

/// Plans, each with the first finding of a kind.
type Plans<'a> = Vec<(&'a Case, &'a Finding)>;

/// The findings that rest on what an application does around the system.
pub(super) fn render(text: &mut String, report: &Report) {
    let mut kinds: BTreeMap<(&str, Severity, &str), Plans<'_>> = BTreeMap::new();
    for case in &report.cases {
        for finding in &case.application {
            let plans = kinds.entry((&case.system, finding.severity, finding.check)).or_default();
            if plans.last().is_none_or(|(last, _)| !std::ptr::eq(*last, case)) {
                plans.push((case, finding));
            }
        }
    }
    for ((system, severity, check), plans) in &kinds {
        let Some((case, finding)) = plans.first() else { continue };
        let n = counted(plans.len(), "plan");
        let _ = writeln!(text, "the application's duty here: {} {check}, {n} on {system}", severity.name());
        let _ = writeln!(text, "  for example {}: {}", case.plan, finding.message);
    }
    if !kinds.is_empty() {
        text.push_str("  these findings do not count\n\n");
    }
}
