//! Rules as they are named on the command line.

use crate::parse::did_you_mean;
use crate::rules::Rule;

/// The rules of one name: of an id or an alias one, of a name without its dialect perhaps one for each dialect.
#[derive(Debug, Clone)]
pub(super) struct Named(pub(super) Vec<&'static Rule>);

/// Finds rules by id, alias or name.
pub(super) fn named(word: &str) -> Result<Named, String> {
    let found = Rule::named(word);
    if !found.is_empty() {
        return Ok(Named(found));
    }
    let names = |rule: &'static Rule| [rule.id, rule.alias, rule.short_name()];
    let known: Vec<&str> = Rule::all().flat_map(names).collect();
    let hint =
        did_you_mean(word, &known).unwrap_or_else(|| "`brickbat explain --all` lists them all".to_owned());
    Err(format!("there is no rule `{word}`\nhint: {hint}"))
}

/// All rules that are named in a list of options.
pub(super) fn all(named: &[Named]) -> Vec<&'static Rule> {
    named.iter().flat_map(|named| named.0.iter().copied()).collect()
}
