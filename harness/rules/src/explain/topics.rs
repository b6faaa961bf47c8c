//! Finds the rules that are about the same subject as a text.
//!
//! The title of an issue often describes the fault in words of its own, and quotes no sentence of a provider. The words
//! of the text are compared with those of each rule's name, summary, advice and sentences. A word counts the more, the
//! fewer rules have it, as in searches of texts (<https://en.wikipedia.org/wiki/Tf%E2%80%93idf>).

use std::collections::{BTreeMap, BTreeSet};

use super::foreign;
use super::near::without_addresses;
use super::said::sentences;
use crate::Rule;

/// The number of rules that are offered.
const MAX_OFFERED: usize = 3;

/// The maximum number of words of a title. A longer text has words of many rules by chance.
const MAX_WORDS: usize = 60;

/// The minimum number of words that a text and a rule share.
const MIN_SHARED: usize = 4;

/// The minimum weight of the shared words: about four that one rule of sixteen has.
const MIN_WEIGHT: u32 = 17;

/// The same for a text in another language, in which only the technical terms are known.
const MIN_SHARED_TERMS: usize = 1;
const MIN_WEIGHT_OF_TERMS: u32 = 6;

/// Returns the rules that are nearest to the subject of a text, one for each name, at most three. None if the text
/// shares too few words with any.
pub fn about(text: &str) -> Vec<&'static Rule> {
    let of_rules: Vec<(&'static Rule, BTreeSet<String>)> =
        Rule::all().map(|rule| (rule, words_of(rule))).collect();
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for word in of_rules.iter().flat_map(|(_, words)| words) {
        *counts.entry(word).or_default() += 1;
    }
    let n_rules = of_rules.len() as u32;
    let weight = |word: &str| counts.get(word).map_or(0, |n| (n_rules / n).max(1).ilog2());
    if text.split_whitespace().nth(MAX_WORDS).is_some() {
        return Vec::new();
    }
    let terms = foreign::terms(text);
    let (min_shared, min_weight) = match terms.is_empty() {
        true => (MIN_SHARED, MIN_WEIGHT),
        false => (MIN_SHARED_TERMS, MIN_WEIGHT_OF_TERMS),
    };
    let asked: BTreeSet<String> = stems(text).chain(stems(&terms)).collect();
    let mut scored: Vec<(u32, &'static Rule)> = Vec::new();
    for (rule, words) in &of_rules {
        let common = asked.intersection(words).map(|word| weight(word));
        let shared: Vec<u32> = common.filter(|n| *n > 0).collect();
        let sum: u32 = shared.iter().sum();
        if shared.len() >= min_shared && sum >= min_weight {
            scored.push((sum, rule));
        }
    }
    scored.sort_by_key(|(sum, rule)| (u32::MAX - sum, rule.id));
    let best = scored.first().map_or(0, |(sum, _)| *sum);
    scored.retain(|(sum, _)| 2 * sum >= best);
    let mut offered: Vec<&'static Rule> = Vec::new();
    for (_, rule) in scored {
        if offered.iter().all(|other| other.short_name() != rule.short_name()) {
            offered.push(rule);
        }
    }
    offered.truncate(MAX_OFFERED);
    offered
}

fn words_of(rule: &'static Rule) -> BTreeSet<String> {
    let own = [rule.id, rule.summary, rule.why];
    own.into_iter().chain(sentences(rule)).flat_map(stems).collect()
}

/// The words of a text without their endings, as far as they show a subject.
fn stems(text: &str) -> impl Iterator<Item = String> {
    let text = without_addresses(text);
    let words: Vec<String> =
        text.split(|c: char| !(c.is_alphanumeric() || c == '_')).map(str::to_owned).collect();
    words.into_iter().filter_map(|word| {
        let word = word.to_lowercase();
        let is_subject = word.chars().count() >= 3 && !word.contains(|c: char| c.is_ascii_digit());
        (is_subject && !COMMON.contains(&word.as_str())).then(|| stem(&word))
    })
}

/// Words of every issue.
const COMMON: [&str; 63] = [
    "the",
    "and",
    "for",
    "with",
    "that",
    "this",
    "not",
    "was",
    "are",
    "has",
    "have",
    "from",
    "when",
    "after",
    "all",
    "any",
    "but",
    "can",
    "does",
    "its",
    "into",
    "every",
    "later",
    "then",
    "than",
    "only",
    "one",
    "two",
    "which",
    "while",
    "bug",
    "error",
    "errors",
    "issue",
    "fails",
    "failed",
    "request",
    "requests",
    "api",
    "provider",
    "model",
    "models",
    "message",
    "messages",
    "without",
    "because",
    "most",
    "often",
    "see",
    "learn",
    "more",
    "details",
    "please",
    "your",
    "set",
    "use",
    "support",
    "supported",
    "longer",
    "steps",
    "client",
    "key",
    "environment",
];

fn stem(word: &str) -> String {
    // A call or its arguments that end too soon.
    if ["truncated", "incomplete", "partial", "malformed", "unterminated"].contains(&word) {
        return "cut".to_owned();
    }
    let cut = |ending: &str| word.strip_suffix(ending).filter(|rest| rest.len() >= 4);
    ["ations", "ation", "ers", "er", "ings", "ing", "ies", "ed", "es", "s", "e"]
        .into_iter()
        .find_map(cut)
        .unwrap_or(word)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_of_an_issue_leads_to_the_rules_about_its_subject() {
        // https://github.com/vllm-project/vllm/issues/55495
        let title = "[Bug]: qwen3_xml tool parser emits a truncated `arguments` string with a leaked `</parameter` tag; the \
                     Responses API then rejects every later request of the conversation with `400 Expecting value`";
        let found: Vec<&str> = about(title).iter().map(|rule| rule.id).collect();
        assert!(found.contains(&"openai-chat/arguments-not-json"), "{found:?}");
    }

    #[test]
    fn a_title_in_another_language_leads_to_the_rules_of_its_terms() {
        for (title, rule) in [
            ("[Bug] 无法适配 opus4.8，该模型不支持 prefill", "prefill"),
            ("[Bug] Gemini API 在工具调用时遇到丢失思考签名错误", "gemini/thought-signature-missing"),
            ("Gemini 3 で思考署名が欠落していると 400 になる", "gemini/thought-signature-missing"),
            ("切换模型后 reasoning_content 缺失导致会话失败", "reasoning-content"),
        ] {
            let found: Vec<&str> = about(title).iter().map(|rule| rule.id).collect();
            assert!(found.iter().any(|id| id.contains(rule)), "{title}: {found:?}");
        }
        for title in ["插件无法启动", "会話が遅い", "모델이 응답하지 않습니다"] {
            assert!(about(title).is_empty(), "{title}: {:?}", about(title).first().map(|rule| rule.id));
        }
    }

    #[test]
    fn a_text_about_something_else_leads_nowhere() {
        for text in [
            "",
            "Something went wrong.",
            "Connection reset by peer while reading from the upstream server",
            "Segmentation fault (core dumped)",
            "npm ERR! peer dep missing: react@18",
            "TypeError: Cannot read properties of undefined (reading 'map')",
            "docker: Error response from daemon: pull access denied for brickbat",
            "The legacy schema is no longer supported. For details and examples, see: https://ai.google.dev/gemini-api/docs/thoughts",
            "To authenticate, set the environment variable with your key. Learn more: https://ai-sdk.dev/text-content-parts",
        ] {
            let found: Vec<&str> = about(text).iter().map(|rule| rule.id).collect();
            assert_eq!(found, Vec::<&str>::new(), "{text}");
        }
    }
}
