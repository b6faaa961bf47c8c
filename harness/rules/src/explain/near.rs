//! Finds the sentences of providers that are nearest to a text.
//!
//! People paste titles that were cut, the middle of a log line, or a sentence that a client shortened. The
//! text and each sentence are aligned word by word: a local alignment, as for sequences in biology
//! (<https://en.wikipedia.org/wiki/Smith%E2%80%93Waterman_algorithm>). A word counts the more, the fewer
//! sentences contain it.

mod words;

use std::collections::{BTreeMap, BTreeSet};

use super::reported::{Reported, Reports, Subject};
use super::said::{Wordings, parts, sentences, unescaped};
use crate::{Dialect, Profile, Rule};

use words::{PATH_MARK, Signs, with_path, with_path_words, words};

pub(super) use words::without_addresses;

/// A sentence of providers, or one that people report, that is near to a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    /// The sentence, with placeholders in braces.
    pub sentence: String,
    /// The rules that say it: several if several APIs use the same words.
    pub rules: Vec<&'static Rule>,
    /// The providers that say it.
    pub providers: Vec<String>,
    /// The report about it, if people report it and no profile says it.
    pub reported: Option<Reported>,
}

impl Near {
    fn is_of_client(&self) -> bool {
        self.reported.as_ref().is_some_and(|own| own.about == Subject::Client)
    }
}

/// The number of sentences that are offered.
const MAX_OFFERED: usize = 3;

/// The number of words of a text that are compared. An error and its surroundings are shorter.
const MAX_WORDS: usize = 2_000;

/// The minimum score of an alignment anywhere in a text: about three words that few sentences have.
const MIN_SCORE: i32 = 36;

/// The minimum score if at least half of the text is in the alignment: about two such words.
const MIN_OF_SHORT: i32 = 14;

/// The minimum part of a sentence that a text has, in percent of its words by weight. Sentences share addresses and
/// phrases with others.
const MIN_PERCENT: i32 = 20;
const MIN_PERCENT_REPORTED: i32 = 60;

/// The weight of a word of the text that no sentence has.
const FOREIGN: i32 = 3;

/// The weight of a path. Alone it shows only that the text is about a body.
const PATH_WEIGHT: i32 = 4;

/// The score of a word that all sentences have, and of one that only one has.
const WEIGHTS: std::ops::RangeInclusive<i32> = 1..=8;

/// The costs of a word in the text that is not in the sentence, and of one that a placeholder stands for. A word of
/// the sentence that the text leaves out costs its weight.
const EXTRA_WORD: i32 = 3;
const FILLED_WORD: i32 = 1;

/// A word in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// The number of the word in the vocabulary.
    Word(usize),
    /// A path into the body of this dialect. The number is that of the word for it.
    Path(usize),
    Placeholder,
}

/// The rules and sentences behind an error message.
#[derive(Debug, Clone)]
pub enum Answer {
    /// It contains a complete sentence of these rules.
    Said(Vec<&'static Rule>),
    /// It contains a complete sentence that people report and no profile says.
    Reported(Vec<Reported>),
    /// It contains parts of these sentences, the nearest first. Empty if it is near to none.
    Near(Vec<Near>),
}

/// Returns what is known about an error message that a user pasted.
pub fn answer(text: &str) -> Answer {
    Vocabulary::of_all_sentences().answer(&Wordings::all(), text)
}

/// Returns the sentences that are nearest to a text, the nearest first, at most three. None if the text has too
/// little in common with any.
pub fn nearest(text: &str) -> Vec<Near> {
    Vocabulary::of_all_sentences().nearest(text)
}

/// All sentences, and how distinctive each of their words is.
#[derive(Debug, Default)]
pub struct Vocabulary {
    numbers: BTreeMap<String, usize>,
    weights: Vec<i32>,
    sentences: Vec<(Near, Vec<Piece>)>,
    /// For each word, the sentences with it.
    places: Vec<Vec<usize>>,
    reports: Reports,
}

impl Vocabulary {
    /// Reads the sentences of all rules in all profiles.
    pub fn of_all_sentences() -> Vocabulary {
        let mut rules: BTreeMap<&'static str, Vec<&'static Rule>> = BTreeMap::new();
        for rule in Rule::all() {
            for sentence in sentences(rule) {
                let of_sentence = rules.entry(sentence).or_default();
                if of_sentence.iter().all(|other| other.id != rule.id) {
                    of_sentence.push(rule);
                }
            }
        }
        let mut vocabulary = Vocabulary { reports: Reports::all(), ..Vocabulary::default() };
        for (sentence, rules) in rules {
            let list = rules.first().map_or("", |rule| rule.dialect().definition().list);
            let providers = providers_of(sentence, &rules);
            vocabulary.add(Near { sentence: sentence.to_owned(), rules, providers, reported: None }, list);
        }
        // A frame has no cause, so a text that is near to one is not explained by it.
        for own in Reports::all().causes() {
            let near = Near {
                sentence: own.says.clone(),
                rules: own.rule().into_iter().collect(),
                providers: vec![own.by.clone()],
                reported: Some(own.clone()),
            };
            let list = own.rule().map_or("", |rule| rule.dialect().definition().list);
            vocabulary.add(near, list);
        }
        // A word of a provider's sentences counts as much as it tells them apart. Reported ones share their words.
        let is_said = |number: &&usize| vocabulary.sentences[**number].0.reported.is_none();
        let n_said = vocabulary.sentences.iter().filter(|(near, _)| near.reported.is_none()).count();
        let n_with = |with: &Vec<usize>| with.iter().filter(is_said).count();
        let n_reported = vocabulary.sentences.len() - n_said;
        let weights = vocabulary.places.iter().map(|with| match n_with(with) {
            0 => weight(with.len(), n_reported),
            n => weight(n, n_said),
        });
        vocabulary.weights = weights.collect();
        for (word, number) in &vocabulary.numbers {
            if word.starts_with(PATH_MARK) {
                vocabulary.weights[*number] = PATH_WEIGHT;
            }
        }
        vocabulary
    }

    fn add(&mut self, near: Near, list: &str) {
        let pieces = self.pieces(&near.sentence, list);
        self.places.resize_with(self.numbers.len(), Vec::new);
        let number = self.sentences.len();
        for word in distinct(pieces.iter().filter_map(|piece| piece.number())) {
            self.places[word].push(number);
        }
        self.sentences.push((near, pieces));
    }

    /// Returns the sentences that are nearest to a text; see [`nearest`].
    pub fn nearest(&self, text: &str) -> Vec<Near> {
        let text = unescaped(text);
        let shown: Vec<String> = words(&with_path_words(&text)).take(MAX_WORDS).collect();
        let read: Vec<Option<usize>> = shown.iter().map(|word| self.numbers.get(word).copied()).collect();
        // Numbers and ids fill a place in a sentence, and do not speak against it.
        let foreign = |word: &str| if word.contains(|c: char| c.is_ascii_digit()) { 0 } else { FOREIGN };
        let weights = shown.iter().zip(&read).map(|(word, number)| match number {
            Some(number) => self.weights[*number],
            None => foreign(word),
        });
        let of_text: i32 = weights.sum();
        let signs = Signs::in_text(&text);
        let mut scored: Vec<(i32, i32, i32, &Near)> = Vec::new();
        for number in self.with_enough_words_of(&read) {
            let (near, pieces) = &self.sentences[number];
            let score = self.score(&read, pieces);
            let most = self.most(pieces);
            // Reported sentences have words of every log, so more of them has to be there.
            let (is_short, min_percent) = match near.reported {
                None => (score >= of_text && score >= MIN_OF_SHORT, MIN_PERCENT),
                Some(_) => (false, MIN_PERCENT_REPORTED),
            };
            if (is_short || score >= MIN_SCORE) && min_percent * 2 * most <= 100 * score {
                scored.push((-score, -signs.speaking_for(near), most, near));
            }
        }
        scored.sort_by_key(|(score, speaking, most, near)| (*score, *speaking, *most, &near.sentence));
        let best = scored.first().map_or(0, |(score, ..)| *score);
        scored.retain(|(score, ..)| 4 * score <= 3 * best);
        let mut offered: Vec<Near> = Vec::new();
        for (_, _, _, near) in scored {
            let is_known = |rule: &&Rule| offered.iter().any(|other| has(&other.rules, rule));
            if near.rules.is_empty() || !near.rules.iter().all(is_known) {
                offered.push(near.clone());
            }
        }
        offered.truncate(MAX_OFFERED);
        offered
    }

    /// Returns what is known about an error message; see [`answer`].
    pub fn answer(&self, wordings: &Wordings, text: &str) -> Answer {
        let matches = wordings.matches(text);
        let reported = self.reports.in_text(text);
        let n_of_rules = matches.first().map_or(0, |(n_letters, _)| *n_letters);
        let is_frame = reported.iter().all(|(_, own)| own.about == Subject::Frame);
        let mut near = self.nearest(text);
        // The content of a frame says more than the frame, unless the frame is a sentence with several causes.
        let mut least = n_of_rules + 1;
        let is_more = match (reported.first(), matches.first()) {
            (Some((_, frame)), Some((_, rule))) if is_frame => {
                let has_rule = wordings.matches(&frame.says).iter().any(|(_, own)| own.id == rule.id);
                // The same sentence: one of its causes is the rule.
                least -= usize::from(has_rule && frame.rule().is_some_and(|own| own.id == rule.id));
                has_rule
            }
            // A client's own report says less than the refusal that it passes on.
            _ => !is_frame || near.iter().all(Near::is_of_client),
        };
        if is_more && reported.first().is_some_and(|(n_letters, _)| *n_letters >= least) {
            return Answer::Reported(reported.into_iter().map(|(_, own)| own.clone()).collect());
        }
        let said: Vec<&'static Rule> = matches.into_iter().map(|(_, rule)| rule).collect();
        if said.is_empty() && near.is_empty() {
            let cut = self.reports.cut_in(text);
            if !cut.is_empty() {
                return Answer::Reported(cut.into_iter().map(|(_, own)| own.clone()).collect());
            }
        }
        if !said.is_empty() {
            near.retain(|near| near.reported.is_none());
        }
        // A short sentence can be the beginning of a longer one, and the text may have more of the longer one.
        let is_of = |near: &Near| said.iter().any(|rule| has(&near.rules, rule));
        match near.first() {
            Some(first) if !said.is_empty() && !is_of(first) => {
                let own = self.sentences.iter().map(|(own, _)| own).find(|own| is_of(own));
                near.retain(|near| !is_of(near));
                near.truncate(MAX_OFFERED - 1);
                near.extend(own.cloned());
                Answer::Near(near)
            }
            _ if said.is_empty() => Answer::Near(near),
            _ => Answer::Said(said),
        }
    }

    /// Splits a sentence, and numbers its words.
    fn pieces(&mut self, sentence: &str, list: &str) -> Vec<Piece> {
        let sentence = without_addresses(&with_path(sentence));
        let (fixed, names) = parts(&sentence);
        let mut pieces = Vec::new();
        for (k, part) in fixed.into_iter().enumerate() {
            match k.checked_sub(1).map(|before| names[before]) {
                Some("path") => {
                    let next = self.numbers.len();
                    let number = *self.numbers.entry(format!("{PATH_MARK}{list}")).or_insert(next);
                    pieces.push(Piece::Path(number));
                }
                Some(_) => pieces.push(Piece::Placeholder),
                None => {}
            }
            for word in words(part) {
                let next = self.numbers.len();
                pieces.push(Piece::Word(*self.numbers.entry(word).or_insert(next)));
            }
        }
        pieces
    }

    /// The sentences that share enough words with the text for the minimum score, in any order.
    fn with_enough_words_of(&self, text: &[Option<usize>]) -> Vec<usize> {
        let mut shared = vec![0; self.sentences.len()];
        for word in distinct(text.iter().copied().flatten()) {
            self.places[word].iter().for_each(|number| shared[*number] += 2 * self.weights[word]);
        }
        (0..shared.len()).filter(|number| shared[*number] >= MIN_OF_SHORT).collect()
    }

    /// The weight of all words of a sentence.
    fn most(&self, pieces: &[Piece]) -> i32 {
        pieces.iter().filter_map(|piece| piece.word()).map(|word| self.weights[word]).sum()
    }

    /// The score of the best alignment of a part of the text with a part of a sentence.
    fn score(&self, text: &[Option<usize>], sentence: &[Piece]) -> i32 {
        // `row[j]` is the best score of an alignment that ends with the word read last and piece `j`.
        let mut row = vec![0; sentence.len() + 1];
        let mut best = 0;
        for word in text {
            let mut diagonal = row[0];
            row[0] = 0;
            for (j, piece) in sentence.iter().enumerate() {
                let (above, left) = (row[j + 1], row[j]);
                let score = match piece {
                    Piece::Path(own) if *word == Some(*own) => diagonal + 2 * PATH_WEIGHT,
                    Piece::Path(_) | Piece::Placeholder => left.max(diagonal).max(above - FILLED_WORD),
                    Piece::Word(own) => {
                        let weight = self.weights[*own];
                        let met = if *word == Some(*own) { diagonal + 2 * weight } else { 0 };
                        met.max(above - EXTRA_WORD).max(left - weight)
                    }
                };
                diagonal = above;
                row[j + 1] = score.max(0);
                best = best.max(row[j + 1]);
            }
        }
        best
    }
}

impl Piece {
    fn word(&self) -> Option<usize> {
        match self {
            Piece::Word(word) => Some(*word),
            Piece::Path(_) | Piece::Placeholder => None,
        }
    }

    /// The number of the word that it stands for, or that stands for it.
    fn number(&self) -> Option<usize> {
        match self {
            Piece::Word(word) | Piece::Path(word) => Some(*word),
            Piece::Placeholder => None,
        }
    }
}

fn distinct(words: impl Iterator<Item = usize>) -> BTreeSet<usize> {
    words.collect()
}

fn has(rules: &[&'static Rule], rule: &Rule) -> bool {
    rules.iter().any(|other| other.id == rule.id)
}

/// The names of the providers with the sentence in their newest profile.
fn providers_of(sentence: &str, rules: &[&'static Rule]) -> Vec<String> {
    let mut providers: Vec<String> = Vec::new();
    for dialect in Dialect::ALL {
        for profile in Profile::newest_of_each_name(dialect) {
            let says_it = |rule: &&&'static Rule| {
                rule.dialect() == dialect
                    && profile.severity(rule).is_some()
                    && profile.sentences(rule).contains(&sentence)
            };
            if rules.iter().any(|rule| says_it(&rule))
                && !providers.iter().any(|known| known == profile.provider)
            {
                providers.push(profile.provider.to_owned());
            }
        }
    }
    providers
}

/// The weight of a word that `n` of all sentences have.
fn weight(n: usize, n_sentences: usize) -> i32 {
    let rarity = (n_sentences / n.max(1)).max(1).ilog2();
    (*WEIGHTS.start() + rarity as i32).min(*WEIGHTS.end())
}

#[cfg(test)]
mod tests {
    use super::super::path::last_keys;
    use super::*;

    fn ids(text: &str) -> Vec<&'static str> {
        nearest(text).iter().flat_map(|near| &near.rules).map(|rule| rule.id).collect()
    }

    #[test]
    fn a_cut_title_leads_to_its_rule() {
        for (text, rule) in [
            (
                "Resume fails: `tool_use` ids were found without `tool_result` blocks immediately after",
                "anthropic-messages/tool-result-missing",
            ),
            (
                "[Bug] Function call is missing a thought\\_signature in functionCall parts.",
                "gemini/thought-signature-missing",
            ),
            (
                "an assistant message with 'tool_calls' must be followed by tool messages responding",
                "openai-chat/tool-message-missing",
            ),
        ] {
            assert_eq!(ids(text).first(), Some(&rule), "{text}: {:?}", nearest(text));
        }
    }

    #[test]
    fn a_text_about_something_else_is_near_to_nothing() {
        for text in [
            "",
            "it does not work at all",
            "The agent stops after the first tool call and never returns a message to the user.",
            "Add support for parallel tool calls in the messages API, please.",
            "Tool result is missing from the conversation after I press escape",
            "The messages array is empty when the session is restored from disk",
            "Error: connect ECONNREFUSED 127.0.0.1:8080",
            "How do I pass a content block with an image to the assistant?",
            "thread 'main' panicked at src/main.rs:12:5: called `Option::unwrap()` on a `None` value",
            "KeyError: 'tool_call_id'",
            "The user message must be a string, not a list, in my tool function",
            "Bug: streaming stops with an unexpected end of input",
            "expected value at line 1 column 1",
            "Unhandled rejection: fetch failed",
            "agent.run() raises ValueError: invalid literal for int() with base 10: 'x'",
            "The model calls the same function twice with the same arguments",
        ] {
            assert_eq!(nearest(text), [], "{text}");
        }
    }

    type Cut = fn(&str) -> String;

    /// The ways in which people shorten and change a sentence.
    const CUTS: [(&str, Cut); 12] = [
        ("lower case", |text| text.to_lowercase()),
        ("upper case", |text| text.to_uppercase()),
        ("no marks", |text| text.replace(['`', '\'', '"', ':', ',', '.', '(', ')'], " ")),
        ("in JSON", |text| serde_json::json!({ "error": { "message": text } }).to_string()),
        ("in JSON in JSON", |text| {
            serde_json::json!(serde_json::json!({ "m": text }).to_string()).to_string()
        }),
        ("in Markdown", |text| format!("**Bug**: _{}_", text.replace('_', "\\_"))),
        ("in HTML", |text| text.replace('\'', "&#39;").replace('"', "&quot;").replace('<', "&lt;")),
        ("its beginning", |text| some_words(text, 0, 60)),
        ("its end", |text| some_words(text, 40, 100)),
        ("its middle", |text| some_words(text, 20, 80)),
        ("two words missing", |text| {
            let n = text.split(' ').count();
            let is_kept = |k: &usize| n < 6 || *k != n / 3 && *k != 2 * n / 3;
            let kept = text.split(' ').enumerate().filter(|(k, _)| is_kept(k));
            kept.map(|(_, word)| word).collect::<Vec<_>>().join(" ")
        }),
        ("in a title", |text| {
            format!("[Bug] resume fails with 400 {} when I press stop", some_words(text, 0, 80))
        }),
    ];

    /// The words of a text between two places, in percent.
    fn some_words(text: &str, from: usize, to: usize) -> String {
        let words: Vec<&str> = text.split(' ').collect();
        words[words.len() * from / 100..(words.len() * to).div_ceil(100)].join(" ")
    }

    #[test]
    fn a_sentence_that_was_cut_or_folded_leads_to_its_rule() {
        let vocabulary = Vocabulary::of_all_sentences();
        let wordings = Wordings::all();
        let (mut n, mut failures, mut single) = (0, Vec::new(), Vec::new());
        for (near, _) in vocabulary.sentences.iter().filter(|(near, _)| near.reported.is_none()) {
            let (fixed, names) = parts(&near.sentence);
            for (name, cut) in CUTS {
                let list = near.rules[0].dialect().definition().list;
                let key = last_keys(near.rules[0]).and_then(|keys| keys.first()).unwrap_or(&"part");
                let mut filled = fixed[0].to_owned();
                for (name, part) in names.iter().zip(&fixed[1..]) {
                    filled.push_str(&if *name == "path" {
                        format!("{list}.0.part.0.{key}")
                    } else {
                        "x1".to_owned()
                    });
                    filled.push_str(part);
                }
                let text = cut(&filled);
                let answer = vocabulary.answer(&wordings, &text);
                let is_single = match &answer {
                    Answer::Said(rules) => rules.len() == 1,
                    Answer::Reported(found) => found.len() == 1,
                    Answer::Near(_) => false,
                };
                let found: Vec<&Rule> = match answer {
                    // The rest of a cut sentence may be the complete sentence of another rule.
                    Answer::Said(_) if name.starts_with("its ") => continue,
                    Answer::Said(rules) => rules,
                    Answer::Reported(found) => found.iter().filter_map(Reported::rule).collect(),
                    Answer::Near(near) => near.into_iter().flat_map(|near| near.rules).collect(),
                };
                n += 1;
                if !near.rules.iter().any(|rule| found.iter().any(|other| other.id == rule.id)) {
                    let found: Vec<&str> = found.iter().map(|rule| rule.id).collect();
                    let failure = format!("{name}: {text}\n    is {} and not {found:?}", near.rules[0].id);
                    single.extend(is_single.then(|| failure.clone()));
                    failures.push(failure);
                }
            }
        }
        // Of a few short sentences with common words, too little is left.
        assert!(
            n > 2_000 && 100 * failures.len() <= n && single.is_empty(),
            "{} of {n}, {} single answers\n{}",
            failures.len(),
            single.len(),
            failures.join("\n")
        );
    }
}
