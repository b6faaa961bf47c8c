//! The changes since a month: features of the providers' APIs, rules, profiles and facts about models.

use super::super::error::CliError;
use brickbat_rules::{Feature, ModelFact, Profile, Rule};

/// A month, as `YYYY-MM`.
#[derive(Debug, Clone)]
pub(super) struct Month(String);

/// The error for a text that is not a month.
#[derive(Debug, thiserror::Error)]
#[error("a month is written YYYY-MM, such as 2026-09")]
pub(super) struct NotAMonth;

impl std::str::FromStr for Month {
    type Err = NotAMonth;

    fn from_str(text: &str) -> Result<Month, NotAMonth> {
        let is_digits = |part: &str, n| part.len() == n && part.bytes().all(|byte| byte.is_ascii_digit());
        let (year, month) = text.split_once('-').unwrap_or((text, ""));
        let is_month = matches!(month.parse(), Ok(1..=12)) && is_digits(month, 2);
        if is_digits(year, 4) && is_month {
            return Ok(Month(text.to_owned()));
        }
        Err(NotAMonth)
    }
}

/// The page of the changes in this month and after it, the newest first in each list.
pub(super) fn page(month: &Month) -> Result<String, CliError> {
    let Month(month) = month;
    let lists = [
        ("Features of providers, with the day of the SDK's release", features(month)),
        ("Rules, with the month in which a provider was first seen to enforce them", rules(month)),
        ("Profiles of providers", profiles(month)),
        ("Facts about models, with the month of the newest evidence", facts(month)),
    ];
    if lists.iter().all(|(_, lines)| lines.is_empty()) {
        let newest = features("").into_iter().next().unwrap_or_default();
        return Err(CliError::input(format!("nothing is known since {month}\nhint: the newest: {newest}")));
    }
    let mut text = format!("Since {month}\n");
    for (title, lines) in lists.iter().filter(|(_, lines)| !lines.is_empty()) {
        text.push_str(&format!("\n{title}:\n"));
        lines.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    text.push_str("\n`brickbat explain RULE` has the page of a rule.\n");
    Ok(text)
}

fn features(month: &str) -> Vec<String> {
    let lines = Feature::all().iter().filter(|feature| feature.since >= month).map(|feature| {
        let Feature { since, provider, name, what, .. } = feature;
        format!("{since}  {provider}: {name} ({}). {what}", feature.state().name())
    });
    newest_first(lines)
}

fn rules(month: &str) -> Vec<String> {
    let newer = Rule::all().filter(|rule| rule.since >= month);
    newest_first(newer.map(|rule| format!("{}  {}  {}", rule.since, rule.id, rule.summary)))
}

fn profiles(month: &str) -> Vec<String> {
    let dated = Profile::all().filter_map(|profile| Some((profile.name.split_once('@')?.1, profile)));
    let newer = dated.filter(|(since, _)| *since >= month);
    newest_first(newer.map(|(since, profile)| format!("{since}  {}  {}", profile.name, profile.provider)))
}

fn facts(month: &str) -> Vec<String> {
    let newer = ModelFact::all().iter().filter(|fact| fact.seen >= month);
    newest_first(newer.map(|fact| {
        let verb = if fact.has { "accept" } else { "refuse" };
        format!("{}  {}: {} {verb} {}", fact.seen, fact.profile, fact.models.join(", "), fact.ability.name())
    }))
}

fn newest_first(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = lines.collect();
    lines.sort_by(|a, b| b[..DATE].cmp(&a[..DATE]).then_with(|| a.cmp(b)));
    lines
}

/// The bytes of a line that hold its month.
const DATE: usize = "2026-09".len();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_has_two_digits_and_exists() {
        assert!("2026-09".parse::<Month>().is_ok());
        for wrong in ["2026", "2026-9", "2026-13", "2026-00", "26-09", "2026-09-01", "", "x"] {
            assert!(wrong.parse::<Month>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_what_is_newer_is_listed_and_the_newest_comes_first() {
        let page = page(&Month("2026-10".to_owned())).unwrap();
        assert!(page.contains("2026-10-21  Anthropic: API version 2026-10-21 (rule)."), "{page}");
        assert!(page.contains("2026-10  anthropic-messages/sampling-parameter"), "{page}");
        assert!(!page.contains("2026-09-03"), "{page}");
        let older = features("2026-01");
        assert!(older.is_sorted_by(|a, b| a[..DATE] >= b[..DATE]), "{older:?}");
    }

    #[test]
    fn a_month_without_news_names_the_newest() {
        let Err(CliError::Input(cause)) = page(&Month("9999-12".to_owned())) else { panic!("a page") };
        assert!(cause.to_string().contains("hint: the newest: 2026-10-21  Anthropic"), "{cause}");
    }
}
