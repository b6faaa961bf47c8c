//! Rules as they are named on the command line.

use brickbat_rules::Rule;
use brickbat_rules::streams::StreamRule;
use brickbat_scenario::parse::did_you_mean;

/// The rules of one name: of an id or an alias one, of a name without its dialect perhaps one for each dialect.
#[derive(Debug, Clone)]
pub(super) struct Named(pub(super) Vec<&'static Rule>);

/// Finds rules by id, alias or name.
pub(super) fn named(word: &str) -> Result<Named, String> {
    let found = Rule::named(word);
    if !found.is_empty() {
        return Ok(Named(found));
    }
    if !StreamRule::named(word).is_empty() {
        return Err(format!(
            "`{word}` is a rule of recorded streams\nhint: a rule of request bodies is meant here"
        ));
    }
    Err(unknown(word, Rule::all().flat_map(names)))
}

/// Finds rules, and rules of streams, by id, alias or name.
pub(super) fn any_named(word: &str) -> Result<(Vec<&'static Rule>, Vec<&'static StreamRule>), String> {
    match (Rule::named(word), StreamRule::named(word)) {
        (rules, of_streams) if rules.is_empty() && of_streams.is_empty() => {
            let of_streams = StreamRule::all().flat_map(|rule| [rule.id, rule.short_name()]);
            Err(unknown(word, Rule::all().flat_map(names).chain(of_streams)))
        }
        found => Ok(found),
    }
}

/// All rules that are named in a list of options.
pub(super) fn all(named: &[Named]) -> Vec<&'static Rule> {
    named.iter().flat_map(|named| named.0.iter().copied()).collect()
}

fn names(rule: &'static Rule) -> [&'static str; 3] {
    [rule.id, rule.alias, rule.short_name()]
}

fn unknown(word: &str, known: impl Iterator<Item = &'static str>) -> String {
    let known: Vec<&str> = known.collect();
    let hint =
        did_you_mean(word, &known).unwrap_or_else(|| "`brickbat explain --all` lists them all".to_owned());
    format!("there is no rule `{word}`\nhint: {hint}")
}
