//! Call events that arrive out of order.

use crate::generate::Source;
use brickbat_engine::events::{breaches, consume, shuffled};

/// The finding against a correct call store when events arrive in an order that a source chooses. Any finding
/// means that a check is wrong.
pub fn events(source: &mut Source<'_>) -> Option<String> {
    let drawn = shuffled(&mut |n| source.below(n));
    let found = breaches(&drawn, &consume(&drawn, None));
    let words: Vec<String> = found.iter().map(ToString::to_string).collect();
    (!words.is_empty()).then(|| format!("{}\n{drawn:#?}", words.join("; ")))
}
