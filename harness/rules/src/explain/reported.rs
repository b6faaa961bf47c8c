//! Sentences that people report and no profile says: of servers without a profile, of clients, and about other things than
//! the history.
//!
//! They are data, one on each line of `reported.jsonl`. Such a sentence explains an error, and judges no request.

use serde::Deserialize;

use super::said::{Plain, Template, unescaped};
use crate::Rule;

/// A sentence that people report.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reported {
    /// The sentence, with placeholders in braces.
    pub says: String,
    /// The provider, the server or the client that says it.
    pub by: String,
    /// Its subject.
    pub about: Subject,
    /// The rule behind it, if a rule of another provider, or of another version, is about the same fault.
    #[serde(default)]
    pub rule: Option<String>,
    /// Its meaning.
    pub means: String,
    /// Advice for the user.
    pub advice: String,
    /// The address of a report or of the code. None if only copies of the code without an address are known.
    #[serde(default)]
    pub source: Option<String>,
}

/// The subject of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// The provider refuses the history.
    History,
    /// The provider refuses the request for another reason, or cannot answer now.
    Neighbour,
    /// The client reports it, whether or not it has sent anything.
    Client,
    /// A gateway or a client passes on a refusal without its cause.
    Frame,
}

/// The note on the page about a sentence without a rule.
pub(super) const UNCHECKED: &str = "No rule checks this, so `brickbat check` does not find it.";

impl Subject {
    /// The first sentence of a page.
    pub(super) fn lead(self) -> &'static str {
        match self {
            Subject::History => "This error is about the history.",
            Subject::Neighbour => "This error is not about the history.",
            Subject::Client => "The client reports this error itself.",
            Subject::Frame => "This text only says that a provider has refused, and not why.",
        }
    }
}

impl Reported {
    /// The rule behind the sentence.
    pub fn rule(&self) -> Option<&'static Rule> {
        Rule::find(self.rule.as_deref()?)
    }

    /// The page about the sentence.
    pub fn page(&self) -> String {
        let Reported { says, by, means, advice, .. } = self;
        let lead = self.about.lead();
        let mut page = format!("{lead}\n\n{says}\n   said by {by}\n\n{means}\n\nwhat to do\n{advice}\n");
        if let Some(source) = &self.source {
            page.push_str(&format!("\nsource\n  {source}\n"));
        }
        match self.rule() {
            Some(rule) => page.push_str(&format!(
                "\n{} is about the same fault:\n  {}\n  `brickbat explain {}` has its page.\n",
                rule.id, rule.summary, rule.id
            )),
            None if self.about == Subject::History => page.push_str(&format!("\n{UNCHECKED}\n")),
            None => {}
        }
        page
    }
}

/// Every such sentence.
#[derive(Debug, Default)]
pub struct Reports(Vec<Reported>);

impl Reports {
    /// Reads the data.
    pub fn all() -> Reports {
        let lines = include_str!("reported.jsonl").lines();
        // A test reads every line.
        Reports(lines.filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// The sentences in the order of the data.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Reported> {
        self.0.iter()
    }

    /// The sentences that have a cause.
    pub(super) fn causes(&self) -> impl Iterator<Item = &Reported> {
        self.0.iter().filter(|own| own.about != Subject::Frame)
    }

    /// The sentences in a text with the number of their letters that match, the longest match first, at most three.
    pub(super) fn in_text(&self, text: &str) -> Vec<(usize, &Reported)> {
        self.best(text, |template, text| template.letters_in(text, None))
    }

    /// The sentences that a text has the beginning of, as [`Reports::in_text`] returns them.
    pub(super) fn cut_in(&self, text: &str) -> Vec<(usize, &Reported)> {
        self.best(text, |template, text| template.begins_in(text))
    }

    fn best(
        &self,
        text: &str,
        letters_in: impl Fn(&Template<'_>, &Plain<'_>) -> Option<usize>,
    ) -> Vec<(usize, &Reported)> {
        let text = unescaped(text);
        let text = Plain::of(&text);
        let matches =
            self.0.iter().filter_map(|own| Some((letters_in(&Template::of(&own.says), &text)?, own)));
        let mut found: Vec<(usize, &Reported)> = matches.collect();
        found.sort_by_key(|(letters, own)| (usize::MAX - letters, own.says.as_str()));
        // The content of a frame says more than the frame.
        if found.iter().any(|(_, own)| own.about != Subject::Frame) {
            found.retain(|(_, own)| own.about != Subject::Frame);
        }
        let most = found.first().map_or(0, |(letters, _)| *letters);
        found.retain(|(letters, _)| 4 * letters >= 3 * most);
        found.truncate(MAX_OFFERED);
        found
    }
}

/// The number of sentences that are offered.
const MAX_OFFERED: usize = 3;

#[cfg(test)]
mod tests {
    use super::super::said::parts;
    use super::super::{Answer, Vocabulary, Wordings};
    use super::*;

    fn filled(says: &str) -> String {
        let (fixed, _) = parts(says);
        fixed.join("x1")
    }

    #[test]
    fn every_line_is_a_sentence_with_a_known_rule() {
        let n_lines = include_str!("reported.jsonl").lines().count();
        let reports = Reports::all();
        assert_eq!(reports.0.len(), n_lines);
        for own in &reports.0 {
            assert!(own.rule.is_none() || own.rule().is_some(), "{}: {:?}", own.says, own.rule);
            assert!(!own.means.is_empty() && !own.advice.is_empty(), "{}", own.says);
            for words in [&own.means, &own.advice] {
                // Each entry is read alone.
                let is_alone = !words.starts_with("As above") && !words.starts_with("The same.");
                assert!(is_alone && words.ends_with(['.', '`']), "{}: {words}", own.says);
            }
            let is_address = own.source.as_ref().is_none_or(|source| source.starts_with("https://"));
            assert!(is_address, "{:?}", own.source);
        }
    }

    /// The sentence about length is the same for an id, a text and an offered tool: only its path differs.
    #[test]
    fn the_path_of_a_length_shows_what_is_too_long() {
        let (vocabulary, wordings) = (Vocabulary::of_all_sentences(), Wordings::all());
        let answer = |path: &str| {
            let text = format!(
                "Invalid '{path}': string too long. Expected a string with maximum length 64, but got a string with length \
                 408 instead."
            );
            match vocabulary.answer(&wordings, &text) {
                Answer::Said(rules) => rules.iter().map(|rule| rule.id).collect::<Vec<_>>().join(" "),
                Answer::Reported(found) => format!("{:?}", found[0].about),
                Answer::Near(near) => format!("{near:?}"),
            }
        };
        assert_eq!(answer("messages[1].tool_calls[0].id"), "openai-chat/call-id-too-long");
        let of_item = answer("input[2].id");
        assert!(of_item.contains("openai-responses/item-id-too-long"), "{of_item}");
        assert_eq!(answer("messages[4].content"), "History");
        assert_eq!(answer("tools[11].function.name"), "Neighbour");
    }

    #[test]
    fn a_frame_is_called_one_and_its_content_counts_more() {
        let (vocabulary, wordings) = (Vocabulary::of_all_sentences(), Wordings::all());
        let about = |text: &str| match vocabulary.answer(&wordings, text) {
            Answer::Reported(found) => Some(found[0].about),
            Answer::Said(_) | Answer::Near(_) => None,
        };
        assert_eq!(about("Provider returned error"), Some(Subject::Frame));
        let within = "Provider returned error: No tool output found for function call call_1.";
        assert_eq!(about(within), None);
        // A cause that was cut, and one that is shorter than the frame.
        let cut = "Provider returned error: an assistant message with 'tool_calls' must be followed by tool messages";
        assert_eq!(about(cut), None);
        let short = "Error from provider (Console): Upstream request failed: text content is empty";
        assert_eq!(about(short), Some(Subject::History));
    }

    /// The number of an item is no longer path, so the sentence about a message's author is not one about a call.
    #[test]
    fn a_number_in_a_sentence_stands_for_no_other_path() {
        let (vocabulary, wordings) = (Vocabulary::of_all_sentences(), Wordings::all());
        let is_said = |path: &str| {
            let text = format!(
                "Invalid '{path}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
            );
            matches!(vocabulary.answer(&wordings, &text), Answer::Said(_))
        };
        assert!(is_said("messages[3].tool_calls[0].function.name"));
        assert!(!is_said("messages[3].name"));
    }

    #[test]
    fn every_sentence_leads_to_itself_or_to_a_rule() {
        let (vocabulary, wordings) = (Vocabulary::of_all_sentences(), Wordings::all());
        let mut failures = Vec::new();
        for own in &Reports::all().0 {
            let text = format!("API Error: 400 {}", filled(&own.says));
            let answer = vocabulary.answer(&wordings, &text);
            let is_found = match &answer {
                Answer::Reported(found) => found.iter().any(|other| other.says == own.says),
                Answer::Said(rules) => {
                    own.about == Subject::History
                        && own.rule().is_none_or(|rule| rules.iter().any(|other| other.id == rule.id))
                }
                Answer::Near(_) => false,
            };
            if !is_found {
                failures.push(format!("{text}: {answer:?}"));
            }
        }
        assert!(failures.is_empty(), "{}\n{}", failures.len(), failures.join("\n"));
    }
}
