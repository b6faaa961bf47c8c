//! The words of a text, with its paths, and the signs of its provider.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::Near;
use crate::Dialect;

/// A sentence with one placeholder for each path. A path says where the fault is, and not which one it is.
pub(super) fn with_path(sentence: &str) -> Cow<'_, str> {
    const PATHS: [&str; 4] = ["messages.{n}.content.{b}", "messages.{n}", "messages[{n}]", "input[{n}]"];
    match PATHS.iter().any(|path| sentence.contains(path)) {
        true => Cow::Owned(PATHS.iter().fold(sentence.to_owned(), |text, path| text.replace(path, "{path}"))),
        false => Cow::Borrowed(sentence),
    }
}

/// A text without the addresses in it. Sentences about different faults refer to the same page.
pub(in super::super) fn without_addresses(text: &str) -> String {
    let mut parts = text.split("https://");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_of_address =
            |c: char| !c.is_whitespace() && !matches!(c, '"' | '\'' | '`' | '<' | '>' | ')' | ']' | '{');
        let end = part.find(|c: char| !is_of_address(c)).unwrap_or(part.len());
        kept.push_str(&part[end..]);
    }
    kept
}

/// A text in lower case without addresses, with a word for each path into a body, which names only the list of messages.
pub(super) fn with_path_words(text: &str) -> String {
    let text = without_addresses(&text.to_lowercase());
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let lists: BTreeSet<&str> = Dialect::ALL.into_iter().map(|dialect| dialect.definition().list).collect();
    let (mut read, mut from) = (String::with_capacity(text.len()), 0);
    let mut places: Vec<(usize, &str)> =
        lists.iter().flat_map(|list| text.match_indices(list).map(|(at, _)| (at, *list))).collect();
    places.sort_unstable();
    for (at, list) in places {
        let rest = &text[at + list.len()..];
        let begins = at >= from && !text[..at].ends_with(is_of_word);
        let goes_on =
            rest.starts_with(['.', '[']) && rest[1..].starts_with(|c: char| is_of_word(c) || c == '*');
        if begins && goes_on {
            let end = rest.find(|c: char| !is_of_word(c) && !matches!(c, '.' | '[' | ']' | '*'));
            let path = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
            read.push_str(&text[from..at]);
            read.push_str(&format!(" {PATH_MARK}{list} "));
            from = at + list.len() + path.len();
        }
    }
    read.push_str(&text[from..]);
    read
}

/// The first character of the word for a path. No text has it.
pub(super) const PATH_MARK: char = '\u{1}';

/// The words of a text in lower case. Names such as `tool_use` are one word, even when Markdown escapes the
/// underscore.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\\' | PATH_MARK);
    text.split(move |c: char| !is_of_word(c)).flat_map(|run| {
        // A backslash comes before an underscore, or begins an escape such as `\n`.
        let joined = run.replace("\\_", "_");
        let parts: Vec<String> =
            joined.split('\\').map(|part| part.trim_matches('_').to_lowercase()).collect();
        parts.into_iter().filter(|part| !part.is_empty())
    })
}

/// Signs of the provider in a text.
pub(super) struct Signs {
    dialects: Vec<Dialect>,
    plain: String,
}

impl Signs {
    pub(super) fn in_text(text: &str) -> Signs {
        let plain = text.to_lowercase();
        let names_place = |dialect: &Dialect| {
            let list = dialect.definition().list;
            let begins = |at: usize| !plain[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let follows = |at: usize| {
                let rest = &plain[at + list.len()..];
                rest.starts_with(['.', '[']) && rest[1..].starts_with(|c: char| c.is_ascii_digit())
            };
            plain.match_indices(list).any(|(at, _)| begins(at) && follows(at))
        };
        let dialects = Dialect::ALL.into_iter().filter(names_place).collect();
        Signs { dialects, plain }
    }

    /// How much speaks for a sentence: a place in the body as its API writes it, and the provider's name.
    pub(super) fn speaking_for(&self, near: &Near) -> i32 {
        let is_placed = near.rules.iter().any(|rule| self.dialects.contains(&rule.dialect()));
        let is_named = near.providers.iter().any(|name| self.plain.contains(&name.to_lowercase()));
        2 * i32::from(is_placed) + i32::from(is_named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_their_underscores_and_lose_all_other_marks() {
        let read: Vec<String> = words("**tool\\_use**: \"_Each_\",\\nIDs").collect();
        assert_eq!(read, ["tool_use", "each", "nids"]);
    }
}
