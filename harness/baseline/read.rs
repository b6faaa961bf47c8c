//! From the text of a baseline file to a [`Baseline`], with every mistake shown at its place.

use serde::Deserialize;

use super::{Baseline, Entry};
use crate::check::CHECKS;
use crate::parse::{Diagnostic, Document, did_you_mean, one_of};
use crate::verdict::Harm;

/// The version of the format.
pub(super) const SCHEMA: u32 = 1;

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    system: String,
    entries: Vec<Written>,
}

/// An entry as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    check: String,
    #[serde(default)]
    harm: Option<String>,
    #[serde(default)]
    systems: Vec<String>,
    reason: String,
    #[serde(default)]
    link: Option<String>,
    #[serde(default)]
    flaky: bool,
    plans: Vec<String>,
}

impl Baseline {
    /// Reads a baseline file; its reader names it `file_name`.
    pub fn parse(text: &str, file_name: &str) -> Result<Baseline, Diagnostic> {
        let document: Document<File> = Document::read(file_name, text)?;
        let file = &document.value;
        if file.schema != SCHEMA {
            let message = format!("version {} of the format is not known", file.schema);
            return Err(document.diagnose("/schema", &message, Some(format!("this is version {SCHEMA}"))));
        }
        if file.system.trim().is_empty() {
            let hint = "write the name of a system, such as `ai-sdk@6.*`".to_owned();
            return Err(document.diagnose("/system", "the system has no name", Some(hint)));
        }
        if file.system.starts_with("reference") {
            let hint = "when it fails, the suite is broken".to_owned();
            return Err(document.diagnose("/system", "the reference agent is not excused", Some(hint)));
        }
        let entries =
            file.entries.iter().enumerate().map(|(index, written)| entry(&document, index, written));
        Ok(Baseline {
            file: file_name.to_owned(),
            system: file.system.clone(),
            entries: entries.collect::<Result<_, _>>()?,
        })
    }
}

fn entry(document: &Document<File>, index: usize, written: &Written) -> Result<Entry, Diagnostic> {
    let wrong = |key: &str, message: &str, hint: Option<String>| {
        Err(document.diagnose(&format!("/entries/{index}/{key}"), message, hint))
    };
    if !CHECKS.iter().any(|check| check.id == written.check) {
        let known = CHECKS.map(|check| check.id);
        let hint = did_you_mean(&written.check, &known).or_else(|| one_of("known here:", &known));
        return wrong("check", &format!("unknown check `{}`", written.check), hint);
    }
    let known = Harm::ALL.map(Harm::name);
    let harm = match &written.harm {
        None => None,
        Some(word) => match known.iter().position(|name| name == word) {
            Some(at) => Some(Harm::ALL[at]),
            None => {
                let hint = did_you_mean(word, &known).or_else(|| one_of("known here:", &known));
                return wrong("harm", &format!("unknown harm `{word}`"), hint);
            }
        },
    };
    let reason = written.reason.split_whitespace().collect::<Vec<&str>>().join(" ");
    if reason.split(' ').count() < MIN_REASON_WORDS {
        let hint = "say in a sentence why the findings are as they are".to_owned();
        return wrong("reason", "this is no reason", Some(hint));
    }
    if let Some(link) = written.link.as_deref().filter(|link| !is_link(link)) {
        let hint = "write `owner/repository#number` or an https:// address".to_owned();
        return wrong("link", &format!("`{link}` leads nowhere"), Some(hint));
    }
    if written.plans.is_empty() {
        return wrong("plans", "an entry without plans holds nothing", None);
    }
    if let Some(at) = written.plans.iter().position(|plan| plan.trim().is_empty()) {
        return wrong(&format!("plans/{at}"), "a plan has a name", None);
    }
    Ok(Entry {
        check: written.check.clone(),
        harm,
        systems: written.systems.clone(),
        reason,
        link: written.link.clone(),
        flaky: written.flaky,
        plans: written.plans.clone(),
    })
}

/// Fewer words make no sentence.
const MIN_REASON_WORDS: usize = 3;

/// Whether a link is `owner/repository#number` or a web address.
fn is_link(link: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
    };
    let is_issue = |link: &str| {
        let (repository, number) = link.split_once('#')?;
        let (owner, name) = repository.split_once('/')?;
        let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
        Some(is_name(owner) && is_name(name) && is_number)
    };
    let is_address = |link: &str| {
        let rest = link.strip_prefix("https://")?;
        Some(rest.contains('.') && !rest.contains(char::is_whitespace))
    };
    is_issue(link).or_else(|| is_address(link)).unwrap_or(false)
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

    /// A file that differs from the good one, the line of the mistake, and a word of what is said.
    fn refused(from: &str, to: &str, line: u32, words: &str) {
        let text = GOOD.replace(from, to);
        assert_ne!(text, GOOD);
        let error = Baseline::parse(&text, "b.yaml").unwrap_err();
        let said = error.to_string();
        assert!(said.contains(words), "{said}");
        assert_eq!(error.line, line, "{said}");
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        refused("schema: 1", "schema: 2", 1, "version 2 of the format");
        refused("schema: 1\n", "", 1, "the key `schema` is missing");
        refused("ai-sdk@6.*", "reference", 2, "the reference agent is not excused");
        refused("ai-sdk@6.*", "' '", 2, "the system has no name");
        refused("parts-settled", "parts-setled", 4, "did you mean `parts-settled`?");
        refused("reason: It is so.", "reason: ''", 5, "this is no reason");
        refused("reason: It is so.", "harm: stuck", 5, "unknown harm `stuck`");
        refused("    reason: It is so.\n", "", 4, "the key `reason` is missing");
        refused("plans: [a/b@x]", "plans: []", 6, "holds nothing");
        refused("plans: [a/b@x]", "plans: [a/b@x, '']", 6, "a plan has a name");
        refused("plans: [a/b@x]", "plan: [a/b@x]", 6, "unknown key `plan`");
        refused("plans: [a/b@x]", "plans: [a/b@x]\n    link: see there", 7, "leads nowhere");
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
