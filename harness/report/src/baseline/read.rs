//! From the text of a baseline file to a [`Baseline`], with every mistake shown at its place.

use serde::Deserialize;

use super::{Baseline, Entry};
use crate::classes::is_thread;
use brickbat_engine::checks::CHECKS;
use brickbat_scenario::parse::{self, Diagnostic, did_you_mean, one_of};

/// The version of the format.
pub(super) const SCHEMA: u32 = 1;

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BaselineFile {
    schema: u32,
    system: String,
    entries: Vec<Entry>,
}

/// What is wrong with a value, and the JSON pointer to it.
type Complaint = (String, String);

impl Baseline {
    /// Reads a baseline file; its reader names it `file_name`.
    pub fn parse(text: &str, file_name: &str) -> Result<Baseline, Diagnostic> {
        let file: BaselineFile = parse::document(file_name, text, BaselineFile::complaint)?;
        let BaselineFile { system, mut entries, .. } = file;
        for Entry { reason, .. } in &mut entries {
            *reason = reason.split_whitespace().collect::<Vec<&str>>().join(" ");
        }
        Ok(Baseline { file: file_name.to_owned(), system, entries })
    }
}

impl BaselineFile {
    /// What is wrong beyond the types.
    fn complaint(&self) -> Option<Complaint> {
        let at = |key: &str, message: String| Some((format!("/{key}"), message));
        if self.schema != SCHEMA {
            let found = self.schema;
            return at("schema", format!("version {found} of the format is not known, this is {SCHEMA}"));
        }
        if self.system.trim().is_empty() {
            return at("system", "this needs the name of a system, such as `ai-sdk@6.*`".to_owned());
        }
        if self.system.starts_with("reference") {
            return at("system", "the reference agent has no baseline: it must pass".to_owned());
        }
        self.entries.iter().enumerate().find_map(|(index, entry)| {
            let (key, message) = entry.complaint()?;
            at(&format!("entries/{index}/{key}"), message)
        })
    }
}

impl Entry {
    fn complaint(&self) -> Option<Complaint> {
        let wrong = |key: &str, message: String| Some((key.to_owned(), message));
        let checks: Vec<&str> = CHECKS.iter().map(|check| check.id).collect();
        if !checks.contains(&self.check.as_str()) {
            return wrong("check", unknown("check", &self.check, &checks));
        }
        if self.reason.split_whitespace().count() < MIN_REASON_WORDS {
            return wrong("reason", "explain the findings in a sentence".to_owned());
        }
        if let Some(link) = self.link.as_deref().filter(|link| !is_link(link)) {
            let wanted = "write `owner/repository#number` or an https:// address";
            return wrong("link", format!("`{link}` is not a link; {wanted}"));
        }
        if self.plans.is_empty() {
            return wrong("plans", "an entry needs at least one plan".to_owned());
        }
        let at = self.plans.iter().position(|plan| plan.trim().is_empty())?;
        wrong(&format!("plans/{at}"), "the name of a plan is empty".to_owned())
    }
}

/// The check of that name, as findings have it.
pub fn check_named(name: &str) -> Option<&'static str> {
    CHECKS.iter().find(|check| check.id == name).map(|check| check.id)
}

fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    let hint = did_you_mean(word, known).or_else(|| one_of("there is", known)).unwrap_or_default();
    format!("unknown {what} `{word}`; {hint}")
}

/// Fewer words make no sentence.
const MIN_REASON_WORDS: usize = 3;

/// Whether a link is `owner/repository#number` or a web address.
fn is_link(link: &str) -> bool {
    let is_address = |link: &str| {
        let rest = link.strip_prefix("https://")?;
        Some(rest.contains('.') && !rest.contains(char::is_whitespace))
    };
    is_thread(link) || is_address(link).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "schema: 1\nsystem: ai-sdk@6.*\nentries:\n  - check: parts-settled\n    reason: It is so.\n    plans: [a/b@x]\n";

    #[test]
    fn a_file_is_read() {
        let baseline = Baseline::parse(GOOD, "b.yaml").unwrap();
        assert_eq!((baseline.file.as_str(), baseline.entries.len()), ("b.yaml", 1));
        assert!(baseline.is_of("ai-sdk@6.0.326/ui-messages") && !baseline.is_of("ai-sdk@7.0.1/ui-messages"));
    }

    /// A file that differs from the good one, the line of the mistake, and a part of the message.
    fn refused(from: &str, to: &str, line: u32, words: &str) {
        let text = GOOD.replace(from, to);
        assert_ne!(text, GOOD);
        let error = Baseline::parse(&text, "b.yaml").unwrap_err();
        let message = error.to_string();
        assert!(message.contains(words), "{message}");
        assert_eq!(error.line, line, "{message}");
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        refused("schema: 1", "schema: 2", 1, "version 2 of the format");
        refused("schema: 1\n", "", 1, "the key `schema` is missing");
        refused("ai-sdk@6.*", "reference", 2, "the reference agent has no baseline");
        refused("ai-sdk@6.*", "' '", 2, "this needs the name of a system");
        refused("parts-settled", "parts-setled", 4, "did you mean `parts-settled`?");
        refused("reason: It is so.", "reason: ''", 5, "in a sentence");
        refused("reason: It is so.", "reason: It is so.\n    harm: stuck", 6, "unknown word `stuck`");
        refused("    reason: It is so.\n", "", 4, "the key `reason` is missing");
        refused("plans: [a/b@x]", "plans: []", 6, "needs at least one plan");
        refused("plans: [a/b@x]", "plans: [a/b@x, '']", 6, "the name of a plan is empty");
        refused("plans: [a/b@x]", "plan: [a/b@x]", 6, "unknown key `plan`");
        refused("plans: [a/b@x]", "plans: [a/b@x]\n    link: see there", 7, "is not a link");
        refused("entries:", "entries: 7\nx:", 3, "expected a list");
        refused(GOOD, "", 1, "the file is empty");
    }

    #[test]
    fn a_link_is_an_issue_or_an_address() {
        for link in ["vercel/ai#10638", "https://example.org/x", "a.b/c_d-e#1"] {
            assert!(is_link(link), "{link}");
        }
        for link in ["vercel/ai", "#1", "vercel/ai#", "vercel/ai#x", "http://example.org", "https://x", "a b"]
        {
            assert!(!is_link(link), "{link}");
        }
    }
}
