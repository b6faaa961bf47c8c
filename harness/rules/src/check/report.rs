//! Writes the findings of many requests one after the other, so that memory use does not grow with the
//! report.

use std::collections::BTreeSet;

use super::tally::{Tally, Unknown};
use super::{CheckedRequest, Level, github, json, sarif, text};
use crate::colour::Colour;

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckFormat {
    /// Human-readable text: each finding with an excerpt, and a summary.
    Text,
    /// One JSON object, with each request on its own line.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// GitHub workflow commands, which show findings next to the changed lines.
    Github,
}

/// A report in progress. Each method returns the next part of the text.
#[derive(Debug)]
pub struct CheckReport {
    format: CheckFormat,
    colour: Colour,
    tally: Tally,
    /// The counts of the current file.
    of_file: Tally,
    /// The summary of a file with only one request.
    single: Option<String>,
    /// The rules explained so far. Each is explained once.
    explained: BTreeSet<&'static str>,
    /// Notes on texts that could not be judged. SARIF lists them at its end.
    notes: Vec<serde_json::Value>,
    n_written: usize,
    unknown: Unknown,
}

/// Maximum number of notes in a report. A folder of broken files has a few hundred.
const MAX_NOTES: usize = 10_000;

impl CheckReport {
    /// Creates a report. Only the text format has colours.
    pub fn new(format: CheckFormat, colour: Colour) -> CheckReport {
        CheckReport {
            format,
            colour,
            tally: Tally::default(),
            of_file: Tally::default(),
            single: None,
            explained: BTreeSet::new(),
            notes: Vec::new(),
            n_written: 0,
            unknown: Unknown::default(),
        }
    }

    /// Returns the counts so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Counts files in folders that were not read.
    pub fn pass_over(&mut self, n_files: usize) {
        self.tally.n_passed_over += n_files;
    }

    /// Counts a recorded request that asks for no reply.
    pub fn no_reply(&mut self) {
        self.tally.n_no_reply += 1;
        self.of_file.n_no_reply += 1;
    }

    /// Returns the text before the first request.
    pub fn begin(&self) -> String {
        match self.format {
            CheckFormat::Text | CheckFormat::Github => String::new(),
            CheckFormat::Json => json::BEGIN.to_owned(),
            CheckFormat::Sarif => sarif::begin(),
        }
    }

    /// Adds a judged request.
    pub fn request(&mut self, file: &str, checked: &CheckedRequest) -> String {
        self.unknown.add(checked);
        let n_warnings = checked.count(Level::Warning);
        for tally in [&mut self.tally, &mut self.of_file] {
            tally.n_requests += 1;
            tally.n_warnings += n_warnings;
            match checked.status {
                Some(_) => tally.n_refused += 1,
                None => tally.n_accepted += 1,
            }
            tally.n_denied += usize::from(checked.status.is_none() && checked.is_denied);
        }
        match self.format {
            CheckFormat::Text => {
                self.single = (self.of_file.n_requests == 1).then(|| text::verdict(checked, self.colour));
                text::findings(file, checked, self.colour, &mut self.explained)
            }
            CheckFormat::Json => self.item(json::request(file, checked).to_string()),
            CheckFormat::Sarif => {
                let results: Vec<String> =
                    checked.findings.iter().map(|finding| sarif::result(file, finding).to_string()).collect();
                results.into_iter().map(|result| self.item(result)).collect()
            }
            CheckFormat::Github => {
                checked.findings.iter().map(|finding| github::finding(file, finding)).collect()
            }
        }
    }

    /// Adds a text that could not be judged, with the reason.
    pub fn unjudged(&mut self, file: &str, line: Option<u64>, reason: &str) -> String {
        self.tally.n_unjudged += 1;
        self.of_file.n_unjudged += 1;
        match self.format {
            // The terminal shows errors separately from findings.
            CheckFormat::Text => String::new(),
            CheckFormat::Json => self.item(json::unjudged(file, line, reason).to_string()),
            CheckFormat::Sarif => {
                if self.notes.len() < MAX_NOTES {
                    self.notes.push(sarif::notification(file, line, reason));
                }
                String::new()
            }
            CheckFormat::Github => github::unjudged(file, line, reason),
        }
    }

    /// Ends a file.
    pub fn end_of_file(&mut self, file: &str) -> String {
        self.tally.n_files += 1;
        let of_file = std::mem::take(&mut self.of_file);
        match (self.format, self.single.take()) {
            (CheckFormat::Text, Some(single)) if of_file.n_unjudged == 0 => format!("{file}: {single}\n"),
            (CheckFormat::Text, _) if of_file.n_requests > 0 => text::summary(file, &of_file, self.colour),
            _ => String::new(),
        }
    }

    /// Returns the text after the last request.
    pub fn end(&mut self) -> String {
        match self.format {
            CheckFormat::Text => text::end(&self.tally, self.colour) + &text::unknown(&self.unknown),
            CheckFormat::Github => String::new(),
            CheckFormat::Json => json::end(&self.tally),
            CheckFormat::Sarif => sarif::end(&self.notes),
        }
    }

    /// Writes a list item, with a comma after the previous item.
    fn item(&mut self, item: String) -> String {
        self.n_written += 1;
        let comma = if self.n_written > 1 { "," } else { "" };
        format!("{comma}\n{item}")
    }
}
