//! The output of `proxy`. A server may repeat a key that it received, so keys are redacted.

use std::fmt::Write;

use crate::cli::error::UNJUDGED;
use crate::cli::output::paint;
use crate::cli::served;
use brickbat_engine::relay::{RelayLog, RelayNotice};
use brickbat_report::report::text::Tone;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::redact::Redactor;

/// Exit code when a request or a stream broke a rule, or the server failed.
const FOUND: u8 = 1;

/// The output at the start.
pub(super) fn banner(base_url: &str, upstream: &str) -> String {
    let dialects: Vec<&str> = Dialect::ALL.into_iter().map(Dialect::name).collect();
    format!(
        "{base_url}  forwards to {upstream}: {}\n{base_url}/_brickbat/state  what has happened, as JSON\n",
        dialects.join(", ")
    )
}

/// A notice, on one or more lines, without keys.
pub(super) fn line(notice: &RelayNotice, redactor: &Redactor) -> String {
    redactor.text(&words(notice, redactor)).into_owned()
}

fn words(notice: &RelayNotice, redactor: &Redactor) -> String {
    // Redacted before it is shortened, because half a key is not recognised.
    let clean = |words: &str| served::shortened(&redactor.text(words));
    match notice {
        RelayNotice::Request(notice) => served::line(notice),
        RelayNotice::LetThrough { exchange, status } => {
            let said = if *status < 400 { "the server accepted it" } else { "the server refused it too" };
            format!("{} request {exchange}: {said} (status {status})\n", paint(Tone::Warn, "let through"))
        }
        RelayNotice::Stream { exchange, rule, place, message } => format!(
            "{} request {exchange}: the server's stream breaks {rule} at {place}\n    {}\n",
            paint(Tone::Bad, "stream"),
            clean(message),
        ),
        RelayNotice::Reported { exchange, status: 200, words } => format!(
            "{} request {exchange}: the server reported an error in the middle of its reply\n    {}\n",
            paint(Tone::Warn, "error"),
            clean(words),
        ),
        RelayNotice::Reported { exchange, status, words } => format!(
            "{} request {exchange}: the server answered with status {status}\n    {}\n",
            paint(Tone::Warn, "error"),
            clean(words),
        ),
        RelayNotice::Failed { exchange, words } => {
            format!("{} request {exchange}: {}\n", paint(Tone::Bad, "server"), clean(words))
        }
        RelayNotice::Beside { method, path } => {
            format!(
                "{} {method} {path}: not a request for a reply; forwarded unchanged\n",
                paint(Tone::Warn, "beside")
            )
        }
    }
}

/// The summary at the end, without keys.
pub(super) fn summary(log: &RelayLog, redactor: &Redactor) -> String {
    let clean = |words: &str| served::shortened(&redactor.text(words));
    let mut text = served::summary(&log.requests);
    let times = |n: u64| if n == 1 { String::new() } else { format!(", {n} times") };
    let streams = log.streams;
    let n_streams = streams.complete + streams.error_events + streams.broken;
    if n_streams > 0 {
        let _ = writeln!(
            text,
            "{n_streams} streams: {} complete, {} ended with the server's error, {} illegal or cut off",
            streams.complete, streams.error_events, streams.broken
        );
    }
    for (rule, broken) in &log.broken {
        let _ = writeln!(text, "  {} {rule}{}", paint(Tone::Bad, "stream"), times(broken.times));
        let _ = writeln!(text, "    {}", clean(&broken.message));
    }
    for (rule, said) in &log.let_through {
        let _ = writeln!(
            text,
            "  {} {rule}: the server accepted {} and refused {}",
            paint(Tone::Warn, "let through"),
            said.accepted,
            said.refused
        );
    }
    for (status, n) in &log.reported {
        let _ = writeln!(text, "  {} status {status}{}", paint(Tone::Warn, "error"), times(*n));
    }
    for (words, n) in &log.failures {
        let _ = writeln!(text, "  {} {}{}", paint(Tone::Bad, "server"), clean(words), times(*n));
    }
    if log.unrecorded > 0 {
        let _ = writeln!(
            text,
            "  {} {} exchanges are not in the recording",
            paint(Tone::Bad, "unrecorded"),
            log.unrecorded
        );
    }
    redactor.text(&text).into_owned()
}

/// 0 if nothing was found, 1 if something was found, 3 if no request arrived or the recording is incomplete.
pub(super) fn exit_code(log: &RelayLog) -> u8 {
    match (log.has_findings(), log.requests.n_requests()) {
        (true, _) => FOUND,
        (false, 0) => UNJUDGED,
        (false, _) if log.unrecorded > 0 => UNJUDGED,
        (false, _) => 0,
    }
}
