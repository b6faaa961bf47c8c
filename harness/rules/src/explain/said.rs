//! A provider's sentence, as somebody pastes it, and the rules that say it.

use crate::Rule;

/// Letters of a rule's sentence, without what differs from violation to violation, that a text must have to be taken for
/// it: fewer stand in many texts.
const MIN_LETTERS: usize = 16;

/// The rules whose sentences a text holds, those with the longest sentence first.
///
/// Quotes, white space and capitals do not count, and what stands around the sentence does not either.
pub fn rules_saying(text: &str) -> Vec<&'static Rule> {
    let text = plain(text);
    let mut found: Vec<(usize, &'static Rule)> = Rule::all()
        .filter_map(|rule| {
            let letters = rule.sentences.iter().filter_map(|sentence| letters_in(&text, sentence)).max()?;
            Some((letters, rule))
        })
        .collect();
    let most = found.iter().map(|(letters, _)| *letters).max().unwrap_or(0);
    // A rule that says less of the text than another is not the one that is meant.
    found.retain(|(letters, _)| 4 * letters >= 3 * most);
    found.sort_by_key(|(letters, _)| usize::MAX - letters);
    found.into_iter().map(|(_, rule)| rule).collect()
}

/// The letters of a sentence, if a text holds all its fixed parts in their order.
fn letters_in(text: &str, sentence: &str) -> Option<usize> {
    let parts: Vec<String> = fixed_parts(sentence).iter().map(|part| plain(part)).collect();
    let letters = parts.iter().map(String::len).sum();
    if letters < MIN_LETTERS {
        return None;
    }
    let mut rest = text;
    for part in &parts {
        rest = &rest[rest.find(part.as_str())? + part.len()..];
    }
    Some(letters)
}

/// What stands between the names in braces.
fn fixed_parts(sentence: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = sentence;
    while let Some((fixed, after)) = rest.split_once('{') {
        match after.split_once('}') {
            Some((name, after)) if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                parts.push(fixed);
                rest = after;
            }
            _ => break,
        }
    }
    parts.push(rest);
    parts
}

/// Letters and digits alone, in small letters.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pasted_error_names_its_rule() {
        let said = |text: &str| rules_saying(text).first().map(|rule| rule.id);
        let anthropic = "API Error: 400 {\"message\":\"messages.1: `tool_use` ids were found without `tool_result` blocks \
            immediately after: toolu_01. Each `tool_use` block must have a corresponding `tool_result` block in the next \
            message.\"}";
        assert_eq!(said(anthropic), Some("anthropic-messages/tool-result-missing"));
        let openai = "No tool output found for function call call_abc.";
        assert_eq!(said(openai), Some("openai-responses/tool-output-missing"));
        assert_eq!(said("Something went wrong."), None);
        assert_eq!(said(""), None);
    }

    #[test]
    fn each_rule_is_found_by_each_of_its_sentences() {
        for rule in Rule::all() {
            for sentence in
                rule.sentences.iter().filter(|sentence| letters_in(&plain(sentence), sentence).is_some())
            {
                assert!(
                    rules_saying(sentence).iter().any(|said| said.sentences.contains(sentence)),
                    "{sentence}"
                );
            }
        }
    }
}
