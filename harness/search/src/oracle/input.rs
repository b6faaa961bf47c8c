//! Checks that any text gets a bounded answer, whatever format it is read as.

use brickbat_rules::check::{self, CheckOptions, MAX_FINDINGS, Start, Strictness};
use brickbat_rules::dialect::Dialect;
use brickbat_rules::streams::{self, StreamRule};
use brickbat_scenario::parse;

/// Reads a text in every format that `brickbat check` accepts, and as a scenario. Describes a result that is
/// out of bounds, or that cannot be true for the text.
pub fn check(text: &[u8]) -> Option<String> {
    let judges = [Strictness::Newest, Strictness::Union];
    let dialects = std::iter::once(None).chain(Dialect::ALL.map(Some));
    for (strictness, dialect) in dialects.flat_map(|dialect| judges.map(|judge| (judge, dialect))) {
        let terms = CheckOptions { dialect, strictness, ..CheckOptions::default() };
        let Ok(audited) = check::check(text, Start { line: 1, offset: 0 }, &terms) else { continue };
        if audited.findings.len() > MAX_FINDINGS {
            return Some(format!("{} findings", audited.findings.len()));
        }
        for finding in &audited.findings {
            let end = finding.place.offset + finding.place.length;
            if end > text.len() as u64 {
                return Some(format!("{} at {:?} is outside the text", finding.rule.id, finding.place));
            }
        }
    }
    for dialect in Dialect::ALL {
        let report = streams::lint(dialect, text);
        // Each rule is reported once, at the first place that breaks it.
        let n_rules = StreamRule::of(dialect).count();
        if report.violations.len() > n_rules || report.n_bytes != text.len() {
            return Some(format!(
                "{} violations in {} bytes of {}",
                report.violations.len(),
                report.n_bytes,
                dialect.name()
            ));
        }
    }
    if let Ok(text) = std::str::from_utf8(text) {
        let _ = parse::parse("input.yaml", text);
    }
    None
}
