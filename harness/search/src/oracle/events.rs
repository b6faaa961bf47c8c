//! Events of calls that come out of order.

use crate::generate::Source;
use brickbat_engine::events::{breaches, consume, shuffled};

/// What a right store of calls is accused of when events come in an order that a source chooses: nothing, or a checker is
/// wrong.
pub fn events(source: &mut Source<'_>) -> Option<String> {
    let drawn = shuffled(&mut |n| source.below(n));
    let found = breaches(&drawn, &consume(&drawn, None));
    let words: Vec<String> = found.iter().map(ToString::to_string).collect();
    (!words.is_empty()).then(|| format!("{}\n{drawn:#?}", words.join("; ")))
}
