//! The parts of a session's own text that may be printed: only text that was not written by a person.

use brickbat_rules::histories::Block;

use crate::{Refusal, Session};

/// Maximum length of an id or a version that is printed. The longest ids that products generate have 36
/// characters.
const MAX_LETTERS: usize = 40;

/// The version, if it looks like one.
pub(super) fn version(session: &Session) -> Option<&str> {
    let version = session.version.as_deref()?;
    let number = version.strip_prefix('v').unwrap_or(version);
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '+' | '_');
    let is_version = number.starts_with(|letter: char| letter.is_ascii_digit())
        && number.len() <= MAX_LETTERS
        && number.chars().all(is_letter);
    is_version.then_some(version)
}

/// The name of a session after `#`: its id if the product generated it, otherwise its number in the store,
/// from 1. Applications use names of users and e-mail addresses as session ids.
pub fn address(n: usize, id: Option<&str>) -> String {
    match id.filter(|id| is_made(id)) {
        Some(id) => id.to_owned(),
        None => (n + 1).to_string(),
    }
}

/// Returns whether a product generated this id: a UUID, digits, or digits and letters after a prefix such as
/// `ses_`.
fn is_made(id: &str) -> bool {
    let is_uuid = id.len() == 36 && id.chars().all(|letter| letter.is_ascii_hexdigit() || letter == '-');
    let is_digits = id.chars().all(|letter| letter.is_ascii_digit() || letter == '_');
    let is_minted =
        id.strip_prefix("ses_").is_some_and(|rest| rest.chars().all(|letter| letter.is_ascii_alphanumeric()));
    let is_number_of_another = id.len() < 4;
    !id.is_empty() && id.len() <= MAX_LETTERS && !is_number_of_another && (is_uuid || is_digits || is_minted)
}

/// The reason for a refusal. The provider's message contains ids and tool names, so the rule's text
/// replaces it. The product's own error is kept, without the session's ids and names.
pub(super) fn reason(refusal: &Refusal, session: &Session) -> String {
    if let Some(rule) = refusal.rule {
        return rule.summary.to_owned();
    }
    let mut names: Vec<&str> = Vec::new();
    for block in session.messages.iter().flat_map(|message| &message.blocks) {
        match &block.content {
            Block::Call(call) => names.extend([call.id.as_str(), &call.name]),
            Block::Result(result) => names.extend([result.call.as_str(), &result.name]),
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    // The longest names first, so that no name leaves the end of another.
    names.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    names.dedup();
    without(&refusal.message, &names)
}

/// The text with each of these names removed. Only the original text is searched, not the replacements.
fn without(words: &str, names: &[&str]) -> String {
    let mut shown = String::new();
    let mut rest = words;
    while let Some(letter) = rest.chars().next() {
        let is_start = !shown.ends_with(|before: char| before.is_alphanumeric());
        let name = names.iter().find(|name| is_start && ends_a_word(rest, name));
        match name {
            Some(name) => {
                shown.push('…');
                rest = &rest[name.len()..];
            }
            None => {
                shown.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
    }
    shown
}

/// Returns whether the text begins with this name and the name is not part of a longer word.
fn ends_a_word(words: &str, name: &str) -> bool {
    let after = words.strip_prefix(name);
    after.is_some_and(|after| !after.starts_with(|letter: char| letter.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_that_products_make_are_shown() {
        for id in ["ses_41f2", "20260101_1", "5b0e6d1c-0000-4000-8000-000000000001"] {
            assert_eq!(address(4, Some(id)), id);
        }
        for id in ["anna@example.com", "anna", "sk-ant-api03-abc", "ses_anna@home", "12", ""] {
            assert_eq!(address(4, Some(id)), "5", "{id}");
        }
        assert_eq!(address(0, None), "1");
    }

    #[test]
    fn names_are_removed_as_complete_words() {
        assert_eq!(
            without("no result for call_12, call_1 and recall_1", &["call_12", "call_1"]),
            "no result for …, … and recall_1"
        );
    }
}
