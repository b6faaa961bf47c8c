//! The pages about rules.

use super::super::embedded::{counts, vectors};
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

/// The pages about an error message.
pub(in super::super) fn of_error(text: &str) -> Vec<String> {
    explain::error_pages(text, &of)
}

/// The pages about an error message with a complete known sentence.
pub(in super::super) fn of_sure_error(text: &str) -> Vec<String> {
    explain::sure_error_pages(text, &of)
}
