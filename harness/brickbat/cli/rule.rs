//! Rules on the command line.

use super::error::UnknownName;
use brickbat_rules::Rule;
use brickbat_rules::streams::StreamRule;
use brickbat_scenario::parse::did_you_mean;

/// The rules that a word refers to: one rule for an id or an alias, one rule per dialect for a name without
/// its dialect.
#[derive(Debug, Clone)]
pub(super) struct RuleArgs(pub(super) Vec<&'static Rule>);

/// Finds rules by id, alias or name.
pub(super) fn named(word: &str) -> Result<RuleArgs, UnknownName> {
    let found = Rule::named(word);
    if !found.is_empty() {
        return Ok(RuleArgs(found));
    }
    if !StreamRule::named(word).is_empty() {
        let words = "is a rule for recorded streams\nhint: this option takes rules for request bodies";
        return Err(UnknownName(format!("`{word}` {words}")));
    }
    Err(unknown(word, Rule::all().flat_map(names)))
}

/// All rules in an option list.
pub(super) fn all(named: &[RuleArgs]) -> Vec<&'static Rule> {
    named.iter().flat_map(|named| named.0.iter().copied()).collect()
}

fn names(rule: &'static Rule) -> [&'static str; 3] {
    [rule.id, rule.alias, rule.short_name()]
}

fn unknown(word: &str, known: impl Iterator<Item = &'static str>) -> UnknownName {
    let known: Vec<&str> = known.collect();
    let hint =
        did_you_mean(word, &known).unwrap_or_else(|| "`brickbat explain --all` lists them all".to_owned());
    UnknownName(format!("there is no rule `{word}`\nhint: {hint}"))
}
