//! The title of a finding, and what happens, as text for readers who do not know Brickbat.

use super::assertion::Assertion;
use super::page::Page;
use brickbat_rules::Rule;
use brickbat_scenario::trace::{Event, TurnOutcome};

/// The expected behaviour, as the title.
pub(super) fn title(page: &Page<'_>) -> String {
    let when = when(page);
    match page.assertion {
        Assertion::Accepted { rule, .. } => {
            let summary = Rule::find(rule.id).map_or("", |rule| rule.summary).trim_end_matches('.');
            format!("{when}, a request breaks a rule of the provider: {}", lowered(summary))
        }
        Assertion::Works { turn } => format!("{when}, turn {} raises an error", turn + 1),
        Assertion::Kept { what, .. } => format!("{when}, {what} is missing from later requests"),
        Assertion::Fails { .. } => format!("{when}, the SDK treats a cut-off reply as complete"),
        Assertion::WholeArguments { .. } => {
            format!("{when}, a tool runs with arguments that the model had not finished")
        }
        Assertion::Once { .. } => format!("{when}, a tool runs twice for one call"),
    }
}

/// The expected behaviour, for an issue's text.
pub(super) fn expected(assertion: &Assertion) -> String {
    match assertion {
        Assertion::Accepted { rule, .. } => {
            let summary = Rule::find(rule.id).map_or("", |rule| rule.summary);
            format!("The provider accepts every request of the thread: {}", lowered(summary))
        }
        Assertion::Works { .. } => {
            "The turn works: nothing goes wrong in it, and an earlier fault does not break the thread."
                .to_owned()
        }
        Assertion::Kept { what, .. } => format!("Later requests contain {what}."),
        Assertion::Fails { .. } => {
            "The turn ends with an error, or the SDK sends the request again.".to_owned()
        }
        Assertion::WholeArguments { .. } => {
            "Tools run only with arguments that the model has finished.".to_owned()
        }
        Assertion::Once { .. } => "A tool runs once for each call.".to_owned(),
    }
}

/// The head of the test.
pub(super) fn about(page: &Page<'_>) -> Vec<String> {
    let mut lines = what_happens(page);
    lines.push(String::new());
    lines.push(format!("Expected: {}", expected(page.assertion)));
    lines.push(format!("Fails on {} {}.", page.target.sdk, page.target.version));
    lines.push(String::new());
    lines.push(format!(
        "Made by `brickbat export` from `{}` on {}; the test itself does not need Brickbat.",
        page.record.case.plan, page.record.case.system
    ));
    lines
}

/// The actions of the user, the provider and the SDK, in sentences.
pub(super) fn what_happens(page: &Page<'_>) -> Vec<String> {
    let last = page.assertion.last_turn();
    let mut lines = Vec::new();
    for receipt in page.record.receipts.iter().filter(|receipt| receipt.fired && receipt.turn <= last + 1) {
        lines.push(format!("In turn {} {}.", receipt.turn, action(&receipt.action, &receipt.words)));
    }
    if lines.is_empty() {
        lines.push(
            "Nothing is stopped or cut off: the model's replies or the tools' results are enough to show it."
                .to_owned(),
        );
    }
    let raised = page.record.observed.iter().flat_map(|observed| observed.trace.by_turn());
    let raised = raised.filter_map(|(turn, event)| match event {
        Event::TurnEnded { outcome: TurnOutcome::Raised { class, .. } } if turn < last => Some((turn, class)),
        _ => None,
    });
    lines.extend(raised.map(|(turn, class)| format!("Turn {} ends with {class}.", turn + 1)));
    lines.push(format!("Then: {}", one_line(&page.finding.message)));
    lines
}

/// The fault, as the beginning of a sentence.
fn when(page: &Page<'_>) -> String {
    let last = page.assertion.last_turn();
    let fired = page.record.receipts.iter().filter(|receipt| receipt.fired && receipt.turn <= last + 1);
    let words: Vec<String> = fired.map(|receipt| action(&receipt.action, &receipt.words)).collect();
    match words.as_slice() {
        [] => format!("with `{}`", page.record.case.plan.split(['#', '@']).next().unwrap_or_default()),
        words => format!("when {}", words.join(" and ")),
    }
}

/// An action with its position, as a clause.
fn action(name: &str, words: &str) -> String {
    let clause = match name {
        "abort" => "the user stops the turn",
        "end-early" => "the stream ends without its last event",
        "eof" => "the connection is closed inside the stream",
        "reset" => "the connection is reset inside the stream",
        _ => return words.to_owned(),
    };
    match words.strip_prefix(name) {
        Some(place) => format!("{clause}{place}"),
        None => format!("{clause} ({words})"),
    }
}

fn lowered(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
