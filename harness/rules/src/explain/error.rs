//! The pages about an error message that a user pasted.

use super::near::{Answer, Near, Vocabulary};
use super::reported::{Reported, Reports, Subject};
use super::said::Wordings;
use super::{about, clients, exceptions, kinds, located, neighbours, pydantic, status};
use crate::Rule;

/// The pages about some rules, with examples where the caller has them.
type OfRules<'a> = &'a dyn Fn(&[&'static Rule]) -> Vec<String>;

/// The beginning of the AI SDK's error for a reply that does not have the required form.
const OF_REPLY: &str = "no object generated";

/// Returns the pages about an error message: first those about complete sentences, then the nearest sentences. Empty if
/// nothing is known about it.
pub fn error_pages(text: &str, of_rules: OfRules<'_>) -> Vec<String> {
    let (mut pages, near) = known(text, of_rules);
    if pages.is_empty() {
        pages.extend(status::page(text, true).or_else(|| neighbours::of_status(text).map(neighbours::page)));
    }
    let words = without_empty_fields(text);
    let of_near: Vec<&'static Rule> = near.iter().flat_map(|near| near.rules.iter().copied()).collect();
    if pages.is_empty() && !of_near.is_empty() && kinds::is_of_other_dialect(&words, &of_near) {
        pages.extend(kinds::page(&words));
    }
    if pages.is_empty() && !near.is_empty() && text.split_whitespace().count() > 1 {
        pages.push(nearest(&near, of_rules));
    }
    if pages.is_empty() {
        pages.extend(
            kinds::page(&words).or_else(|| status::page(text, false)).or_else(|| exceptions::page(text)),
        );
    }
    if pages.is_empty() {
        pages.extend(Some(about(&words)).filter(|about| !about.is_empty()).map(|about| on_subject(&about)));
    }
    pages
}

/// A text without the empty fields of an error's envelope, such as `"param": null`. They say nothing about the fault.
fn without_empty_fields(text: &str) -> String {
    const EMPTY: [&str; 4] = ["null", "None", "[]", "{}"];
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'']) {
        let (before, field) = rest.split_at(at);
        kept.push_str(before);
        let quote = &field[..1];
        let end = field[1..].find(quote).map(|end| end + 2);
        let value =
            end.and_then(|end| Some((end, field[end..].trim_start().strip_prefix(':')?.trim_start())));
        let empty = value.and_then(|(_, value)| {
            EMPTY.iter().find(|empty| value.starts_with(**empty)).map(|it| &value[it.len()..])
        });
        rest = match empty {
            Some(after) => after,
            None => {
                let end = end.unwrap_or(field.len());
                kept.push_str(&field[..end]);
                &field[end..]
            }
        };
    }
    kept.push_str(rest);
    kept
}

/// Returns the pages about an error message with a complete known sentence. Empty if there is none.
pub fn sure_error_pages(text: &str, of_rules: OfRules<'_>) -> Vec<String> {
    known(text, of_rules).0
}

/// Returns the rules with a complete sentence in a text, or about the same fault as one. `None` if the text quotes no
/// refusal of a history.
pub fn refusal_in(text: &str) -> Option<Vec<&'static Rule>> {
    match Vocabulary::of_all_sentences().answer(&Wordings::all(), text) {
        Answer::Said(rules) => Some(rules),
        Answer::Reported(found) => {
            let of_history: Vec<&Reported> =
                found.iter().filter(|own| own.about == Subject::History).collect();
            (!of_history.is_empty()).then(|| of_history.into_iter().filter_map(Reported::rule).collect())
        }
        Answer::Near(_) => None,
    }
}

/// Returns the rules with a sentence in a text, whole or in part, the nearest first.
pub fn rules_near(text: &str) -> Vec<&'static Rule> {
    match Vocabulary::of_all_sentences().answer(&Wordings::all(), text) {
        Answer::Said(rules) => rules,
        Answer::Reported(found) => found.iter().filter_map(Reported::rule).collect(),
        Answer::Near(near) => near.into_iter().flat_map(|near| near.rules).collect(),
    }
}

/// The pages about an error message with a known sentence, and otherwise the nearest sentences.
fn known(text: &str, of_rules: OfRules<'_>) -> (Vec<String>, Vec<Near>) {
    let kinds: Vec<String> = neighbours::in_text(text).map(neighbours::page).collect();
    // The AI SDK's check of types is quoted for replies too.
    let is_of_reply = text.to_lowercase().contains(OF_REPLY);
    let answer = Vocabulary::of_all_sentences().answer(&Wordings::all(), text);
    // It is the cause of errors that say more.
    let is_cause =
        matches!(&answer, Answer::Reported(found) if found.iter().any(|own| own.about == Subject::Client));
    let has_types = !is_of_reply && !is_cause;
    let clients = clients::in_text(text).filter(|error| has_types || error.name != clients::TYPES);
    let mut pages: Vec<String> = clients.map(clients::page).collect();
    let has_cause = |found: &[Reported]| found.iter().any(|own| own.about != Subject::Frame);
    // A sentence about the same parameter says more than its kind.
    let is_reported = matches!(&answer, Answer::Reported(found) if has_cause(found));
    if let Some(refusal) = pydantic::extra_field(text).filter(|_| !is_reported) {
        pages.push(refusal.page());
        return (pages, Vec::new());
    }
    if !is_reported && (neighbours::names_parameter(text) || pages.is_empty() && is_of_reply) {
        pages.extend(kinds);
        if let Answer::Said(said) = answer {
            pages.extend(of_rules(&said));
        }
        return (pages, Vec::new());
    }
    if !is_reported && let Some(refusal) = pydantic::refusal(text) {
        pages.push(refusal.page());
        return (pages, Vec::new());
    }
    match answer {
        Answer::Said(said) => {
            let further = further_in(text, &said, of_rules);
            if said.len() > MAX_PAGES {
                pages.extend(of_rules(&said[..1]));
                pages.push(with_same_words(&said[1..]));
            } else {
                pages.extend(of_rules(&said));
            }
            pages.extend(further);
            pages.extend(Some(located::places(text)).filter(|line| !line.is_empty()));
        }
        Answer::Reported(found) => {
            // The frame of a gateway says less than the kind of error inside it.
            let kinds = match has_cause(&found) {
                true => Vec::new(),
                false if kinds.is_empty() => {
                    neighbours::of_status(text).map(neighbours::page).into_iter().collect()
                }
                false => kinds,
            };
            match kinds.is_empty() {
                true => pages.extend(found.iter().map(Reported::page)),
                false => pages.extend(kinds),
            }
            // A frame names no cause, and the words around it may.
            if !has_cause(&found) && found.iter().all(|own| own.rule.is_none()) {
                pages.extend(kinds::page(&without_empty_fields(text)));
            }
        }
        Answer::Near(near) => {
            pages.extend(kinds);
            let found = located::located(text);
            if pages.is_empty() && !found.is_empty() {
                pages.push(located::page(&found));
            }
            return (pages, near);
        }
    }
    (pages, Vec::new())
}

/// The minimum number of letters of a further sentence, and the maximum number of lines that are read for one.
const MIN_FURTHER: usize = 28;
const MAX_LINES: usize = 60;

/// The page about a sentence in another line of a text than the best one. Issues quote errors that alternate.
fn further_in(text: &str, said: &[&'static Rule], of_rules: OfRules<'_>) -> Option<String> {
    let wordings = Wordings::all();
    let reports = Reports::all();
    let mut lines = text.lines().filter(|line| line.len() >= MIN_FURTHER).take(MAX_LINES);
    lines.find_map(|line| {
        let matches = wordings.matches(line);
        let is_said = |rule: &Rule| said.iter().any(|own| own.short_name() == rule.short_name());
        if matches.iter().any(|(_, rule)| is_said(rule)) {
            return None;
        }
        match (matches.first(), reports.in_text(line).first()) {
            (Some((n_letters, rule)), _) if *n_letters >= MIN_FURTHER => of_rules(&[rule]).into_iter().next(),
            (None, Some((n_letters, own))) if *n_letters >= MIN_FURTHER && own.about == Subject::History => {
                Some(own.page())
            }
            _ => None,
        }
    })
}

/// The maximum number of rules with one sentence that all have their page.
const MAX_PAGES: usize = 2;

/// The list of further rules: a provider reports their violations in the same words.
fn with_same_words(rules: &[&'static Rule]) -> String {
    let mut text = "The same words are also said if one of these rules is broken:\n".to_owned();
    for rule in rules {
        text.push_str(&format!("\n{}  {}\n  {}\n", rule.id, rule.summary, rule.why));
    }
    text.push_str("\n`brickbat check FILE` tells which one a request breaks; `brickbat explain RULE` has the page of a rule.\n");
    text
}

/// Returns the pages about the errors of SDKs in a text.
pub fn client_pages(text: &str) -> Vec<String> {
    clients::in_text(text).map(clients::page).collect()
}

/// The sentences that are nearest to a text that has no complete one. A single one has its page.
fn nearest(near: &[Near], of_rules: OfRules<'_>) -> String {
    let mut text = "No provider's complete sentence is in this text. The nearest:\n".to_owned();
    if let [Near { rules, reported, .. }] = near {
        let pages = match reported {
            Some(own) => vec![own.page()],
            None => of_rules(rules),
        };
        return format!("{text}\n{}", pages.join("\n"));
    }
    for (n, Near { sentence, rules, providers, reported }) in near.iter().enumerate() {
        let providers = match providers[..] {
            [] => "an earlier version of the API".to_owned(),
            _ => providers.join(", "),
        };
        text.push_str(&format!("\n{}. {sentence}\n   said by {providers}\n", n + 1));
        match reported {
            Some(Reported { means, advice, .. }) => text.push_str(&format!("   {means} {advice}\n")),
            None => {
                for rule in rules {
                    text.push_str(&format!("   {}  {}\n   {}\n", rule.id, rule.summary, rule.why));
                }
            }
        }
    }
    text.push_str("\n`brickbat explain RULE` has the page of a rule.\n");
    text
}

/// The list of the rules that have words of a text, if it has no provider's sentence at all.
fn on_subject(rules: &[&'static Rule]) -> String {
    let mut text =
        "No provider's sentence is in this text. Rules with the most words in common with it:\n\n".to_owned();
    for rule in rules {
        text.push_str(&format!("{}  {}\n", rule.id, rule.summary));
    }
    text.push_str("\n`brickbat explain RULE` has the page of a rule, and `brickbat check FILE` judges the request itself.\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_fields_of_an_envelope_are_not_words_about_the_fault() {
        for (text, kept) in [
            (
                r#"{"message":"It's gone","param":null, "code": 500}"#,
                r#"{"message":"It's gone",, "code": 500}"#,
            ),
            ("{'errors': [], 'a': 'b'}", "{, 'a': 'b'}"),
            (r#"{"success":false,"messages":[]}"#, r#"{"success":false,}"#),
            ("a message without \"content", "a message without \"content"),
            ("", ""),
        ] {
            assert_eq!(without_empty_fields(text), kept, "{text}");
        }
    }
}
