//! The report as human-readable text.

mod application;
mod known;

use std::collections::BTreeMap;
use std::fmt::Write;

pub use super::columns::in_one_line;
use super::stopped::UNCONFIRMED;
use super::{Account, Case, Cause, Report};
use brickbat_engine::triage::Signature;
use brickbat_scenario::trace::Confidence;
use brickbat_scenario::verdict::{Finding, Level, Permanence, Severity, Verdict};

/// Plans with the same cause that are shown in full; the others are counted.
const MAX_SHOWN: usize = 5;

/// One line for a case, for logs.
pub fn line(case: &Case) -> String {
    let mut line = format!("{:<13} {} {}", case.verdict.name(), case.system, case.plan);
    if let Some(severity) = case.worst() {
        let _ = write!(line, "  {}", severity.name());
    }
    if let Some(reason) = &case.reason {
        let _ = write!(line, "  ({reason})");
    }
    if let Some(label) = case.label() {
        let _ = write!(line, "  [{label}]");
    }
    if case.unconfirmed {
        let _ = write!(line, "  [{UNCONFIRMED}]");
    }
    line
}

/// A number with its noun, such as `1 plan` or `2 plans`.
pub fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Everything that is not a pass, and the summary. `paint` wraps a word in a colour, or leaves it.
pub fn render(report: &Report, fail_on: Severity, paint: impl Fn(Tone, &str) -> String) -> String {
    let mut text = String::new();
    for alike in unjudged(report) {
        let Some(case) = alike.first() else { continue };
        let word = paint(Tone::Warn, case.verdict.name());
        let reason = case.reason.as_deref().unwrap_or("no reason given");
        let plans = match alike.len() {
            1 => case.plan.clone(),
            2 => format!("{} and another plan", case.plan),
            n => format!("{} and {} more plans", case.plan, n - 1),
        };
        let _ = writeln!(text, "{word}: {plans} on {}\n  {reason}", case.system);
        if let Some(label) = case.label() {
            let _ = writeln!(text, "  comes and goes: {label}");
        }
        if case.verdict.is_unjudged() {
            let _ = writeln!(text, "  again: {}", case.reproduce);
        }
    }
    for (CauseLine { severity, words, check }, plans) in causes(report) {
        let tone = if severity <= fail_on { Tone::Bad } else { Tone::Warn };
        let _ = writeln!(text, "{} {check}", paint(tone, &words));
        for (case, findings) in plans.iter().take(MAX_SHOWN) {
            plan(&mut text, case, findings);
        }
        match plans.len().saturating_sub(MAX_SHOWN) {
            0 => {}
            1 => text.push_str("  … and another plan\n\n"),
            n => {
                let _ = writeln!(text, "  … and {n} more plans\n");
            }
        }
    }
    known::render(&mut text, report, &paint);
    application::render(&mut text, report);
    summary(&mut text, report, fail_on, paint);
    text
}

/// The meaning of a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// The expected state.
    Good,
    /// An error.
    Bad,
    /// Something to look at.
    Warn,
}

/// The line above causes with the same severity and check.
struct CauseLine {
    severity: Severity,
    /// The severity, as it is printed.
    words: String,
    check: &'static str,
}

/// The cases without a finding that are not a pass, grouped by system, verdict and reason.
fn unjudged(report: &Report) -> Vec<Vec<&Case>> {
    let mut groups: Vec<Vec<&Case>> = Vec::new();
    for case in report.cases.iter().filter(|case| case.verdict != Verdict::Pass && case.findings.is_empty()) {
        let of = |case: &Case| (case.system.clone(), case.verdict, case.reason.clone(), case.label());
        match groups.iter_mut().find(|group| group.first().is_some_and(|first| of(first) == of(case))) {
            Some(group) => group.push(case),
            None => groups.push(vec![case]),
        }
    }
    groups
}

/// Cases, each with its findings of one cause.
type CasePlans<'a> = Vec<(&'a Case, Vec<&'a Finding>)>;

/// The causes in their order. Those with the same severity and check have one line.
fn causes(report: &Report) -> Vec<(CauseLine, CasePlans<'_>)> {
    let causes = report.causes();
    let alike = |a: &Cause<'_>, b: &Cause<'_>| a.severity_words() == b.severity_words();
    let mut lines = Vec::new();
    for alike in causes.chunk_by(alike) {
        let mut by_check: BTreeMap<&'static str, Vec<&Cause<'_>>> = BTreeMap::new();
        for cause in alike {
            let Some((_, finding)) = cause.shown.first() else { continue };
            by_check.entry(finding.check).or_default().push(cause);
        }
        for (check, causes) in by_check {
            let Some(first) = causes.first() else { continue };
            let (severity, words) = (first.signature.severity, first.severity_words());
            lines.push((CauseLine { severity, words, check }, plans(&causes)));
        }
    }
    lines
}

/// The plans in which these causes occur, control plans first.
fn plans<'a>(causes: &[&Cause<'a>]) -> CasePlans<'a> {
    let mut cases: Vec<&Case> = causes.iter().flat_map(|cause| &cause.shown).map(|(case, _)| *case).collect();
    cases.sort_by_key(|case| (!case.is_control(), &case.system, &case.plan));
    cases.dedup_by(|a, b| std::ptr::eq(*a, *b));
    let is_its = |case: &Case, finding: &Finding| {
        let signature = Signature::of(finding);
        causes.iter().any(|cause| cause.system == case.system && cause.signature == signature)
    };
    let plan = |case: &'a Case| (case, case.counted().filter(|finding| is_its(case, finding)).collect());
    cases.into_iter().map(plan).collect()
}

/// The findings that follow from a finding: how often the same one for other calls, and the kinds of the
/// rest, the worst first.
pub(super) fn also(finding: &Finding) -> Option<String> {
    let (same, others): (Vec<&Finding>, Vec<&Finding>) =
        finding.also.iter().partition(|also| also.severity == finding.severity);
    let mut kinds: Vec<Severity> = others.iter().map(|also| also.severity).collect();
    kinds.sort();
    kinds.dedup();
    let mut words: Vec<String> = kinds.iter().map(|kind| kind.name().to_owned()).collect();
    if !same.is_empty() {
        words.insert(0, format!("{} more of the same", same.len()));
    }
    (!words.is_empty()).then(|| words.join(", "))
}

/// All known facts about a case: each finding with its evidence, the faults, and how to run it again.
pub(super) fn whole(case: &Case) -> String {
    let mut text = String::new();
    plan(&mut text, case, &case.findings.iter().collect::<Vec<_>>());
    text.trim_end().to_owned()
}

fn plan(text: &mut String, case: &Case, findings: &[&Finding]) {
    let _ = writeln!(text, "  {} on {}", case.plan, case.system);
    for finding in findings {
        let lasting = match finding.permanence {
            Some(Permanence::Permanent) => ", permanent",
            Some(Permanence::Transient) => ", transient",
            None => "",
        };
        let _ = writeln!(text, "    {}", finding.message);
        let rule = finding.rule.map(|rule| format!("  rule {rule}")).unwrap_or_default();
        let _ = writeln!(text, "    at {}{lasting}{rule}", finding.place);
        let _ = writeln!(text, "    expected {}; got {}", finding.expected, finding.got);
        if let Some(model) = &finding.model {
            let _ = writeln!(text, "    model: {model}");
        }
        if let Some(also) = also(finding) {
            let _ = writeln!(text, "    also: {also}");
        }
    }
    if let Some(label) = case.label() {
        let _ = writeln!(text, "    comes and goes: {label}");
    }
    if case.unconfirmed {
        let _ = writeln!(text, "    {UNCONFIRMED}: the run was stopped before the plan ran again");
    }
    for receipt in &case.receipts {
        let grade = receipt.grade.map_or("none", Confidence::name);
        let _ = writeln!(text, "    fault: {} (receipt: {grade})", receipt.words);
    }
    let _ = writeln!(text, "    again: {}\n", case.reproduce);
}

fn summary(text: &mut String, report: &Report, fail_on: Severity, paint: impl Fn(Tone, &str) -> String) {
    summary_of(text, report, fail_on, &paint, account);
    if let Some(line) = report.stopped_line() {
        let _ = writeln!(text, "{line}");
    }
    let shard = report.shard.map(|shard| format!(", shard {shard}")).unwrap_or_default();
    let _ = writeln!(text, "seed {}, profiles {}{shard}", report.seed, report.profiles.join(" "));
}

/// A line for each system with its plans by verdict and the faults, followed by its account.
pub(super) fn summary_of(
    text: &mut String,
    report: &Report,
    fail_on: Severity,
    paint: &dyn Fn(Tone, &str) -> String,
    account: impl Fn(&mut String, &Account),
) {
    let mut systems: Vec<&str> = report.cases.iter().map(|case| case.system.as_str()).collect();
    systems.dedup();
    for system in systems {
        let cases: Vec<&Case> = report.cases.iter().filter(|case| case.system == system).collect();
        let counts: Vec<String> = Verdict::ALL
            .into_iter()
            .map(|verdict| (verdict, cases.iter().filter(|case| case.verdict == verdict).count()))
            .filter(|(verdict, n)| *n > 0 || matches!(verdict, Verdict::Pass | Verdict::Fail))
            .map(|(verdict, n)| match verdict {
                Verdict::Fail => {
                    let counting = counting(&cases, fail_on, n, !report.baselines.is_empty());
                    let unconfirmed = match cases.iter().filter(|case| case.unconfirmed).count() {
                        0 => String::new(),
                        n => format!(" [{n} not confirmed]"),
                    };
                    format!("{n} fail{counting}{unconfirmed}")
                }
                _ => format!("{n} {}", verdict.name()),
            })
            .collect();
        let (armed, fired) = cases
            .iter()
            .flat_map(|case| &case.receipts)
            .fold((0, 0), |(armed, fired), receipt| (armed + 1, fired + usize::from(receipt.is_proven())));
        let tone = if n_red(&cases, fail_on) == 0 { Tone::Good } else { Tone::Bad };
        let _ = writeln!(
            text,
            "{}  {} plans: {}; faults: {armed} armed, {fired} with receipt",
            paint(tone, system),
            cases.len(),
            counts.join(", "),
        );
        report.accounts.iter().filter(|account| account.system == system).for_each(|own| account(text, own));
    }
}

/// The checks that ran on a system, and the level that it reaches.
fn account(text: &mut String, account: &Account) {
    if account.checks.is_empty() {
        return;
    }
    let faults = account.faults;
    let grades = [("observed", faults.observed), ("read", faults.read), ("only written", faults.written)];
    let grades: Vec<String> =
        grades.iter().filter(|(_, n)| *n > 0).map(|(word, n)| format!("{n} {word}")).collect();
    if !grades.is_empty() {
        let _ = writeln!(text, "  faults: {} fired: {}", faults.fired, grades.join(", "));
    }
    let n_spoke: usize = account.checks.iter().map(|check| check.spoke).sum();
    let silent: Vec<&str> = account.silent().map(|check| check.check.as_str()).collect();
    let never =
        if silent.is_empty() { String::new() } else { format!("; never applicable: {}", silent.join(", ")) };
    let missed = if account.is_whole() { String::new() } else { format!(" of {}", account.n_expected) };
    let _ = writeln!(text, "  checks: {}{missed} run, {n_spoke} applicable{never}", account.n_asked);
    if let Some(level) = level(account) {
        let _ = writeln!(text, "  {level}");
    }
}

/// The level of a system and the reason why it does not reach the next. `None` if only a part of the
/// requirements ran.
pub(super) fn level(account: &Account) -> Option<String> {
    if account.level.is_none() && account.broken_by.is_empty() && account.unasked.is_empty() {
        return None;
    }
    let mut words = format!("level: {}", account.level.map_or("none", Level::name));
    let next = Level::ALL.into_iter().find(|level| Some(*level) > account.level);
    let next = next.map_or("", Level::name);
    if !account.broken_by.is_empty() {
        words.push_str(&format!("; {next} is broken by {}", account.broken_by.join(", ")));
    } else if !account.unasked.is_empty() {
        words.push_str(&format!("; never applicable at {next}: {}", account.unasked.join(", ")));
    }
    let apart: Vec<&str> = account.of_application().map(|check| check.check.as_str()).collect();
    if !apart.is_empty() {
        words.push_str(&format!("; the application's: {}", apart.join(", ")));
    }
    Some(words)
}

/// The number of failed cases that count, if not all do.
fn counting(cases: &[&Case], fail_on: Severity, n_failed: usize, is_held: bool) -> String {
    let bad = match fail_on {
        Severity::MILDEST => String::new(),
        _ => format!(" at {} or worse", fail_on.name()),
    };
    let n_red = n_red(cases, fail_on);
    match (is_held && n_failed > 0, n_red) {
        (true, 0) if bad.is_empty() => " (all expected)".to_owned(),
        (true, _) => format!(" ({n_red} not expected{bad})"),
        (false, _) if bad.is_empty() => String::new(),
        (false, _) => format!(" ({n_red}{bad})"),
    }
}

fn n_red(cases: &[&Case], fail_on: Severity) -> usize {
    cases.iter().filter(|case| case.worst_counted().is_some_and(|severity| severity <= fail_on)).count()
}
