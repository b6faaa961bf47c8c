//! Reads the text of a catalogue into its classes, and reports every error with its location.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{CONTROL, Class};
use brickbat_scenario::parse::{self, Diagnostic};

/// The version of the format.
const SCHEMA: u32 = 1;

/// The maximum number of threads in a class; more would prove nothing further.
const MAX_EVIDENCE: usize = 3;

/// Fewer words are not a sentence.
const MIN_WORDS: usize = 4;

/// The file in its written form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassesFile {
    schema: u32,
    classes: Vec<Class>,
}

/// Every class of a catalogue, in its order. `file_name` is its name in messages.
pub fn parse(text: &str, file_name: &str) -> Result<Vec<Class>, Diagnostic> {
    let file: ClassesFile = parse::document(file_name, text, ClassesFile::complaint)?;
    Ok(file.classes)
}

impl ClassesFile {
    /// The first error that the types do not catch, and the JSON pointer to it.
    fn complaint(&self) -> Option<(String, String)> {
        if self.schema != SCHEMA {
            let message = format!(
                "unknown version {} of the format; this Brickbat reads version {SCHEMA}",
                self.schema
            );
            return Some(("/schema".to_owned(), message));
        }
        let mut seen = BTreeSet::new();
        self.classes.iter().enumerate().find_map(|(index, class)| {
            let again = !seen.insert(class.id.as_str());
            let twice =
                again.then(|| ("id".to_owned(), format!("the class `{}` is defined twice", class.id)));
            let (key, message) = twice.or_else(|| complaint(class))?;
            Some((format!("/classes/{index}/{key}"), message))
        })
    }
}

fn complaint(class: &Class) -> Option<(String, String)> {
    let wrong = |key: &str, message: &str| Some((key.to_owned(), message.to_owned()));
    if !is_kebab(&class.id) {
        return wrong("id", "a class is named in kebab-case, such as `abort-batch`");
    }
    if class.id == CONTROL {
        return wrong("id", "a control is not a failure class, because nothing goes wrong in it");
    }
    if !is_sentence(&class.summary) {
        return wrong("summary", "describe in a sentence what happens");
    }
    if class.evidence.is_empty() || class.evidence.len() > MAX_EVIDENCE {
        return wrong("evidence", "give one to three public threads");
    }
    if let Some(at) = class.evidence.iter().position(|link| !is_thread(link)) {
        return wrong(&format!("evidence/{at}"), "write `owner/repository#number`");
    }
    match &class.missing {
        Some(missing) if !is_sentence(missing) => {
            wrong("missing", "explain in a sentence why no scenario covers it yet")
        }
        _ => None,
    }
}

fn is_kebab(id: &str) -> bool {
    let is_part =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    id.split('-').all(is_part)
}

fn is_sentence(text: &str) -> bool {
    text.ends_with('.') && text.split_whitespace().count() >= MIN_WORDS
}

/// True if a link is `owner/repository#number`.
pub(crate) fn is_thread(link: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
    };
    let parts = link.split_once('#').and_then(|(repository, number)| {
        let (owner, name) = repository.split_once('/')?;
        Some((owner, name, number))
    });
    parts.is_some_and(|(owner, name, number)| {
        is_name(owner) && is_name(name) && !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "schema: 1\nclasses:\n  - id: abort-batch\n    family: A\n    cover: card\n    summary: The user stops the turn.\n    evidence: [a/b#1]\n";

    #[test]
    fn a_catalogue_is_read() {
        let classes = parse(GOOD, "c.yaml").unwrap();
        assert_eq!((classes[0].id.as_str(), classes[0].cover.name()), ("abort-batch", "card"));
    }

    /// Checks that a changed copy of the valid file is refused at that line, with a message that contains
    /// `words`.
    fn refused(from: &str, to: &str, line: u32, words: &str) {
        let text = GOOD.replace(from, to);
        assert_ne!(text, GOOD);
        let error = parse(&text, "c.yaml").unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.line, line, "{error}");
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        refused("schema: 1", "schema: 2", 1, "version 2 of the format");
        refused("abort-batch", "Abort", 3, "kebab-case");
        refused("abort-batch", "control", 3, "a control is not a failure class");
        refused("family: A", "family: Z", 4, "Z");
        refused("cover: card", "cover: cards", 5, "cards");
        refused("The user stops the turn.", "A stop.", 6, "describe in a sentence what happens");
        refused("[a/b#1]", "[]", 7, "one to three public threads");
        refused("[a/b#1]", "[a/b#1, a/b#2, a/b#3, a/b#4]", 7, "one to three public threads");
        refused("[a/b#1]", "[a/b]", 7, "owner/repository#number");
        refused("[a/b#1]", "[a/b#1]\n    missing: so", 8, "why no scenario covers it yet");
        refused("[a/b#1]", "[a/b#1]\n    note: so", 8, "unknown key `note`");
        let again = GOOD.lines().skip(2).collect::<Vec<&str>>().join("\n");
        refused("[a/b#1]\n", &format!("[a/b#1]\n{again}\n"), 8, "is defined twice");
    }
}
