//! The terms that reports print, with their meanings.

use brickbat_engine::checks::{CHECKS, Check};
use brickbat_report::classes;
use brickbat_scenario::duty::Duty;
use brickbat_scenario::premise::Premise;
use brickbat_scenario::trace::Confidence;
use brickbat_scenario::verdict::{Level, Severity, Verdict};
use brickbat_sessions as sessions;

use super::super::embedded::CLASSES;
use super::super::library::built_in_text;
use super::fields;

/// A word, its kind, and its page.
struct Word {
    name: String,
    kind: &'static str,
    page: String,
}

/// The pages for everything that a word names.
pub(super) fn pages(word: &str) -> Vec<String> {
    let mut pages: Vec<String> = all()
        .into_iter()
        .filter(|known| {
            known.name.eq_ignore_ascii_case(&word.replace(' ', "-")) || known.name.eq_ignore_ascii_case(word)
        })
        .map(|known| format!("{} ({})\n\n{}\n", known.name, known.kind, known.page))
        .collect();
    pages.extend(scenario(word));
    pages
}

/// The names of all words, each with its kind.
pub(super) fn names() -> Vec<(String, &'static str)> {
    all().into_iter().map(|word| (word.name, word.kind)).collect()
}

fn all() -> Vec<Word> {
    let word = |name: &str, kind, page: String| Word { name: name.to_owned(), kind, page };
    let mut words = Vec::new();
    words.extend(CHECKS.iter().map(|check| word(check.id, "check", check_page(check))));
    words.extend(Severity::ALL.map(|severity| word(severity.name(), "severity", severity_page(severity))));
    words.extend(Verdict::ALL.map(|verdict| word(verdict.name(), "verdict", verdict_page(verdict))));
    words.extend(
        sessions::Verdict::ALL
            .map(|verdict| word(verdict.name(), "verdict on a session", verdict.sentence().to_owned())),
    );
    words.extend(Level::ALL.map(|level| word(level.name(), "level", level_page(level))));
    words.extend(RECEIPTS.iter().map(|(grade, page)| word(grade.name(), "receipt", (*page).to_owned())));
    words.extend(OTHERS.iter().map(|(name, page)| word(name, "word of reports", (*page).to_owned())));
    words.extend(
        Duty::ALL.map(|duty| word(duty.name(), "duty of an application", duty.sentence().to_owned())),
    );
    words.extend(Premise::ALL.map(|it| word(it.name(), "premise", it.sentence().to_owned())));
    let of_project = glossary().filter(|(name, _)| words.iter().all(|known| known.name != *name));
    let of_project: Vec<Word> =
        of_project.map(|(name, page)| word(name, "word of the project", page.to_owned())).collect();
    words.extend(of_project);
    words.extend(fields::all().into_iter().map(|field| word(&field.name, field.kind, field.page)));
    let classes = classes::parse(CLASSES.1, CLASSES.0).unwrap_or_default();
    words.extend(classes.iter().map(|class| word(&class.id, "class of failures", class_page(class))));
    words
}

/// The glossary of the project, as pairs of a word and its meaning. A row may explain several words.
fn glossary() -> impl Iterator<Item = (&'static str, &'static str)> {
    let (_, table) =
        include_str!("../../../../ARCHITECTURE.md").split_once("## Glossary").unwrap_or_default();
    let rows = table.lines().filter_map(|line| {
        let (words, meaning) = line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?;
        (words != "word").then_some((words, meaning))
    });
    rows.flat_map(|(words, meaning)| words.split(", ").map(move |word| (word, meaning)))
}

/// The meaning of each grade of receipt.
const RECEIPTS: [(Confidence, &str); 3] = [
    (
        Confidence::Observed,
        "The fault happened after the system had shown that it had processed everything before it. This is the strongest \
         proof.",
    ),
    (
        Confidence::Read,
        "The fault happened when the system had read everything before it, as its socket or its own count of bytes shows.",
    ),
    (
        Confidence::Written,
        "The fault happened when everything before it had been written, but it is not known whether the system had read \
         it. This proves nothing, so the plan is not judged. This is normal on a machine that hides socket queues, if \
         the system does not report how much it has read.",
    ),
];

const OTHERS: [(&str, &str); 13] = [
    ("permanent", "The last turn of the plan fails too: the conversation does not recover."),
    (
        "transient",
        "A later turn works, or fails because of the application: the system's conversation recovers.",
    ),
    (
        "receipt",
        "The proof that a planned fault happened where planned, graded `observed`, `read` or `written`. A \
         plan without one is `vacuous`, not passed.",
    ),
    (
        "control",
        "The control plan of a plan is the same conversation without faults. A finding there is reported once, for the \
         control plan, and not again for each plan.",
    ),
    ("comes and goes", "The runs of one plan differ. The label gives the number of runs with this verdict."),
    ("flaky", "The runs of one plan differ. The label gives the number of runs with this verdict."),
    (
        "expected",
        "The finding is listed in a baseline, a file of known findings, and does not make the run red.",
    ),
    ("stale", "A baseline lists a finding that no longer appears. `--write-baseline` removes it."),
    (
        "faults",
        "The actions of the plans, such as a stop or a broken connection: the number that were planned (armed), and the \
         number that happened with proof (a receipt).",
    ),
    ("armed", "A planned fault is armed. When it happens, its receipt proves where it happened."),
    (
        "seed",
        "The number from which the ids on the wire, and the generated plans of `fuzz`, follow. The same seed gives the \
         same run.",
    ),
    (
        "baseline",
        "A file of known findings, each with a reason and a link. They are listed as expected and do not make the run red.",
    ),
    ("made-up", "In the shapes of `show`: a result that no tool returned."),
];

/// The user's loss in a finding, and the requirement that it breaks.
pub(super) fn of_finding(check: &str, severity: Severity) -> String {
    let at = place_of(severity);
    let loss = format!("The user's loss: {} ({}, {at})\n", severity.sentence(), severity.name());
    let Some(check) = Check::find(check) else { return loss };
    let apart = apart(check);
    format!("{loss}Requirement: {} ({}, level {}){apart}\n\n", check.summary, check.id, check.level.name())
}

/// The place of a severity among all, such as `4 of 30, the worst first`.
fn place_of(severity: Severity) -> String {
    let at = Severity::ALL.iter().position(|other| *other == severity).unwrap_or_default() + 1;
    format!("{at} of {}, the worst first", Severity::ALL.len())
}

/// The duties of an application on which a check rests.
fn apart(check: &Check) -> String {
    let rests_on: Vec<&str> = check.rests_on.iter().map(|duty| duty.name()).collect();
    match rests_on.as_slice() {
        [] => String::new(),
        duties => format!(
            "\nIf the application does one of these itself, the finding is the application's: {}.",
            duties.join(", ")
        ),
    }
}

fn check_page(check: &Check) -> String {
    let (severity, apart) = (check.severity, apart(check));
    format!(
        "Requirement: {}\n\nThe user's loss otherwise: {} ({}), unless a finding states another.\n\
         It belongs to level {}.{apart}",
        check.summary,
        severity.sentence(),
        severity.name(),
        check.level.name(),
    )
}

fn severity_page(severity: Severity) -> String {
    let checks = CHECKS.iter().filter(|check| check.severity == severity);
    let checks: Vec<&str> = checks.map(|check| check.id).collect();
    let found_by =
        if checks.is_empty() { String::new() } else { format!("\nChecks: {}.", checks.join(", ")) };
    format!("{}\n\nNumber {}.{found_by}", severity.sentence(), place_of(severity))
}

fn verdict_page(verdict: Verdict) -> String {
    let exit = match verdict {
        Verdict::Fail => "The run ends with exit code 1.",
        verdict if verdict.is_unjudged() => "The run ends with exit code 3, unless something fails.",
        _ => "It does not change the exit code.",
    };
    format!("{}\n\n{exit}", verdict.sentence())
}

fn level_page(level: Level) -> String {
    let checks: Vec<&str> =
        CHECKS.iter().filter(|check| check.level == level).map(|check| check.id).collect();
    format!(
        "{}\n\nA system reaches the level if every check of it and of the levels below it applied at least once and none \
         failed.\nChecks: {}.",
        level.sentence(),
        checks.join(", ")
    )
}

fn class_page(class: &classes::Class) -> String {
    format!("{}\n\n`brickbat classes` shows how well the suite covers it.", class.summary)
}

/// The page for a built-in scenario, or for one of its plans: the text of its file.
fn scenario(word: &str) -> Option<String> {
    let id = word.split(['#', '@']).next().unwrap_or(word);
    let text = built_in_text(id)?;
    Some(format!("{id} (scenario)\n\n{text}\nits plans: brickbat run {id} --list\n"))
}
