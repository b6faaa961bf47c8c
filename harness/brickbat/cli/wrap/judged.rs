//! The verdict on all runs of a program: accepted, refused or undecided, with the reason.

use super::Wrap;
use super::lost;
use super::run::{Ended, Run};
use crate::cli::error::UNJUDGED;
use crate::cli::served;
use brickbat_drive::runner::quoted;
use brickbat_engine::standalone::{Log, ProgramEnd, Runs};
use brickbat_report::report::text::counted;

/// The verdict on all runs.
pub(super) struct Judged {
    pub(super) code: u8,
    pub(super) words: String,
}

impl Judged {
    pub(super) fn of(wrap: &Wrap, log: &Log, runs: &[Run], threads: &Runs) -> Judged {
        let lost = lost::words(threads);
        match served::exit_code(log) {
            0 => match lost.clone().or_else(|| undecided(wrap, log, runs)) {
                Some(what) if lost.is_some() && threads.has_continued() => Judged { code: LOST, words: what },
                Some(why) => Judged { code: UNJUDGED, words: format!("undecided: {why}") },
                None => Judged { code: 0, words: accepted(runs) },
            },
            UNJUDGED => {
                let words = "undecided: no request came: the program does not use the base URL".to_owned();
                Judged { code: UNJUDGED, words }
            }
            code => Judged { code, words: "a request was refused".to_owned() },
        }
    }
}

/// Exit code if a resumed thread lacks something.
const LOST: u8 = 1;

/// The reason why the runs decide nothing although every request was accepted. `None` if they decide.
fn undecided(wrap: &Wrap, log: &Log, runs: &[Run]) -> Option<String> {
    let last = runs.last()?;
    match last.ended {
        Ended::TimedOut => return Some("the program took too long and was killed".to_owned()),
        Ended::Interrupted => return Some("it was interrupted".to_owned()),
        Ended::ByItself(_) | Ended::AtPoint { .. } => {}
    }
    let stop = runs.iter().find_map(|run| match run.ended {
        Ended::AtPoint { end, .. } => Some(end),
        Ended::ByItself(_) | Ended::TimedOut | Ended::Interrupted => None,
    });
    let has_point = wrap.stop_at.is_some() || wrap.kill_at.is_some();
    if has_point && stop.is_none() {
        return Some("the program never reached the point at which it was to end".to_owned());
    }
    let n_silent = runs.iter().filter(|run| run.n_requests == 0).count();
    if n_silent > 0 {
        return Some(match runs.len() {
            n if n_silent < n => {
                format!("{} sent no request: does --resume continue the thread?", counted(n_silent, "run"))
            }
            _ => "no request came".to_owned(),
        });
    }
    if log.offers == 0 {
        let why = "no request offered a tool, so no call was tested";
        return Some(format!("{why}; turn on the program's tools"));
    }
    let next = continues(wrap);
    match (&last.ended, stop) {
        (Ended::AtPoint { .. }, Some(end)) if !is_followed(log) => {
            let how = match end {
                ProgramEnd::Interrupt => "interrupted",
                ProgramEnd::Kill => "killed",
            };
            Some(format!("no request came after the program was {how} at its point; {next}"))
        }
        (Ended::ByItself(status), _) => {
            // If the program succeeded, calls that an earlier reply left open do not count: its later
            // requests dealt with them.
            let open = log.unanswered.last().filter(|open| !status.success() || open.reply == log.replies);
            match (open, status.success()) {
                (Some(open), _) => Some(format!(
                    "the program ended before it answered {} of reply {}{}; {next}",
                    counted(open.calls.len(), "call"),
                    open.reply,
                    if status.success() { String::new() } else { format!(", with {status}") },
                )),
                (None, false) => {
                    Some(format!("every request was accepted, but the program failed with {status}; {next}"))
                }
                (None, true) => None,
            }
        }
        _ => None,
    }
}

/// True if a request arrived after the point at which the program was ended.
fn is_followed(log: &Log) -> bool {
    log.fault_records().last().is_some_and(|record| record.then.is_some())
}

/// Advice on the command that continues the thread.
fn continues(wrap: &Wrap) -> String {
    if wrap.resume.is_some() {
        return "give --resume one more turn: --turns FILE, with a line for each".to_owned();
    }
    let command: Vec<String> = wrap.command.iter().map(|word| quoted(word)).collect();
    let command = command.join(" ");
    format!(
        "continue its thread: brickbat wrap --resume 'COMMAND {{turn}}' -- {command}, where COMMAND loads the stored thread"
    )
}

/// The verdict text if every request was accepted. It lists each run that failed and was continued.
fn accepted(runs: &[Run]) -> String {
    let failed = (1..).zip(runs).filter_map(|(nth, run)| match run.ended {
        Ended::ByItself(status) if !status.success() => Some(format!("run {nth} failed with {status}")),
        _ => None,
    });
    let failed: Vec<String> = failed.collect();
    match failed.as_slice() {
        [] => "every request was accepted".to_owned(),
        failed => format!("every request was accepted; {}, and the next run continued", failed.join(", ")),
    }
}
