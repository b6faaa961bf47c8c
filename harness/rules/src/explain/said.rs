//! Finds the rules behind an error message that a user pasted.

use std::borrow::Cow;

use super::path::{can_be_of, last_keys, letters_of};
use crate::hosts::USUAL;
use crate::{Dialect, Profile, Rule};

/// The minimum number of letters that must match, without the placeholders of the sentence. Shorter
/// matches occur in many texts. The minimum does not apply if the text has little else.
const MIN_LETTERS: usize = 16;

/// The minimum number of letters of a sentence that a text has only the beginning of.
const MIN_CUT: usize = 28;

/// The maximum number of places at which a sentence in several parts is tried.
const MAX_TRIED: usize = 8;

/// The name of the placeholder for a field at the top of the body.
const KEY: &str = "key";

/// The name of the placeholder for a path into the body. The path identifies the dialect if it begins
/// with the message list.
const PATH: &str = "path";

/// The names of the placeholders for the number of an item in a list, and the maximum number of its letters.
const INDICES: [&str; 3] = ["n", "b", "k"];
const MAX_INDEX: usize = 5;

/// The sentences of all rules in all profiles.
#[derive(Debug)]
pub struct Wordings(Vec<Wording>);

/// One sentence of one rule.
#[derive(Debug)]
struct Wording {
    rule: &'static Rule,
    /// True if it is the rule's own sentence, and not only that of one profile.
    is_own: bool,
    template: Template<'static>,
}

/// A sentence with placeholders.
#[derive(Debug)]
pub(super) struct Template<'s> {
    /// The text before, between and after the placeholders, in the form of [`Plain`].
    fixed: Vec<String>,
    /// The names of the placeholders. There is one fewer than fixed parts.
    names: Vec<&'s str>,
}

impl Wordings {
    /// Returns the sentences of all rules and profiles.
    pub fn all() -> Wordings {
        Wordings(
            Rule::all()
                .flat_map(|rule| sentences(rule).map(move |sentence| Wording::of(rule, sentence)))
                .collect(),
        )
    }

    /// Returns the rules with a sentence in the text, the longest match first.
    ///
    /// Quotes, white space, case and the text around the sentence are ignored. The time is linear in the
    /// length of the text.
    pub fn in_text(&self, text: &str) -> Vec<&'static Rule> {
        self.matches(text).into_iter().map(|(_, rule)| rule).collect()
    }

    /// Returns the rules with a sentence in the text, and the number of letters that match.
    pub(super) fn matches(&self, text: &str) -> Vec<(usize, &'static Rule)> {
        let text = unescaped(text);
        let text = Plain::of(&text);
        let mut found: Vec<(usize, bool, &'static Rule)> = Vec::new();
        for wording in &self.0 {
            let Some(letters) = wording.template.letters_in(&text, Some(wording.rule)) else { continue };
            match found.last_mut() {
                Some((most, is_own, rule)) if rule.id == wording.rule.id => {
                    (*most, *is_own) = (letters, wording.is_own).max((*most, *is_own));
                }
                _ => found.push((letters, wording.is_own, wording.rule)),
            }
        }
        let most = found.iter().map(|(letters, ..)| *letters).max().unwrap_or(0);
        let is_meant = |dialect: Dialect| {
            found.iter().any(|(letters, _, rule)| *letters == most && rule.dialect() == dialect)
        };
        let meant: Vec<Dialect> = Dialect::ALL.into_iter().filter(|dialect| is_meant(*dialect)).collect();
        // Drops rules that match much less of the text than the best one, and rules of other dialects than
        // the best ones.
        found.retain(|(letters, _, rule)| 4 * letters >= 3 * most && meant.contains(&rule.dialect()));
        // Of two dialects in which a provider says the same, most clients write the usual one.
        let is_unusual = |rule: &Rule| !USUAL.contains(&rule.dialect());
        found.sort_by_key(|(letters, is_own, rule)| (usize::MAX - letters, !is_own, is_unusual(rule)));
        found.into_iter().map(|(letters, _, rule)| (letters, rule)).collect()
    }
}

/// Returns the rules with a sentence in the text; see [`Wordings::in_text`].
pub fn rules_saying(text: &str) -> Vec<&'static Rule> {
    Wordings::all().in_text(text)
}

/// Returns whether a text has a sentence with which this provider refuses a violation of a rule.
pub fn is_said_by(profile: &'static Profile, rule: &'static Rule, text: &str) -> bool {
    let own = profile.sentences(rule).iter().map(|sentence| Wording::of(rule, sentence)).collect();
    !Wordings(own).in_text(text).is_empty()
}

/// Returns a rule's sentences, and those from the profiles that word it differently.
pub(super) fn sentences(rule: &'static Rule) -> impl Iterator<Item = &'static str> {
    let worded = Profile::all().flat_map(|profile| profile.wording);
    let own = worded.filter(|(worded, _)| worded.id == rule.id).flat_map(|(_, sentences)| *sentences);
    rule.sentences.iter().chain(own).copied()
}

impl Wording {
    fn of(rule: &'static Rule, sentence: &'static str) -> Wording {
        Wording { rule, is_own: rule.sentences.contains(&sentence), template: Template::of(sentence) }
    }
}

impl<'s> Template<'s> {
    pub(super) fn of(sentence: &'s str) -> Template<'s> {
        let (fixed, names) = parts(sentence);
        Template { fixed: fixed.into_iter().map(|part| Plain::of(part).text).collect(), names }
    }

    /// Returns the number of matching letters, if the text has all fixed parts of the sentence in order. If the sentence
    /// is that of a rule, the rule must be able to say it about the path.
    pub(super) fn letters_in(&self, text: &Plain, rule: Option<&Rule>) -> Option<usize> {
        let n_fixed = self.n_fixed();
        let mut parts = self.fixed.iter().filter(|part| !part.is_empty());
        let first = parts.next()?;
        let next = parts.next();
        let (mut from, mut best, mut n_tried) = (0, None, 0);
        while let Some(at) = text.text[from..].find(first.as_str()) {
            let start = from + at;
            let letters = self.paths_from(start, text, rule).map(|of_paths| n_fixed + of_paths);
            // If the sentence is the complete text except for a placeholder at its end, it counts as a
            // complete match.
            let is_all = start == 0 && self.ends_open() && 2 * n_fixed >= text.text.len();
            let letters = letters.map(|letters| if is_all { letters.max(text.text.len()) } else { letters });
            best =
                best.max(letters.filter(|letters| *letters >= MIN_LETTERS || 2 * n_fixed >= text.text.len()));
            from = start + first.len();
            n_tried += 1;
            // The first words of a sentence in several parts may occur before it, too. A few places limit the time.
            if next.is_some_and(|next| n_tried == MAX_TRIED || !text.text[from..].contains(next.as_str())) {
                break;
            }
        }
        best
    }

    /// Returns the number of letters of the beginning of the sentence that the text has, if it is half of the sentence
    /// at least.
    pub(super) fn begins_in(&self, text: &Plain) -> Option<usize> {
        let (mut at, mut letters) = (0, 0);
        for part in self.fixed.iter().filter(|part| !part.is_empty()) {
            let rest = &text.text[at..];
            if let Some(found) = rest.find(part.as_str()) {
                (at, letters) = (at + found + part.len(), letters + part.len());
                continue;
            }
            // The text is cut inside this part, so that it ends with a beginning of it.
            let ends = part.char_indices().map(|(end, _)| end).filter(|end| *end > 0).rev();
            letters += ends.into_iter().find(|end| rest.ends_with(&part[..*end])).unwrap_or(0);
            break;
        }
        (letters >= MIN_CUT && 2 * letters >= self.n_fixed()).then_some(letters)
    }

    /// Returns whether the sentence ends with a placeholder.
    fn ends_open(&self) -> bool {
        self.fixed.len() > 1 && self.fixed.last().is_some_and(String::is_empty)
    }

    /// Returns the number of letters in the fixed parts.
    fn n_fixed(&self) -> usize {
        self.fixed.iter().map(String::len).sum()
    }

    /// Returns the number of matching letters in the paths of a sentence that begins at `start`: those in
    /// the message list's name. `None` if the sentence is incomplete or the rule does not say it about a path.
    fn paths_from(&self, start: usize, text: &Plain, rule: Option<&Rule>) -> Option<usize> {
        let (mut at, mut letters) = (start, 0);
        for (k, part) in self.fixed.iter().enumerate() {
            let name = k.checked_sub(1).and_then(|before| self.names.get(before)).copied();
            let end_before = at;
            at += text.text[at..].find(part.as_str())?;
            // The number of an item is not a longer path that ends in the same way.
            if name.is_some_and(|name| INDICES.contains(&name)) && at - end_before > MAX_INDEX {
                return None;
            }
            // A field inside the history is not one of the body.
            if name == Some(KEY)
                && self.fixed[..k].iter().all(String::is_empty)
                && text.path_before(at).contains('.')
            {
                return None;
            }
            if name == Some(PATH) {
                // For a path at the beginning of the sentence, only its end is known. For any other, only
                // its beginning is.
                let is_first = self.fixed[..k].iter().all(String::is_empty);
                let path = match is_first {
                    true => text.path_before(at),
                    false if at == end_before && !part.is_empty() => "",
                    false => text.path_after(end_before),
                };
                // Without a path, a few letters are not specific enough.
                let is_of_item = rule.and_then(last_keys).is_some_and(|keys| keys.contains(&"id"));
                if path.is_empty() && (is_of_item || self.n_fixed() < MIN_LETTERS) {
                    return None;
                }
                if let Some(rule) = rule {
                    letters += letters_of(path, rule).filter(|_| can_be_of(path, rule))?;
                }
            }
            at += part.len();
        }
        Some(letters)
    }
}

/// A text reduced to letters and digits in lower case.
#[derive(Debug)]
pub(super) struct Plain<'a> {
    text: String,
    raw: &'a str,
    /// For each byte of the plain text, the offset of its character in the raw text.
    places: Vec<usize>,
}

impl<'a> Plain<'a> {
    pub(super) fn of(raw: &'a str) -> Plain<'a> {
        let (mut text, mut places) = (String::new(), Vec::new());
        for (at, c) in raw.char_indices().filter(|(_, c)| c.is_alphanumeric()) {
            text.extend(c.to_lowercase());
            places.resize(text.len(), at);
        }
        Plain { text, raw, places }
    }

    /// Returns the word before a position in the plain text, if it may be a path.
    fn path_before(&self, at: usize) -> &'a str {
        let end = self.places.get(at).copied().unwrap_or(self.raw.len());
        let before = self.raw[..end].trim_end_matches(|c: char| !is_of_path(c) || c == '.');
        let n_bytes: usize =
            before.chars().rev().take_while(|c| is_of_path(*c)).take(MAX_PATH).map(char::len_utf8).sum();
        &before[before.len() - n_bytes..]
    }

    /// Returns the word after a position in the plain text, if it may be a path.
    fn path_after(&self, at: usize) -> &'a str {
        let Some(begin) = self.places.get(at) else { return "" };
        let rest = &self.raw[*begin..];
        let n_bytes: usize =
            rest.chars().take_while(|c| is_of_path(*c)).take(MAX_PATH).map(char::len_utf8).sum();
        &rest[..n_bytes]
    }
}

/// Maximum length of a path in characters. A path into a request has about fifty.
const MAX_PATH: usize = 200;

fn is_of_path(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '[' | ']')
}

/// The text with the characters that escapes of HTML and of white space in JSON stand for.
pub(super) fn unescaped(text: &str) -> Cow<'_, str> {
    const ESCAPES: [(&str, &str); 11] = [
        ("&#39;", "'"),
        ("&#x27;", "'"),
        ("&apos;", "'"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
        ("\\n", " "),
        ("\\r", " "),
        ("\\t", " "),
    ];
    if !text.contains(['&', '\\']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(ESCAPES.iter().fold(text.to_owned(), |text, (escape, c)| text.replace(escape, c)))
}

/// Splits a sentence into its fixed parts and its placeholder names.
pub(super) fn parts(sentence: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut fixed, mut names) = (Vec::new(), Vec::new());
    let mut rest = sentence;
    let mut from = 0;
    while let Some(open) = rest[from..].find('{').map(|at| from + at) {
        match rest[open + 1..].split_once('}') {
            Some((name, after)) if name.starts_with(|c: char| c.is_ascii_lowercase()) && is_name(name) => {
                fixed.push(&rest[..open]);
                names.push(name);
                rest = after;
                from = 0;
            }
            // The brace is part of the sentence.
            _ => from = open + 1,
        }
    }
    fixed.push(rest);
    (fixed, names)
}

fn is_name(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pasted_error_leads_to_its_rule() {
        let said = |text: &str| rules_saying(text).first().map(|rule| rule.id);
        let anthropic = "API Error: 400 {\"message\":\"messages.1: `tool_use` ids were found without `tool_result` blocks \
            immediately after: toolu_01. Each `tool_use` block must have a corresponding `tool_result` block in the next \
            message.\"}";
        assert_eq!(said(anthropic), Some("anthropic-messages/tool-result-missing"));
        let openai = "No tool output found for function call call_abc.";
        assert_eq!(said(openai), Some("openai-responses/tool-output-missing"));
        // The first word of the sentence comes before it, too.
        let again = "400 invalid_request_error: Invalid request. Invalid 'input[121].id': 'thinking_0'. Expected an ID that \
                     begins with 'rs'.";
        assert_eq!(said(again), Some("openai-responses/item-id-form"));
        let masked = "ValidationException: ***.***.signature: Field required (request id: 1)";
        assert_eq!(said(masked), Some("anthropic-messages/thinking-field-required"));
        let inside = "messages.4.content.0.tool_use.thought_signature: Extra inputs are not permitted";
        assert!(
            rules_saying(inside).iter().all(|rule| rule.id != "anthropic-messages/sampling-parameters"),
            "{inside}"
        );
        assert_eq!(said("Something went wrong."), None);
        assert_eq!(said(""), None);
    }

    #[test]
    fn a_path_shows_the_dialect_of_a_sentence() {
        let said = |text: &str| rules_saying(text).iter().map(|rule| rule.id).collect::<Vec<_>>();
        for (text, rule) in [
            (
                "400 Invalid 'input[2].id': string too long. Expected a string with maximum length 64, but got a string \
                 with length 408 instead.",
                "openai-responses/item-id-too-long",
            ),
            ("Missing required parameter: 'messages[1].content'.", "openai-chat/request-shape"),
            ("{\"message\":\"messages.0.content: Field required\"}", "anthropic-messages/request-shape"),
            (
                "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an empty \
                 array instead.",
                "openai-chat/tool-calls-empty",
            ),
        ] {
            let rules = said(text);
            assert!(rules.contains(&rule), "{text}: {rules:?}");
            let dialect = rule.split('/').next().unwrap();
            assert!(rules.iter().all(|other| other.starts_with(dialect)), "{text}: {rules:?}");
        }
    }

    /// Calls `each` with every rule's sentence in every profile, and with an example text for its
    /// placeholders.
    fn each_sentence(mut each: impl FnMut(&'static Profile, &'static Rule, &'static str, &str)) {
        for profile in Profile::all() {
            let rules = Rule::all().filter(|rule| rule.dialect() == profile.dialect);
            for rule in rules.filter(|rule| profile.severity(rule).is_some()) {
                for sentence in profile.sentences(rule) {
                    let (fixed, names) = parts(sentence);
                    let key = last_keys(rule).and_then(|keys| keys.first()).unwrap_or(&"content");
                    let path = format!("{}.0.{key}", profile.dialect.definition().list);
                    let mut filled = fixed[0].to_owned();
                    for (name, part) in names.iter().zip(&fixed[1..]) {
                        filled.push_str(if *name == PATH { &path } else { "x1" });
                        filled.push_str(part);
                    }
                    each(profile, rule, sentence, &filled);
                }
            }
        }
    }

    #[test]
    fn every_sentence_of_every_profile_leads_to_its_rule() {
        let wordings = Wordings::all();
        let mut failures = Vec::new();
        each_sentence(|profile, rule, sentence, filled| {
            let found = wordings.in_text(filled);
            // Another dialect may have the same sentence, or the same with a placeholder at its end.
            let is_same = |own: &str| {
                let open = own.rsplit_once(" {").filter(|(_, name)| name.ends_with('}'));
                own == sentence || open.is_some_and(|(start, _)| sentence.starts_with(start))
            };
            let says_it =
                |other: &Rule| Rule::find(other.id).is_some_and(|other| sentences(other).any(is_same));
            let foreign = found.iter().find(|other| other.dialect() != rule.dialect() && !says_it(other));
            if foreign.is_some() || !found.iter().any(|other| other.id == rule.id) {
                let found: Vec<&str> = found.iter().map(|rule| rule.id).collect();
                failures.push(format!("{} {}: {filled}: {found:?}", profile.name, rule.id));
            }
        });
        assert!(failures.is_empty(), "{} are not found\n{}", failures.len(), failures.join("\n"));
    }

    #[test]
    fn only_names_in_braces_are_placeholders() {
        assert_eq!(parts("a {path}: {1,64} {id}"), (vec!["a ", ": {1,64} ", ""], vec!["path", "id"]));
    }

    #[test]
    fn a_text_with_many_partial_matches_is_read_once() {
        let text = "Field required. No tool output found for ".repeat(2000);
        assert!(rules_saying(&text).is_empty());
    }
}
