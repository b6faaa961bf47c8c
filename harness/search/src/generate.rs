//! Generation: small random scenarios, and mutants of scenarios.
//!
//! A scenario is drawn from a [`Source`] of choices: the bytes of a fuzzer, or a seed. It is bounded, and can
//! nearly always be run. One in [`Source::SPOILED`] is made invalid on purpose, because invalid scenarios
//! must be answered too. [`brickbat_scenario::lower`] decides whether a dialect can run a scenario. Nothing
//! is run here.

mod actions;
pub(crate) mod calls;
mod corpus;
mod cross;
pub mod mutate;
mod normalize;
mod searches;
mod source;
#[cfg(any(test, feature = "proptest"))]
pub mod strategy;
mod tool_changes;
pub(crate) mod turns;

pub use corpus::{decode, encode};
pub use cross::cross;
pub use source::Source;

use brickbat_scenario::scenario::Scenario;
use calls::Names;

pub(crate) const MAX_TURNS: usize = 3;

/// The maximum number of replies in a generated turn; the last one has no calls.
pub(crate) const MAX_REPLIES: usize = 4;

pub(crate) const MAX_BATCH: usize = 4;

pub(crate) const MAX_ACTIONS: usize = 4;

/// The class of a generated scenario.
pub const CLASS: &str = "generated";

/// The scenario for a seed.
pub fn scenario(seed: u64) -> Scenario {
    draw(&mut Source::seeded(seed))
}

/// The scenario for a fuzzer's bytes. When the bytes are used up, every further choice is the simplest one.
pub fn from_bytes(bytes: &[u8]) -> Scenario {
    draw(&mut Source::of_bytes(bytes))
}

/// A scenario drawn from a source of choices.
pub fn draw(source: &mut Source<'_>) -> Scenario {
    let mut scenario = blank();
    let mut names = Names::default();
    let n_turns = 1 + source.below(MAX_TURNS);
    for index in 0..n_turns {
        let turn = turns::draw(source, &mut names, &mut scenario.tools, index);
        scenario.turns.push(turn);
    }
    turns::think(source, &mut scenario);
    normalize::numbered(&mut scenario);
    turns::limit(source, &mut scenario);
    turns::share(source, &mut scenario);
    searches::draw(source, &mut scenario);
    for index in 0..n_turns {
        actions::draw(source, &mut scenario, index);
    }
    turns::put_off(&mut scenario);
    normalize::offered(&mut scenario);
    if source.one_in(Source::SPOILED) {
        mutate::spoil(&mut scenario, source);
    }
    scenario
}

pub(crate) fn blank() -> Scenario {
    Scenario { class: vec![CLASS.to_owned()], ..Scenario::new("Generated, not written by hand.") }
}

/// A scenario that was drawn from a fuzzer's bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Generated(pub Scenario);

impl<'a> arbitrary::Arbitrary<'a> for Generated {
    fn arbitrary(choices: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Generated> {
        let bytes = choices.bytes(choices.len())?;
        Ok(Generated(from_bytes(bytes)))
    }
}
