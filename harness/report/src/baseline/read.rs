//! Reads the text of a baseline file into a [`Baseline`], and reports every error with its location.

use serde::Deserialize;
use serde_json::Value;

use super::{Baseline, Entry, old};
use crate::classes::is_thread;
use brickbat_engine::checks::CHECKS;
use brickbat_rules::Rule;
use brickbat_scenario::parse::{self, Diagnostic, did_you_mean, one_of};

/// The version of the format.
pub(super) const SCHEMA: u32 = 2;

/// A baseline: the known findings for a system.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Baseline")]
struct BaselineFile {
    /// Version of this format; 2 is the only one.
    schema: u32,
    /// The system, as in its manifest.
    system: String,
    /// One entry for each cause.
    entries: Vec<Entry>,
}

/// The JSON Schema of a baseline, for editors.
pub fn schema() -> Value {
    schemars::schema_for!(BaselineFile).to_value()
}

/// An error in a value, and the JSON pointer to it.
type Complaint = (String, String);

/// The content of a file's entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Causes,
    /// The previous format.
    Plans,
}

impl Baseline {
    /// Reads a baseline file; `file_name` is its name in messages.
    pub fn parse(text: &str, file_name: &str) -> Result<Baseline, Diagnostic> {
        if old::is_old(text) {
            let _: Value = parse::document(file_name, text, |_| complaint("schema", OLD))?;
        }
        let file: BaselineFile = parse::document(file_name, text, BaselineFile::complaint)?;
        let BaselineFile { system, mut entries, .. } = file;
        entries.iter_mut().for_each(|entry| squeeze(&mut entry.reason));
        Ok(Baseline { file: file_name.to_owned(), system, entries })
    }

    /// Like [`parse`], but also reads the previous format. Each of its entries is restricted to the plans
    /// that it lists.
    pub fn parse_any(text: &str, file_name: &str) -> Result<(Baseline, Format), Diagnostic> {
        if old::is_old(text) {
            Ok((old::parse(text, file_name)?, Format::Plans))
        } else {
            Ok((Baseline::parse(text, file_name)?, Format::Causes))
        }
    }
}

/// Leaves one space between words, because a reason may be folded.
pub(super) fn squeeze(text: &mut String) {
    *text = text.split_whitespace().collect::<Vec<&str>>().join(" ");
}

fn complaint(key: &str, message: impl Into<String>) -> Option<Complaint> {
    Some((format!("/{key}"), message.into()))
}

/// The message about a file in the previous format.
const OLD: &str = "this is version 1 of the format, which listed plans instead of causes; \
     `brickbat run --system NAME --write-baseline FILE` rewrites this file and keeps its reasons";

impl BaselineFile {
    /// The first error that the types do not catch.
    fn complaint(&self) -> Option<Complaint> {
        if self.schema != SCHEMA {
            let found = self.schema;
            return complaint(
                "schema",
                format!("unknown version {found} of the format; this Brickbat reads version {SCHEMA}"),
            );
        }
        if let Some(message) = system_complaint(&self.system) {
            return complaint("system", message);
        }
        self.entries.iter().enumerate().find_map(|(index, entry)| {
            let (key, message) = entry.complaint(&self.system)?;
            complaint(&format!("entries/{index}/{key}"), message)
        })
    }
}

fn system_complaint(system: &str) -> Option<String> {
    if system.trim().is_empty() {
        Some("this needs the name of a system, such as `ai-sdk`".to_owned())
    } else if system.starts_with("reference") {
        Some("the reference agent has no baseline: it must pass".to_owned())
    } else if system.contains('*') {
        Some("write the name without `*`: it covers every version and mode".to_owned())
    } else {
        None
    }
}

impl Entry {
    fn complaint(&self, system: &str) -> Option<Complaint> {
        let wrong = |key: &str, message: String| Some((key.to_owned(), message));
        let checks: Vec<&str> = CHECKS.iter().map(|check| check.id).collect();
        if !checks.contains(&self.check.as_str()) {
            return wrong("check", unknown("check", &self.check, &checks));
        }
        if let Some(rule) = &self.rule {
            let rules: Vec<&str> = Rule::all().map(|rule| rule.id).collect();
            if !rules.contains(&rule.as_str()) {
                return wrong("rule", unknown("rule", rule, &rules));
            }
        }
        if let Some(at) = self.systems.iter().position(|name| !is_below(name, system)) {
            return wrong(&format!("systems/{at}"), format!("this is not a version or mode of `{system}`"));
        }
        if self.reason.split_whitespace().count() < MIN_REASON_WORDS {
            return wrong("reason", "explain the findings in a sentence".to_owned());
        }
        if let Some(link) = self.link().filter(|link| !is_link(link)) {
            let wanted = "write `owner/repository#number`, an https:// address, or `not reported`";
            return wrong("reported", format!("`{link}` is not a link; {wanted}"));
        }
        if self.has_unknown_state() {
            let wanted = "after the link, write `, open DATE`, `, fixed in VERSION DATE` or `, declined DATE`, \
                          with a date such as 2026-11-28";
            return wrong("reported", format!("`{}` has an unknown state; {wanted}", self.reported));
        }
        if let Some(at) = self.cases.iter().position(|case| case.trim().is_empty()) {
            return wrong(&format!("cases/{at}"), "the name of a plan is empty".to_owned());
        }
        let at = self.shown.iter().position(|note| note.split_once(' ').is_none())?;
        wrong(
            &format!("shown/{at}"),
            "write a system, a space, and a plan that shows the finding there".to_owned(),
        )
    }
}

/// True if a name belongs to the system of its file.
fn is_below(name: &str, system: &str) -> bool {
    name == system || name.strip_prefix(system).is_some_and(|rest| rest.starts_with(['@', '/']))
}

/// The check with that name, as used in findings.
pub fn check_named(name: &str) -> Option<&'static str> {
    CHECKS.iter().find(|check| check.id == name).map(|check| check.id)
}

fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    let hint = did_you_mean(word, known).or_else(|| one_of("there is", known)).unwrap_or_default();
    format!("unknown {what} `{word}`; {hint}")
}

/// Fewer words are not a sentence.
const MIN_REASON_WORDS: usize = 3;

/// True if a link is `owner/repository#number` or a web address.
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

    const GOOD: &str = "schema: 2\nsystem: ai-sdk@6\nentries:\n  - check: parts-settled\n    severity: stuck-part\n    \
        reason: It is so.\n    reported: not reported\n    shown: [ai-sdk@6.0.326/ui-messages a/b@x]\n";

    #[test]
    fn a_file_is_read() {
        let baseline = Baseline::parse(GOOD, "b.yaml").unwrap();
        assert_eq!((baseline.file.as_str(), baseline.entries.len()), ("b.yaml", 1));
        assert!(baseline.is_of("ai-sdk@6.0.326/ui-messages") && !baseline.is_of("ai-sdk@7.0.1/ui-messages"));
        assert_eq!(baseline.entries[0].link(), None);
    }

    #[test]
    fn a_link_may_have_a_state_with_a_date() {
        let read = |reported: &str| {
            let text = GOOD.replace("reported: not reported", &format!("reported: {reported}"));
            Baseline::parse(&text, "b.yaml").unwrap().entries.remove(0)
        };
        let declined = read("a/b#1, declined 2026-07-23");
        assert_eq!((declined.link(), declined.is_declined()), (Some("a/b#1"), true));
        let open = read("a/b#1, open 2026-11-28");
        assert_eq!((open.link(), open.is_declined()), (Some("a/b#1"), false));
        assert_eq!(open.state().unwrap().words(), "open 2026-11-28");
        // Files from before states were written.
        assert_eq!((read("a/b#1").link(), read("a/b#1").state()), (Some("a/b#1"), None));
    }

    #[test]
    fn the_error_for_the_previous_format_says_how_to_rewrite_it() {
        let text = "schema: 1\nsystem: 'ai-sdk@*/*'\nentries:\n  - check: parts-settled\n    harm: stuck-part\n    \
            reason: It is so.\n    systems: ['*/ui-messages']\n    plans: [a/b@x]\n";
        let error = Baseline::parse(text, "b.yaml").unwrap_err().to_string();
        assert!(error.contains("b.yaml") && error.contains("--write-baseline FILE"), "{error}");
        let (read, format) = Baseline::parse_any(text, "b.yaml").unwrap();
        assert_eq!(format, Format::Plans);
        assert_eq!(
            (read.system.as_str(), read.entries[0].cases.as_slice()),
            ("ai-sdk", ["a/b@x".to_owned()].as_slice())
        );
        assert_eq!(read.entries[0].systems, ["ai-sdk/ui-messages"]);
        assert_eq!(Baseline::parse_any(GOOD, "b.yaml").unwrap().1, Format::Causes);
    }

    /// Checks that a changed copy of the valid file is refused at that line, with a message that contains
    /// `words`.
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
        refused("schema: 2", "schema: 3", 1, "version 3 of the format");
        refused("schema: 2\n", "", 1, "the key `schema` is missing");
        refused("system: ai-sdk@6", "system: reference", 2, "the reference agent has no baseline");
        refused("system: ai-sdk@6", "system: ' '", 2, "this needs the name of a system");
        refused("system: ai-sdk@6", "system: 'ai-sdk@*'", 2, "write the name without `*`");
        refused("parts-settled", "parts-setled", 4, "did you mean `parts-settled`?");
        refused("severity: stuck-part", "severity: stuck", 5, "unknown word `stuck`");
        refused("reason: It is so.", "reason: ''", 6, "in a sentence");
        refused("    reason: It is so.\n", "", 4, "the key `reason` is missing");
        refused("    reported: not reported\n", "", 4, "the key `reported` is missing");
        refused("reported: not reported", "reported: see there", 7, "is not a link");
        let stated = "reported: a/b#1, closed 2026-11-28";
        refused("reported: not reported", stated, 7, "unknown state; after the link, write `, open DATE`");
        refused("reported:", "rule: openai-chat/no-such\n    reported:", 7, "unknown rule");
        refused("reported:", "systems: [other@6]\n    reported:", 7, "not a version or mode of `ai-sdk@6`");
        refused("reported:", "cases: [a/b@x, '']\n    reported:", 7, "the name of a plan is empty");
        refused("reported:", "case: [a/b@x]\n    reported:", 7, "unknown key `case`");
        refused("ai-sdk@6.0.326/ui-messages a/b@x", "a/b@x", 8, "write a system, a space, and a plan");
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
