//! The part of the text about the application's duty: a line or two for each kind. These findings do not
//! count.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Report, counted};
use crate::report::Case;
use brickbat_scenario::duty::{Left, Repaired, Statement};
use brickbat_scenario::verdict::{Finding, Severity};

/// Plans, each with the first finding of a kind.
type Plans<'a> = Vec<(&'a Case, &'a Finding)>;

/// The findings that rest on what an application does around the system.
pub(super) fn render(text: &mut String, report: &Report) {
    let mut kinds: BTreeMap<(&str, Severity, &str, Option<&Left>), Plans<'_>> = BTreeMap::new();
    for case in &report.cases {
        for finding in &case.application {
            let kind = (case.system.as_str(), finding.severity, finding.check, finding.left.as_ref());
            let plans = kinds.entry(kind).or_default();
            if plans.last().is_none_or(|(last, _)| !std::ptr::eq(*last, case)) {
                plans.push((case, finding));
            }
        }
    }
    for ((system, severity, check, left), plans) in &kinds {
        let Some((case, finding)) = plans.first() else { continue };
        let n = counted(plans.len(), "plan");
        let _ = writeln!(text, "the application's duty here: {} {check}, {n} on {system}", severity.name());
        let _ = writeln!(text, "  for example {}: {}", case.plan, finding.message);
        if let Some(left) = left {
            let _ = writeln!(text, "  {}", left.words());
        }
    }
    if !kinds.is_empty() {
        text.push_str("  these findings do not count\n\n");
    }
    repaired(text, report);
}

/// The repairs that adapters made in the application's place: a finding may be missing due to them.
fn repaired(text: &mut String, report: &Report) {
    let mut kinds: BTreeMap<(&str, &str), (usize, &Case, &Repaired)> = BTreeMap::new();
    for case in &report.cases {
        for repaired in &case.repaired {
            kinds.entry((&case.system, &repaired.repair)).or_insert((0, case, repaired)).0 += repaired.turns;
        }
    }
    for ((system, repair), (n, case, repaired)) in &kinds {
        let n = counted(*n, "turn");
        let _ = writeln!(text, "the adapter repaired in the application's place: {repair}, {n} on {system}");
        let _ = writeln!(text, "  for example {}", case.plan);
        if let Some(Statement { says, at }) = &repaired.documented {
            let _ = writeln!(text, "  as the documentation asks: \"{says}\" ({at})");
        }
    }
    if !kinds.is_empty() {
        text.push_str("  what the system does without these repairs is not judged\n\n");
    }
}
