//! The timeline of one case as text: each actor's actions, in order, the fault at the point where it
//! occurred, and the outcome.
//!
//! It is drawn only from a [`Record`], and judges nothing.

mod appearance;
mod lanes;
mod steps;
mod words;

use brickbat_scenario::plan::CONTROL;
use std::fmt::Write;

use super::columns::{in_one_line, wrapped};
use super::shape;
use super::stopped::UNCONFIRMED;
use super::text::Tone;
use crate::record::{FindingNote, Record};
use brickbat_scenario::trace::Confidence;
use brickbat_scenario::verdict::{Permanence, Verdict};
use serde_json::Value;

pub(super) use lanes::{Drawing, Lane, Line, Weight};

/// The minimum number of columns with room for the lanes and some text.
pub const MIN_WIDTH: usize = 60;

/// The timeline in lines of `width` columns, but at least [`MIN_WIDTH`]. `paint` wraps a word in a colour, or leaves it.
pub fn draw(record: &Record, width: usize, paint: &dyn Fn(Tone, &str) -> String) -> String {
    let page = Page { width: width.max(MIN_WIDTH), paint };
    let case = &record.case;
    let mut text = String::new();
    let title = format!("{} on {}: ", case.plan, case.system);
    let _ = writeln!(text, "{title}{}", verdict(case.verdict, paint));
    let planned =
        record.receipts.iter().map(|receipt| format!("in turn {}, {}", receipt.turn, receipt.words));
    let planned: Vec<String> = planned.collect();
    if record.observed.is_some() {
        let words = match planned.len() {
            0 if record.case.plan.ends_with(CONTROL) => "nothing goes wrong (control plan)".to_owned(),
            0 => "no actions; the replies and tools behave as the plan says".to_owned(),
            _ => planned.join("; "),
        };
        page.paragraph(&mut text, "planned: ", &words);
        page.paragraph(&mut text, "shapes:  ", shape::LEGEND);
        text.push('\n');
        text.push_str(&drawing(record).text(page.width, paint));
    }
    text.push('\n');
    page.judgement(&mut text, record);
    page.history(&mut text, record);
    page.evidence(&mut text, record);
    text
}

/// The actors and their actions, in order.
pub(super) fn drawing(record: &Record) -> Drawing {
    let mut drawing = Drawing::default();
    steps::draw(record, &mut drawing);
    drawing
}

/// The maximum number of lines shown for one message in a history.
const LINES_OF_MESSAGE: usize = 3;

/// Messages of a history that are shown.
const MAX_MESSAGES: usize = 12;

/// The messages of a history: the value itself if it is a list, otherwise the longest list in it.
fn messages(value: &Value) -> &[Value] {
    match value {
        Value::Array(messages) => messages,
        Value::Object(fields) => {
            let lists =
                fields.iter().filter(|(name, _)| *name != "tools").filter_map(|(_, field)| field.as_array());
            lists.max_by_key(|list| list.len()).map_or(&[], Vec::as_slice)
        }
        _ => &[],
    }
}

/// Writes everything below the drawing.
struct Page<'a> {
    width: usize,
    paint: &'a dyn Fn(Tone, &str) -> String,
}

fn verdict(verdict: Verdict, paint: &dyn Fn(Tone, &str) -> String) -> String {
    let tone = match verdict {
        Verdict::Pass => Tone::Good,
        Verdict::Fail => Tone::Bad,
        _ => Tone::Warn,
    };
    paint(tone, verdict.name())
}

impl Page<'_> {
    fn judgement(&self, text: &mut String, record: &Record) {
        let paint = self.paint;
        let case = &record.case;
        let unconfirmed = if case.unconfirmed { format!(" ({UNCONFIRMED})") } else { String::new() };
        let _ = writeln!(text, "verdict: {}{unconfirmed}", verdict(case.verdict, paint));
        if let Some(reason) = &case.reason {
            self.paragraph(text, "  ", reason);
        }
        if case.verdict == Verdict::Pass {
            text.push_str("  nothing is wrong, and everything planned happened\n");
        }
        for finding in &case.findings {
            let lasting = match finding.permanence {
                Some(Permanence::Permanent) => ", permanent: the last turn fails too",
                Some(Permanence::Transient) => ", transient: the system does not break any later turn",
                None => "",
            };
            let _ = writeln!(
                text,
                "  {} ({}{lasting})",
                paint(Tone::Bad, finding.severity.name()),
                finding.check
            );
            self.describe(text, finding);
            for also in &finding.also {
                self.paragraph(
                    text,
                    "  also:    ",
                    &format!("{} ({}): {}", also.severity.name(), also.check, also.message),
                );
            }
        }
        for finding in &case.application {
            let words = format!("{} ({}): {}", finding.severity.name(), finding.check, finding.message);
            self.paragraph(text, "  the application's duty here: ", &words);
            if let Some(left) = &finding.left {
                self.paragraph(text, "           ", &left.words());
            }
        }
        for receipt in &record.receipts {
            let grade = receipt.grade.filter(|_| receipt.fired).map_or("none", Confidence::name);
            self.paragraph(
                text,
                "  fault:   ",
                &format!("{} in turn {} (receipt: {grade})", receipt.words, receipt.turn),
            );
        }
        let _ = writeln!(text, "again: {}", case.reproduce);
    }

    fn describe(&self, text: &mut String, finding: &FindingNote) {
        self.paragraph(text, "    ", &finding.message);
        let rule = finding.rule.as_ref().map(|rule| format!(", rule {rule}")).unwrap_or_default();
        self.paragraph(text, "    at ", &format!("{}{rule}", finding.place));
        self.paragraph(text, "    expected ", &finding.expected);
        self.paragraph(text, "    got ", &finding.got);
        if let Some(model) = &finding.model {
            self.paragraph(text, "    model ", model);
        }
    }

    /// The messages that brick the thread: those that the system has stored, or those in the last refused
    /// request.
    fn history(&self, text: &mut String, record: &Record) {
        let is_brick = |finding: &FindingNote| finding.severity.is_brick();
        let Some(observed) = record.observed.as_ref().filter(|_| record.case.all_findings().any(is_brick))
        else {
            return;
        };
        let refused = observed.exchanges.iter().rev().find(|exchange| exchange.reply.status >= 400);
        let sent = || serde_json::from_slice::<Value>(&refused?.body).ok();
        let (title, value) = match observed.store.clone().filter(|store| !messages(store).is_empty()) {
            Some(store) => ("stored history", store),
            None => match sent() {
                Some(body) => ("last refused request", body),
                None => return,
            },
        };
        let messages = messages(&value);
        let _ = writeln!(text, "{title}:");
        for message in messages.iter().take(MAX_MESSAGES) {
            let cut = in_one_line(&message.to_string(), LINES_OF_MESSAGE * self.width.saturating_sub(2));
            self.paragraph(text, "  ", &cut);
        }
        if messages.len() > MAX_MESSAGES {
            let _ = writeln!(text, "  … and {} more; --raw shows all of it", messages.len() - MAX_MESSAGES);
        }
    }

    fn evidence(&self, text: &mut String, record: &Record) {
        let mut names = vec!["case.json".to_owned(), "plan.json".to_owned()];
        if let Some(observed) = &record.observed {
            names.extend(["trace.jsonl", "receipts.json", "ledger.json"].map(str::to_owned));
            match observed.exchanges.len() {
                0 => {}
                1 => names.extend(["requests/001.json".to_owned(), "responses/001.json".to_owned()]),
                n => names
                    .extend(["requests", "responses"].map(|name| format!("{name}/001.json to {n:03}.json"))),
            }
            names.extend(observed.stderr.is_some().then(|| "stderr.txt".to_owned()));
            names.extend(observed.store.is_some().then(|| "store.json".to_owned()));
        }
        self.paragraph(text, "evidence: ", &names.join(", "));
    }

    /// A text of any length after a beginning, in lines of the drawing's width.
    fn paragraph(&self, text: &mut String, beginning: &str, words: &str) {
        let indent = beginning.chars().count();
        for (at, line) in wrapped(words, self.width.saturating_sub(indent)).into_iter().enumerate() {
            let before = if at == 0 { beginning.to_owned() } else { " ".repeat(indent) };
            let _ = writeln!(text, "{before}{line}");
        }
    }
}
