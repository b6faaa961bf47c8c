//! What was found in many requests, written one after the other, so that no report is larger than the memory.

use std::collections::BTreeSet;

use super::{Basis, CheckedRequest, Level, Providers, github, json, sarif, text};
use crate::Profile;
use crate::colour::Colour;

/// How findings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckFormat {
    /// For people: each finding with what stands in its place, and a summary.
    Text,
    /// One JSON object; each request is on a line of its own.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Commands of GitHub's workflows, which show findings next to the changed lines.
    Github,
}

/// What has come of the requests so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Tally {
    /// Files that were read.
    pub n_files: usize,
    /// Requests that were judged.
    pub n_requests: usize,
    /// Requests that a provider takes.
    pub n_accepted: usize,
    /// Requests that a provider refuses.
    pub n_refused: usize,
    /// Accepted requests that break a denied rule.
    pub n_denied: usize,
    /// Violations that cost nothing at this provider.
    pub n_warnings: usize,
    /// Texts that could not be judged.
    pub n_unjudged: usize,
    /// Files of folders that are no requests.
    pub n_passed_over: usize,
    /// Recorded requests that ask for no reply.
    pub n_no_reply: usize,
}

/// A report that is being written. Each part is handed out as text.
#[derive(Debug)]
pub struct CheckReport {
    format: CheckFormat,
    colour: Colour,
    tally: Tally,
    /// The same of the file that is being read.
    of_file: Tally,
    /// What the file's summary says if it holds one request.
    single: Option<String>,
    /// The rules that have been explained; once is enough.
    explained: BTreeSet<&'static str>,
    /// Notes on what could not be judged, which SARIF has at its end.
    notes: Vec<serde_json::Value>,
    n_written: usize,
    unknown: Unknown,
}

/// What was not known of requests, and what depends on it.
#[derive(Debug, Default)]
pub(super) struct Unknown {
    /// Requests of which no model is known.
    pub(super) n_without_model: usize,
    /// The rules that depend on it.
    pub(super) rules: BTreeSet<&'static str>,
    /// Requests of which no host is known, although those who speak the dialect differ.
    pub(super) n_without_host: usize,
    /// The profiles that judged them.
    pub(super) profiles: BTreeSet<&'static str>,
}

impl Unknown {
    fn add(&mut self, checked: &CheckedRequest) {
        if !checked.rules_by_model.is_empty() {
            self.n_without_model += 1;
            self.rules.extend(&checked.rules_by_model);
        }
        let Providers::Profile(profile) = checked.providers else { return };
        let n_relatives = Profile::newest_of_each_name(profile.dialect).count();
        if checked.basis == Basis::Newest && n_relatives > 1 {
            self.n_without_host += 1;
            self.profiles.insert(profile.name);
        }
    }
}

/// Notes that a report keeps. A folder of broken files has a few hundred.
const MAX_NOTES: usize = 10_000;

impl CheckReport {
    /// A report in a format; only text has colours.
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

    /// What has come of the requests so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Files of folders that were not looked at.
    pub fn pass_over(&mut self, n_files: usize) {
        self.tally.n_passed_over += n_files;
    }

    /// A recorded request that asks for no reply.
    pub fn no_reply(&mut self) {
        self.tally.n_no_reply += 1;
        self.of_file.n_no_reply += 1;
    }

    /// What stands before the first request.
    pub fn begin(&self) -> String {
        match self.format {
            CheckFormat::Text | CheckFormat::Github => String::new(),
            CheckFormat::Json => json::BEGIN.to_owned(),
            CheckFormat::Sarif => sarif::begin(),
        }
    }

    /// A request that was judged.
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

    /// A text that could not be judged, with the reason.
    pub fn unjudged(&mut self, file: &str, line: Option<u64>, reason: &str) -> String {
        self.tally.n_unjudged += 1;
        self.of_file.n_unjudged += 1;
        match self.format {
            // On the terminal the errors stand apart from the findings.
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

    /// The end of a file.
    pub fn end_of_file(&mut self, file: &str) -> String {
        self.tally.n_files += 1;
        let of_file = std::mem::take(&mut self.of_file);
        match (self.format, self.single.take()) {
            (CheckFormat::Text, Some(single)) if of_file.n_unjudged == 0 => format!("{file}: {single}\n"),
            (CheckFormat::Text, _) if of_file.n_requests > 0 => text::summary(file, &of_file, self.colour),
            _ => String::new(),
        }
    }

    /// What stands after the last request.
    pub fn end(&mut self) -> String {
        match self.format {
            CheckFormat::Text => text::end(&self.tally, self.colour) + &text::unknown(&self.unknown),
            CheckFormat::Github => String::new(),
            CheckFormat::Json => json::end(&self.tally),
            CheckFormat::Sarif => sarif::end(&self.notes),
        }
    }

    /// An item of a list, with the comma after the one before.
    fn item(&mut self, item: String) -> String {
        self.n_written += 1;
        let comma = if self.n_written > 1 { "," } else { "" };
        format!("{comma}\n{item}")
    }
}
