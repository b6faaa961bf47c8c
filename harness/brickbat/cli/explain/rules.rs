//! The pages about rules.

use super::super::embedded::{counts, vectors};
use brickbat_rules::explain::Near;
use brickbat_rules::streams::StreamRule;
use brickbat_rules::{Rule, explain};

/// The pages for the rules that a word names by id, alias or name.
pub(super) fn pages(word: &str) -> Vec<String> {
    let of_streams = StreamRule::named(word).into_iter().map(explain::stream_text);
    of(&Rule::named(word)).into_iter().chain(of_streams).collect()
}

/// The pages for these rules.
pub(super) fn of(rules: &[&'static Rule]) -> Vec<String> {
    let (vectors, counts) = (vectors(), counts());
    rules.iter().map(|rule| explain::text(rule, vectors.get(rule.id), &counts)).collect()
}

/// The list of the sentences that are nearest to a text that has no complete one.
pub(super) fn nearest(near: &[Near]) -> String {
    let mut text =
        "No provider's complete sentence is in this text; it seems to be cut. The nearest:\n".to_owned();
    for (n, Near { sentence, rules, providers }) in near.iter().enumerate() {
        let providers = match providers[..] {
            [] => "an earlier version of the API".to_owned(),
            _ => providers.join(", "),
        };
        text.push_str(&format!("\n{}. {sentence}\n   said by {providers}\n", n + 1));
        for rule in rules {
            text.push_str(&format!("   {}  {}\n", rule.id, rule.summary));
        }
    }
    text.push_str("\n`brickbat explain RULE` has the page of a rule.\n");
    text
}

/// The list of the rules that have words of a text, if it has no provider's sentence at all.
pub(super) fn on_subject(rules: &[&'static Rule]) -> String {
    let mut text =
        "No provider's sentence is in this text. Rules with the most words in common with it:\n\n".to_owned();
    for rule in rules {
        text.push_str(&format!("{}  {}\n", rule.id, rule.summary));
    }
    text.push_str("\n`brickbat explain RULE` has the page of a rule, and `brickbat check FILE` judges the request itself.\n");
    text
}
