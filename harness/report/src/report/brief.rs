//! The end of a run's output: the failures by cause, and the next command to run.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::cause::Cause;
use super::columns::{in_one_line, wrapped};
use super::kin;
use super::short::{ShortIds, case_id};
use super::stopped::UNCONFIRMED;
use super::text::{Tone, counted, level, summary_of};
use super::{Case, Report, is_reference};
use brickbat_rules::Profile;
use brickbat_scenario::premise::Premise;
use brickbat_scenario::verdict::Severity;

/// The settings of the printed report.
pub struct Page<'a> {
    /// Columns of a line that is wrapped.
    pub width: usize,
    /// Columns after which a line is cut.
    pub room: usize,
    /// The mildest severity that makes the run red.
    pub fail_on: Severity,
    /// The argument that `show` needs in addition to an id to find a case, if the case was kept.
    /// Otherwise, no command is suggested.
    pub kept: &'a dyn Fn(&Case) -> Option<String>,
    /// Wraps a word in a colour, or leaves it.
    pub paint: &'a dyn Fn(Tone, &str) -> String,
}

/// The maximum number of causes that are listed. No system has shown more than 25.
const MAX_LISTED: usize = 40;

/// Kinds of plans that could not be judged, and stale entries of baselines, that are listed.
const MAX_NAMED: usize = 2;

/// Further lines of the reason why plans could not be judged.
const MAX_REASON: usize = 8;

/// The closing block for a run.
pub fn render(report: &Report, page: &Page<'_>) -> String {
    let mut text = String::new();
    let causes = report.causes();
    let ids = ShortIds::of_causes(causes.iter().map(Cause::id).collect());
    headline(&mut text, report, page, causes.len());
    let mut apart = String::new();
    unjudged(&mut apart, report, page);
    baselines(&mut apart, report, page);
    application(&mut apart, report);
    listed(&mut text, &causes, &ids, page);
    if !apart.is_empty() {
        text.push_str(&apart);
        text.push('\n');
    }
    next(&mut text, report, &causes, &ids, page);
    counts(&mut text, report, page);
    text
}

fn headline(text: &mut String, report: &Report, page: &Page<'_>, n_causes: usize) {
    let code = report.exit_code(page.fail_on);
    let (tone, word) = match code {
        0 => (Tone::Good, "pass"),
        1 => (Tone::Bad, "fail"),
        4 => (Tone::Bad, "broken"),
        _ => (Tone::Warn, "not judged"),
    };
    let n_judged = report.cases.iter().filter(|case| case.is_judged()).count();
    let failed = |case: &&Case| case.worst_counted().is_some();
    let n_failed = report.cases.iter().filter(failed).count();
    // A user who forgets to name a system must not take this for a verdict on it.
    let is_own = !report.cases.is_empty() && report.cases.iter().all(|case| is_reference(&case.system));
    let who = if is_own { ", on the built-in reference agent" } else { "" };
    let n_unjudged = report.cases.iter().filter(|case| case.verdict.is_unjudged()).count();
    let nothing = if report.baselines.is_empty() { "nothing is wrong" } else { "nothing new is wrong" };
    let words = match (code, n_causes) {
        (4, _) => "the reference agent fails, which is a bug in Brickbat".to_owned(),
        (3, 0) if n_unjudged > 0 && n_judged == 0 => counted(n_unjudged, "plan"),
        (3, 0) if n_unjudged > 0 => {
            let how = if report.baselines.is_empty() { "passed" } else { "went as the baseline lists" };
            format!("{}; the other {} {how}", counted(n_unjudged, "plan"), counted(n_judged, "plan"))
        }
        (3, 0) => format!("not everything ran; {} passed", counted(n_judged, "plan")),
        (1, 0) => {
            let n_stale = report.baselines.iter().map(|held| held.stale.len()).sum();
            format!("{} no longer found, as below", counted(n_stale, "known finding"))
        }
        (_, 0) => format!("{nothing} in {}{who}", counted(n_judged, "judged plan")),
        _ => format!("{} in {n_failed} of {}", counted(n_causes, "cause"), counted(n_judged, "judged plan")),
    };
    if let Some(seen) = report.seen_words() {
        let of = format!("in {n_failed} of {}", counted(n_judged, "judged plan"));
        let broken = if code == 4 { format!("; {words}") } else { String::new() };
        let _ = writeln!(text, "{}: {seen}, {of}{broken}\n", (page.paint)(tone, "stopped"));
        return;
    }
    let _ = writeln!(text, "{}: {words}\n", (page.paint)(tone, word));
}

/// A line for each severity, and two for each of its causes. Causes that need no fault come before all others; the
/// rest is listed by premise. A cause that is likely the same bug as an earlier one is a line below it.
fn listed(text: &mut String, causes: &[Cause<'_>], ids: &ShortIds, page: &Page<'_>) {
    let listed = &causes[..causes.len().min(MAX_LISTED)];
    let kin = kin::grouped(listed);
    let mut headed = None;
    for alike in kin.chunk_by(|a, b| group(a.first) == group(b.first)) {
        let first = alike[0].first;
        let premise = premise_after_faults(first);
        if premise != headed {
            premise.into_iter().for_each(|premise| heading(text, premise, page));
            headed = premise;
        }
        let (severity, words) = (first.signature.severity, first.severity_words());
        let tone = if severity <= page.fail_on { Tone::Bad } else { Tone::Warn };
        let room = page.room.saturating_sub(words.len() + 2);
        let loss = in_one_line(&lowered(severity.sentence()), room);
        let _ = writeln!(text, "{}: {loss}", (page.paint)(tone, &words));
        for kin in alike {
            line(text, kin.first, ids, page);
            message(text, kin.first, page);
            kin.others.iter().for_each(|other| also(text, other, kin.first, ids, page));
        }
    }
    match causes.len().saturating_sub(MAX_LISTED) {
        0 => {}
        n => {
            let _ = writeln!(text, "… and {}; --verbose lists every plan", counted(n, "more cause"));
        }
    }
    if !causes.is_empty() {
        text.push('\n');
    }
}

/// The causes that are listed together: they have the same premise and the same severity.
fn group(cause: &Cause<'_>) -> (Option<Option<Premise>>, String) {
    (premise_after_faults(cause), cause.severity_words())
}

/// The premise of a cause that needs a fault. `Some(None)` if its plans come from an older report.
fn premise_after_faults(cause: &Cause<'_>) -> Option<Option<Premise>> {
    (!cause.fails_without_fault()).then(|| cause.premise())
}

/// The heading above the causes with one premise.
fn heading(text: &mut String, premise: Option<Premise>, page: &Page<'_>) {
    let Some(premise) = premise else {
        let _ = writeln!(text, "other:");
        return;
    };
    let sentence = lowered(premise.sentence());
    let words = in_one_line(&sentence, page.room.saturating_sub(premise.name().len() + HEADED.len() + 2));
    let _ = writeln!(text, "{HEADED}{}: {words}", premise.name());
}

/// The beginning of a heading.
const HEADED: &str = "premise ";

/// A cause: its id, its check, the number of plans in which it occurs, and one such plan.
fn line(text: &mut String, cause: &Cause<'_>, ids: &ShortIds, page: &Page<'_>) {
    let Some((case, finding)) = cause.example() else { return };
    let id = ids.short(&cause.id());
    let n = counted(cause.shown.len(), "plan");
    let unconfirmed = if cause.is_confirmed() { String::new() } else { format!("{UNCONFIRMED}, ") };
    let words = format!("{unconfirmed}{n}: {} ({})", case.plan, finding.check);
    let _ = writeln!(text, "  {id}  {}", in_one_line(&words, page.room.saturating_sub(id.len() + 4)));
}

/// A cause that is likely the same bug as the first one: its id, its severity if that is another one, the interruption,
/// and one plan.
fn also(text: &mut String, cause: &Cause<'_>, first: &Cause<'_>, ids: &ShortIds, page: &Page<'_>) {
    let Some((case, _)) = cause.example() else { return };
    let id = ids.short(&cause.id());
    let n = counted(cause.shown.len(), "plan");
    let unconfirmed = if cause.is_confirmed() { String::new() } else { format!("{UNCONFIRMED}, ") };
    let after = cause.signature.trigger.map_or_else(String::new, |it| format!("after {}, ", it.phrase()));
    let own = &cause.signature;
    let is_same = (own.severity, &own.check) == (first.signature.severity, &first.signature.check);
    let severity = if is_same { String::new() } else { format!("{}, ", own.severity.name()) };
    let words = format!("also {id}  {severity}{after}{unconfirmed}{n}: {}", case.plan);
    let words = in_one_line(&words, page.room.saturating_sub(MESSAGE_INDENT.len()));
    let _ = writeln!(text, "{MESSAGE_INDENT}{words}");
}

/// The finding of the plan that represents the cause.
fn message(text: &mut String, cause: &Cause<'_>, page: &Page<'_>) {
    let Some((_, finding)) = cause.example() else { return };
    let message = in_one_line(&finding.message, page.room.saturating_sub(MESSAGE_INDENT.len()));
    let _ = writeln!(text, "{MESSAGE_INDENT}{message}");
}

/// Messages are indented below the check of their cause.
const MESSAGE_INDENT: &str = "        ";

/// A sentence in the form that follows a colon.
fn lowered(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches('.');
    let mut letters = sentence.chars();
    let Some(first) = letters.next() else { return String::new() };
    let is_word = letters.clone().next().is_some_and(char::is_uppercase);
    if is_word { sentence.to_owned() } else { first.to_lowercase().chain(letters).collect() }
}

/// The plans that could not be judged, by their reasons.
fn unjudged(text: &mut String, report: &Report, page: &Page<'_>) {
    let mut reasons: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for case in report.cases.iter().filter(|case| case.verdict.is_unjudged()) {
        let reason = case.reason.as_deref().unwrap_or("no reason given");
        *reasons.entry((case.verdict.name(), reason)).or_default() += 1;
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, n)| usize::MAX - n);
    for (at, ((verdict, reason), n)) in reasons.iter().take(MAX_NAMED).enumerate() {
        let words = format!("{}: {reason}", counted(*n, "plan"));
        let word = (page.paint)(Tone::Warn, verdict);
        if at == 0 {
            // The user has to fix this first, so it is printed in full.
            let room = page.width.saturating_sub(verdict.len() + 2);
            let mut lines = wrapped(&words, room).into_iter();
            let _ = writeln!(text, "{word}: {}", lines.next().unwrap_or_default());
            lines.take(MAX_REASON).for_each(|line| {
                let _ = writeln!(text, "  {line}");
            });
        } else {
            let _ = writeln!(
                text,
                "{word}: {}",
                in_one_line(&words, page.room.saturating_sub(verdict.len() + 2))
            );
        }
    }
    if reasons.len() > MAX_NAMED {
        let n_left = reasons.iter().skip(MAX_NAMED).map(|(_, n)| n).sum();
        let _ = writeln!(text, "… and {} for other reasons", counted(n_left, "plan"));
    }
}

fn baselines(text: &mut String, report: &Report, page: &Page<'_>) {
    for held in &report.baselines {
        for (is_declined, word) in [(false, "expected"), (true, "decided upstream")] {
            let of_kind = held.entries.iter().filter(|entry| entry.is_declined() == is_declined);
            let n_findings: usize = of_kind.map(|entry| entry.n_findings).sum();
            if n_findings > 0 {
                let word = (page.paint)(Tone::Good, word);
                let _ = writeln!(text, "{word}: {}, listed in {}", counted(n_findings, "finding"), held.file);
            }
        }
        for stale in held.stale.iter().take(MAX_NAMED) {
            let (check, n) = (&stale.check, counted(stale.plans.len(), "plan"));
            let word = (page.paint)(Tone::Bad, "stale");
            let _ = writeln!(text, "{word}: {check} no longer appears in {n} listed in {}", held.file);
        }
        if held.stale.len() > MAX_NAMED {
            let n = counted(held.stale.len() - MAX_NAMED, "more stale entry");
            let _ = writeln!(text, "… and {}", n.replace("entrys", "entries"));
        }
        if !held.stale.is_empty() {
            text.push_str("  --write-baseline removes stale entries\n");
        }
    }
}

fn application(text: &mut String, report: &Report) {
    let with = report.cases.iter().filter(|case| !case.application.is_empty()).count();
    if with > 0 {
        let n = counted(with, "plan");
        let _ =
            writeln!(text, "the application's duty: findings in {n} that do not count; --verbose lists them");
    }
    let repaired: usize =
        report.cases.iter().flat_map(|case| &case.repaired).map(|repaired| repaired.turns).sum();
    if repaired > 0 {
        let n = counted(repaired, "turn");
        let _ = writeln!(text, "the adapter repaired in the application's place in {n}; --verbose lists it");
    }
}

/// The next command, for the worst cause, otherwise for the first plan that could not be judged.
fn next(text: &mut String, report: &Report, causes: &[Cause<'_>], ids: &ShortIds, page: &Page<'_>) {
    let of_cause = causes.first().and_then(|cause| Some((cause.example()?.0, ids.short(&cause.id()))));
    let is_cause = of_cause.is_some();
    let unjudged = || {
        let ran = |case: &&Case| case.verdict.is_unjudged() && !report.is_left(case);
        let case = report.cases.iter().find(ran)?;
        let ids = report.cases.iter().map(|case| (case.system.as_str(), case.plan.as_str()));
        Some((case, ShortIds::of_cases(ids).short(&case_id(&case.system, &case.plan))))
    };
    let Some((case, id)) = of_cause.or_else(unjudged) else { return };
    let Some(options) = (page.kept)(case) else {
        let _ = writeln!(text, "again: {}\n", case.reproduce);
        return;
    };
    let steps =
        [("show", "what happened, step by step"), ("explain", "what it means"), ("replay", "run it again")];
    let n_steps = if is_cause { steps.len() } else { 2 };
    for (at, (command, why)) in steps.into_iter().take(n_steps).enumerate() {
        let line = format!("brickbat {command} {id}{options}");
        let _ = writeln!(text, "{}{line:<26}  {why}", if at == 0 { "next: " } else { "      " });
    }
    text.push('\n');
}

/// Each system's number of plans and level.
fn counts(text: &mut String, report: &Report, page: &Page<'_>) {
    summary_of(text, report, page.fail_on, page.paint, |text, account| {
        if let Some(level) = level(account) {
            let _ = writeln!(text, "  {}", in_one_line(&level, page.room.saturating_sub(2)));
        }
    });
    let newest = |name: &&String| {
        !Profile::all()
            .any(|profile| profile.name == **name && Profile::newest(profile.dialect).name == profile.name)
    };
    let asked: Vec<&str> = report.profiles.iter().filter(newest).map(String::as_str).collect();
    let asked = if asked.is_empty() { String::new() } else { format!(", profiles {}", asked.join(" ")) };
    let shard = report.shard.map(|shard| format!(", shard {shard}")).unwrap_or_default();
    let _ = writeln!(text, "seed {}{asked}{shard}", report.seed);
}
