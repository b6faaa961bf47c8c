//! The report as text for people.

use std::fmt::Write;

use super::{Case, Report};
use crate::verdict::{Harm, Permanence, Verdict};

/// Findings with the same cause that are shown in full; the others are counted.
const MAX_SHOWN: usize = 5;

/// One line for a case, for logs.
pub fn line(case: &Case) -> String {
    let mut line = format!("{:<13} {} {}", case.verdict, case.system, case.plan);
    if let Some(harm) = case.worst() {
        let _ = write!(line, "  {}", harm.name());
    }
    if let Some(reason) = &case.reason {
        let _ = write!(line, "  ({reason})");
    }
    line
}

/// Everything that is not a pass, and the summary. `paint` wraps a word in a colour, or leaves it.
pub fn render(report: &Report, fail_on: Harm, paint: impl Fn(Tone, &str) -> String) -> String {
    let mut text = String::new();
    for case in report.cases.iter().filter(|case| case.judged != Verdict::Pass && case.findings.is_empty()) {
        let word = paint(Tone::Warn, &case.verdict);
        let reason = case.reason.as_deref().unwrap_or("no reason given");
        let _ = writeln!(text, "{word}: {} on {}\n  {reason}", case.plan, case.system);
        if is_red(case.judged) {
            let _ = writeln!(text, "  again: {}", case.reproduce);
        }
    }
    for (cause, cases) in causes(report) {
        let tone = if cause.harm <= fail_on { Tone::Bad } else { Tone::Warn };
        let _ = writeln!(text, "{} {}", paint(tone, cause.harm.name()), cause.check);
        for (case, index) in cases.iter().take(MAX_SHOWN) {
            finding(&mut text, case, *index);
        }
        if cases.len() > MAX_SHOWN {
            let _ = writeln!(text, "  … and {} more plans\n", cases.len() - MAX_SHOWN);
        }
    }
    summary(&mut text, report, fail_on, paint);
    text
}

/// What a colour stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As it should be.
    Good,
    /// Something is wrong.
    Bad,
    /// Something is worth a look.
    Warn,
}

#[derive(PartialEq, Eq, PartialOrd, Ord, Clone)]
struct Cause {
    harm: Harm,
    check: &'static str,
}

type CasesOf<'a> = Vec<(&'a Case, usize)>;

fn causes(report: &Report) -> Vec<(Cause, CasesOf<'_>)> {
    let mut causes: Vec<(Cause, CasesOf<'_>)> = Vec::new();
    for case in &report.cases {
        for (index, finding) in case.findings.iter().enumerate() {
            let cause = Cause { harm: finding.harm, check: finding.check };
            match causes.iter_mut().find(|(known, _)| *known == cause) {
                Some((_, cases)) => cases.push((case, index)),
                None => causes.push((cause, vec![(case, index)])),
            }
        }
    }
    causes.sort_by(|a, b| a.0.cmp(&b.0));
    causes
}

fn finding(text: &mut String, case: &Case, index: usize) {
    let finding = &case.findings[index];
    let lasting = match finding.permanence {
        Some(Permanence::Permanent) => ", permanent",
        Some(Permanence::Transient) => ", transient",
        None => "",
    };
    let _ = writeln!(text, "  {} on {}", case.plan, case.system);
    let _ = writeln!(text, "    {}", finding.message);
    let rule = finding.rule.map(|rule| format!("  rule {rule}")).unwrap_or_default();
    let _ = writeln!(text, "    at {}{lasting}{rule}", finding.place);
    let _ = writeln!(text, "    expected {}; got {}", finding.expected, finding.got);
    for receipt in &case.receipts {
        let grade = match receipt.grade {
            Some(crate::trace::Grade::Observed) => "observed",
            Some(crate::trace::Grade::Read) => "read",
            Some(crate::trace::Grade::Written) => "written",
            None => "none",
        };
        let _ = writeln!(text, "    fault: {} (receipt: {grade})", receipt.words);
    }
    let _ = writeln!(text, "    again: {}\n", case.reproduce);
}

fn summary(text: &mut String, report: &Report, fail_on: Harm, paint: impl Fn(Tone, &str) -> String) {
    let mut systems: Vec<&str> = report.cases.iter().map(|case| case.system.as_str()).collect();
    systems.dedup();
    for system in systems {
        let cases: Vec<&Case> = report.cases.iter().filter(|case| case.system == system).collect();
        let counts: Vec<String> = Verdict::ALL
            .into_iter()
            .map(|verdict| (verdict, cases.iter().filter(|case| case.judged == verdict).count()))
            .filter(|(verdict, n)| *n > 0 || matches!(verdict, Verdict::Pass | Verdict::Fail))
            .map(|(verdict, n)| format!("{n} {}", verdict.name()))
            .collect();
        let (armed, fired) = cases
            .iter()
            .flat_map(|case| &case.receipts)
            .fold((0, 0), |(armed, fired), receipt| (armed + 1, fired + usize::from(receipt.fired)));
        let red = cases.iter().filter(|case| case.worst().is_some_and(|harm| harm <= fail_on)).count();
        let tone = if red == 0 { Tone::Good } else { Tone::Bad };
        let _ = writeln!(
            text,
            "{}  {} plans: {}; faults: {armed} armed, {fired} with receipt",
            paint(tone, system),
            cases.len(),
            counts.join(", "),
        );
    }
    let _ = writeln!(text, "seed {}, profiles {}", report.seed, report.profiles.join(" "));
}

fn is_red(verdict: Verdict) -> bool {
    !matches!(verdict, Verdict::Pass | Verdict::Unreachable | Verdict::Unsupported)
}
