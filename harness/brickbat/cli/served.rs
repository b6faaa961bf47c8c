//! The `serve` and `wrap` output about requests.

use std::fmt::Write;

use serde_json::json;

use super::error::UNJUDGED;
use super::output::paint;
use super::secrets::redactor;
use brickbat_engine::standalone::{Log, Notice, Runs, asks_other_dialect};
use brickbat_report::report::text::Tone;
use brickbat_rules::dialect::Dialect;

/// Exit code when a request was refused.
const REFUSED: u8 = 1;

/// The maximum number of characters on a line from a message or a shape.
const MAX_CHARS: usize = 300;

/// The output at the start.
pub(super) fn banner(base_url: &str) -> String {
    let dialects: Vec<&str> = Dialect::ALL.into_iter().map(Dialect::name).collect();
    format!("{base_url}  {}\n{base_url}/_brickbat/state  what has happened, as JSON\n", dialects.join(", "))
}

/// A notice, on one or more lines.
pub(super) fn line(notice: &Notice) -> String {
    match notice {
        Notice::Chosen(choice) => {
            format!("{}: judged by {}, {}\n", choice.path, choice.profile, choice.basis.words())
        }
        Notice::Refused { exchange, profile, rule, pointer, status, message, shape } => format!(
            "{} request {exchange}: {rule} at {} ({profile}, status {status})\n    {}\n    {}\n",
            paint(Tone::Bad, "refused"),
            place(pointer),
            shortened(message),
            shortened(shape),
        ),
        Notice::Unspoken { method, path } => {
            let why = why_unknown(method, path);
            format!("{} {method} {path}: {why}; status 404\n", paint(Tone::Warn, "unknown"))
        }
        Notice::Unreadable(why) => format!("{} {why}\n", paint(Tone::Warn, "unread")),
        Notice::Delivered { exchange, words, grade } => {
            format!("{} request {exchange}: {words} ({})\n", paint(Tone::Warn, "fault"), grade.name())
        }
    }
}

/// The summary at the end.
pub(super) fn summary(log: &Log) -> String {
    let mut text = String::new();
    let counts = format!("{} requests, {} refused", log.n_requests(), log.n_refused());
    let by_dialect: Vec<String> = log
        .dialects
        .iter()
        .filter(|(_, requests)| requests.requests > 0)
        .map(|(dialect, requests)| format!("{dialect} {}", requests.requests))
        .collect();
    let dialects =
        if by_dialect.is_empty() { String::new() } else { format!(" ({})", by_dialect.join(", ")) };
    let _ = writeln!(text, "{counts}{dialects}");
    for (rule, refusals) in &log.refusals {
        let times = if refusals.times == 1 { String::new() } else { format!(", {} times", refusals.times) };
        let _ =
            writeln!(text, "  {} {rule} at {}{times}", paint(Tone::Bad, "refused"), place(&refusals.pointer));
        let _ = writeln!(text, "    {}", shortened(&refusals.message));
    }
    let faults = log.faults;
    if faults.armed > 0 {
        let _ = writeln!(
            text,
            "faults: {} armed, {} with receipt; next request accepted {} times, refused {} times",
            faults.armed, faults.delivered, faults.then_accepted, faults.then_refused
        );
    }
    for (path, times) in &log.unspoken {
        let times = if *times == 1 { String::new() } else { format!(", {times} times") };
        let (method, below) = path.split_once(' ').unwrap_or_default();
        let why = why_unknown(method, below);
        let _ = writeln!(text, "  {} {path}: {why}{times}", paint(Tone::Warn, "unknown"));
    }
    text
}

/// The reason why nothing answers at a path.
fn why_unknown(method: &str, path: &str) -> String {
    match asks_other_dialect(method, path) {
        Some((asked, own)) => format!(
            "the program asks {asked}, but the base URL names {}, which speaks {}",
            own.undated(),
            own.dialect
        ),
        None => "nothing answers there".to_owned(),
    }
}

/// 0 if every request was accepted, 1 if one was refused, 3 if none arrived or one was sent to the API of another
/// dialect than the base URL names.
pub(super) fn exit_code(log: &Log) -> u8 {
    let is_elsewhere = |path: &String| {
        let (method, below) = path.split_once(' ').unwrap_or_default();
        asks_other_dialect(method, below).is_some()
    };
    let is_lost = log.unspoken.keys().any(is_elsewhere);
    match (log.n_requests(), log.n_refused()) {
        (0, _) => UNJUDGED,
        (_, 0) if is_lost => UNJUDGED,
        (_, 0) => 0,
        _ => REFUSED,
    }
}

/// The report as JSON. `programs` are the exit codes of the program's runs.
pub(super) fn report(
    log: &Log,
    threads: &Runs,
    code: u8,
    verdict: &str,
    programs: Vec<Option<i32>>,
) -> String {
    let exchanges: Vec<_> = log.exchanges().collect();
    let faults: Vec<_> = log.fault_records().collect();
    let mut report = json!({
        "exit_code": code,
        "verdict": verdict,
        "programs": programs,
        "state": log,
        "exchanges": exchanges,
        "faults": faults,
        "lost": threads.losses(),
        "kept_cuts": threads.kept_cuts().map(|(run, cut)| json!({ "run": run, "cut": cut })).collect::<Vec<_>>(),
    });
    redactor().value(&mut report);
    format!("{report:#}\n")
}

/// A human-readable pointer. The empty pointer refers to the body itself.
fn place(pointer: &str) -> &str {
    if pointer.is_empty() { "the body" } else { pointer }
}

/// A text on one line, cut if it is too long. It is redacted before the cut, because half a key is not always
/// recognised.
pub(super) fn shortened(text: &str) -> String {
    let line = redactor().text(text).replace('\n', " ");
    match line.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
