//! Calls that are told of out of order.

use crate::generate::Source;
use brickbat_engine::life_cycle::{breaches, shuffled, told};

/// What a right store of calls is accused of when events come in an order that a source chooses: nothing, or a checker is
/// wrong.
pub fn life_cycle(source: &mut Source<'_>) -> Option<String> {
    let events = shuffled(&mut |n| source.below(n));
    let found = breaches(&events, &told(&events, None));
    let words: Vec<String> = found.iter().map(ToString::to_string).collect();
    (!words.is_empty()).then(|| format!("{}\n{events:#?}", words.join("; ")))
}
