//! Writes findings as human-readable text, in the style of a compiler.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::excerpt::shown;
use super::tally::{Tally, Unknown};
use super::{CheckedRequest, Excerpt, Finding, Level, Providers};
use crate::Profile;
use crate::colour::Colour;

/// Findings of one request that are shown in full. Further findings are only counted.
const MAX_SHOWN: usize = 20;

/// Maximum length of a provider's message in characters. Some messages list every id.
const MAX_MESSAGE: usize = 600;

/// Maximum length of the name of a host or a model in characters.
const MAX_NAME: usize = 60;

/// Writes the findings in a request.
pub(super) fn findings(
    file: &str,
    checked: &CheckedRequest,
    colour: Colour,
    explained: &mut BTreeSet<&'static str>,
) -> String {
    let mut text = String::new();
    for finding in checked.findings.iter().take(MAX_SHOWN) {
        one(&mut text, file, finding, colour);
        let rule = finding.rule;
        let _ = writeln!(text, "  = rule {}: {}", rule.alias, rule.summary);
        match checked.providers {
            Providers::Union(_) => minded_by(&mut text, finding),
            Providers::Profile(profile) if finding.level != Level::Refused => {
                let name = profile.name;
                let _ = writeln!(text, "  = note: {name} accepts it; older or stricter providers do not");
            }
            Providers::Profile(_) => {}
        }
        if explained.insert(rule.id) {
            let _ = writeln!(text, "  = help: {}", rule.why);
        }
        text.push('\n');
    }
    match checked.findings.len().saturating_sub(MAX_SHOWN) + checked.n_more {
        0 => {}
        n => {
            let _ = writeln!(text, "{file}:{}: … and {n} more in this request\n", checked.line);
        }
    }
    text
}

/// Lists the providers that reject a request because of a finding, and those that only warn.
fn minded_by(text: &mut String, finding: &Finding) {
    for (word, names) in [("refused by", &finding.refused_by), ("warned of by", &finding.warned_by)] {
        if !names.is_empty() {
            let _ = writeln!(text, "  = {word}: {}", names.join(", "));
        }
    }
}

fn one(text: &mut String, file: &str, finding: &Finding, colour: Colour) {
    let word = match finding.level {
        Level::Refused => painted(colour, BAD, "error"),
        Level::Denied => painted(colour, BAD, "denied"),
        Level::Warning => painted(colour, WARN, "warning"),
    };
    let _ = writeln!(text, "{word}[{}]: {}", finding.rule.id, shown(&finding.message, MAX_MESSAGE));
    let place = finding.place;
    let pointer = if finding.pointer.is_empty() { "the whole" } else { &finding.pointer };
    let _ = writeln!(text, " --> {file}:{}:{} at {}", place.line, place.column, shown(pointer, MAX_MESSAGE));
    let tone = if finding.level == Level::Warning { WARN } else { BAD };
    excerpt(text, &finding.excerpt, |carets| painted(colour, tone, carets));
}

fn excerpt(text: &mut String, excerpt: &Excerpt, paint: impl Fn(&str) -> String) {
    if excerpt.lines.is_empty() {
        return;
    }
    text.push_str("  |\n");
    for line in &excerpt.lines {
        let _ = writeln!(text, "  | {}", line.text);
        if let Some(marked) = &line.marked {
            let carets = paint(&"^".repeat(marked.len().max(1)));
            let _ = writeln!(text, "  | {}{carets}", " ".repeat(marked.start));
        }
    }
    text.push_str("  |\n");
}

/// Writes the provider's verdict on the only request in a file.
pub(super) fn verdict(checked: &CheckedRequest, colour: Colour) -> String {
    let by = by(checked);
    let mut verdict = match checked.status {
        Some(status) => format!("{} by {by} with status {status}", painted(colour, BAD, "refused")),
        None => format!("{} by {by}", painted(colour, GOOD, "accepted")),
    };
    if checked.is_denied && checked.status.is_none() {
        let _ = write!(verdict, ", but {}", painted(colour, BAD, "denied"));
    }
    verdict.push_str(&warnings(checked.count(Level::Warning)));
    verdict
}

/// Names the providers behind the verdict.
fn by(checked: &CheckedRequest) -> String {
    let Providers::Union(dialect) = checked.providers else { return checked.providers.name().into_owned() };
    let n_profiles = Profile::newest_of_each_name(dialect).count();
    match checked.refused_by.len() {
        0 => format!("all {n_profiles} profiles of {dialect}"),
        n => format!("{n} of {n_profiles} profiles of {dialect}"),
    }
}

/// Writes the counts for the requests in a file.
pub(super) fn summary(file: &str, tally: &Tally, colour: Colour) -> String {
    format!("{file}: {}\n", outcome(tally, colour))
}

/// Writes the total, if there are several files.
pub(super) fn end(tally: &Tally, colour: Colour) -> String {
    if tally.n_files < 2 && tally.n_passed_over == 0 {
        return String::new();
    }
    let mut text = format!("in all: {} files, {}", tally.n_files, outcome(tally, colour));
    if tally.n_passed_over > 0 {
        let _ = write!(text, "; {} other files passed over", tally.n_passed_over);
    }
    text.push('\n');
    text
}

/// Writes a line for requests without a model, and one for requests without a host.
pub(super) fn unknown(unknown: &Unknown) -> String {
    let mut text = String::new();
    let requests =
        |n: usize| if n == 1 { "1 request names".to_owned() } else { format!("{n} requests name") };
    let joined = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<&str>>().join(", ");
    if unknown.n_without_model > 0 {
        let _ = writeln!(
            text,
            "note: {} no model, so these rules were not applied in full: {}; --model names it",
            requests(unknown.n_without_model),
            joined(&unknown.rules)
        );
    }
    let stand_ins: Vec<String> = unknown.stand_ins.iter().map(|host| shown(host, MAX_NAME)).collect();
    let host = match stand_ins.is_empty() {
        true => "no host".to_owned(),
        false => format!("no host of a provider ({})", stand_ins.join(", ")),
    };
    for (model, own) in &unknown.strangers {
        let _ = writeln!(
            text,
            "note: {} is a model at {own}. The rules there for this dialect are not known, so the dialect's own provider judged: \
             {own} may differ",
            shown(model, MAX_NAME)
        );
    }
    if unknown.n_by_model > 0 {
        let _ = writeln!(
            text,
            "note: {} {host}, so the model's own provider judged ({}); --host names another",
            requests(unknown.n_by_model),
            joined(&unknown.of_models)
        );
    }
    if unknown.n_without_host > 0 {
        let _ = writeln!(
            text,
            "note: {} {host}, so the dialect's own provider judged ({}); --host names another",
            requests(unknown.n_without_host),
            joined(&unknown.profiles)
        );
    }
    text
}

fn outcome(tally: &Tally, colour: Colour) -> String {
    let count = |n: usize, word: &str, tone: &str| match n {
        0 => format!("0 {word}"),
        n => format!("{n} {}", painted(colour, tone, word)),
    };
    let mut text = format!(
        "{} requests: {}, {}",
        tally.n_requests,
        count(tally.n_accepted, "accepted", GOOD),
        count(tally.n_refused, "refused", BAD)
    );
    if tally.n_denied > 0 {
        let _ = write!(text, ", {}", count(tally.n_denied, "denied", BAD));
    }
    if tally.n_unjudged > 0 {
        let _ = write!(text, ", {}", count(tally.n_unjudged, "not judged", BAD));
    }
    match tally.n_no_reply {
        0 => {}
        1 => text.push_str(", 1 asks for no reply"),
        n => {
            let _ = write!(text, ", {n} ask for no reply");
        }
    }
    text.push_str(&warnings(tally.n_warnings));
    text
}

fn warnings(n: usize) -> String {
    match n {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        n => format!(", {n} warnings"),
    }
}

pub(super) const GOOD: &str = "32";
pub(super) const BAD: &str = "31;1";
pub(super) const WARN: &str = "33";

pub(super) fn painted(colour: Colour, code: &str, word: &str) -> String {
    match colour {
        Colour::Plain => word.to_owned(),
        Colour::Ansi => format!("\x1b[{code}m{word}\x1b[0m"),
    }
}
