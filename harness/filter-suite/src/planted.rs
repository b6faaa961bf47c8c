//! Filters of our own: those that are right, and those with one planted bug each.
//!
//! A check is proven by a planted bug that it catches and no other check does, and by the sound filters, which no check
//! accuses.

mod between;
mod edits;
mod faulty;
mod sound;
mod stateful;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::checks::Finding;
use crate::{Broken, Filter, Input, Mode, Route, judge};

pub use between::BETWEEN;
pub use faulty::FAULTY;
pub use sound::{repair_mode, repaired};

/// A filter of our own.
#[derive(Debug)]
pub struct Own {
    /// Its name, by which the command line knows it.
    pub name: &'static str,
    /// The ways in which it is used. Only the first is judged where another leads back from it.
    pub modes: fn() -> Vec<Mode>,
    /// The filter itself.
    pub filter: fn() -> Box<dyn Filter>,
}

/// A filter with a planted bug.
#[derive(Debug)]
pub struct Planted {
    /// The filter.
    pub own: Own,
    /// The check that catches it, and no other.
    pub check: &'static str,
    /// The failure class of which it is an example, if it is one.
    pub class: Option<&'static str>,
}

/// The filters that are right.
pub const SOUND: [&Own; 5] =
    [&sound::REPAIR, &sound::IDENTITY, &sound::WHOLE_TURNS, &sound::SUMMARY, &sound::CAREFUL];

/// The filters that people use: our repair, and the one that changes nothing, by which a newcomer sees what a right one
/// looks like.
pub fn own() -> Vec<&'static Own> {
    vec![&sound::REPAIR, &sound::IDENTITY]
}

/// All planted bugs.
pub fn planted() -> impl Iterator<Item = &'static Planted> {
    FAULTY.iter().chain(&BETWEEN)
}

/// The filter of that name; one with a planted bug is called `planted/NAME`.
pub fn named(name: &str) -> Option<&'static Own> {
    let sound = SOUND.into_iter().find(|own| own.name == name);
    let bug = name.strip_prefix("planted/");
    sound.or_else(|| planted().map(|planted| &planted.own).find(|own| Some(own.name) == bug))
}

/// The checks that catch a planted bug on what its first mode is given, each with what it says first.
///
/// # Errors
///
/// The filter cannot be asked any more.
pub fn caught_by(
    own: &Own,
    vectors: impl Fn(&Route<'_>) -> Vec<Input>,
    n: u64,
) -> Result<BTreeMap<&'static str, Finding>, Broken> {
    let modes = (own.modes)();
    let mut filter = (own.filter)();
    let mut caught = BTreeMap::new();
    for route in modes.first().map(Mode::routes).unwrap_or_default() {
        let inputs: Vec<Input> = Input::for_route(&route, &vectors(&route), SEED, n).collect();
        for judged in judge(filter.as_mut(), &route, back(&modes, &route).as_ref(), &inputs)? {
            for finding in judged.outcome.findings() {
                caught.entry(finding.check).or_insert_with(|| finding.clone());
            }
        }
    }
    Ok(caught)
}

/// The seed of what planted bugs are given.
const SEED: u64 = 5;

/// The route that leads back, among all modes of a filter.
pub fn back<'m>(all: &'m [Mode], route: &Route<'_>) -> Option<Route<'m>> {
    let name = route.mode.back.as_ref()?;
    let back = all.iter().find(|other| other.name == *name)?;
    back.routes().into_iter().find(|back| back.from == route.to && back.to == route.from)
}
