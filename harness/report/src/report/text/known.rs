//! The part of the text about baselines: the expected findings, in a line or two, and the stale
//! entries.

use std::fmt::Write;

use super::{MAX_SHOWN, Report, Tone, counted};
use crate::report::{BaselineComparison, EntryFindings, StalePlans};
use brickbat_scenario::verdict::Severity;

/// The findings that the baselines list, and the entries that are stale.
pub(super) fn render(text: &mut String, report: &Report, paint: impl Fn(Tone, &str) -> String) {
    for held in &report.baselines {
        for entry in &held.entries {
            expected(text, entry, &paint);
        }
        if !held.entries.is_empty() {
            let _ = writeln!(text, "  listed in {}\n", held.file);
        }
        for stale in &held.stale {
            gone(text, held, stale, &paint);
        }
    }
}

fn expected(text: &mut String, entry: &EntryFindings, paint: impl Fn(Tone, &str) -> String) {
    let findings = counted(entry.n_findings, "finding");
    let cases = counted(entry.n_cases, "plan");
    let name = named(&entry.check, entry.severity);
    let word = if entry.is_declined() { "decided upstream" } else { "expected" };
    let _ = writeln!(text, "{} {name}: {findings} in {cases}", paint(Tone::Good, word));
    let reason = if entry.explained { entry.reason.clone() } else { paint(Tone::Warn, "not yet explained") };
    let _ = writeln!(text, "  {reason}{}", entry.report_words());
}

fn gone(
    text: &mut String,
    held: &BaselineComparison,
    stale: &StalePlans,
    paint: impl Fn(Tone, &str) -> String,
) {
    let name = named(&stale.check, stale.severity);
    let plans = counted(stale.plans.len(), "plan");
    let _ = writeln!(text, "{} {name}: not seen in {plans} on {}", paint(Tone::Bad, "stale"), stale.system);
    for plan in stale.plans.iter().take(MAX_SHOWN) {
        let _ = writeln!(text, "  {plan}");
    }
    match stale.plans.len().saturating_sub(MAX_SHOWN) {
        0 => {}
        n => {
            let _ = writeln!(text, "  … and {} more", counted(n, "plan"));
        }
    }
    let _ = writeln!(text, "  {} still lists it; --write-baseline removes it\n", held.file);
}

fn named(check: &str, severity: Severity) -> String {
    format!("{check} ({})", severity.name())
}
