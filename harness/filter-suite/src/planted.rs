//! Our own filters: correct ones, and ones with one planted bug each.
//!
//! Two things prove a check: it is the only one that catches its planted bug, and it does not accuse the
//! correct filters.

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

/// One of our own filters.
#[derive(Debug)]
pub struct Own {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its modes. If a later mode converts back from the first, only the first is judged.
    pub modes: fn() -> Vec<Mode>,
    /// Creates the filter.
    pub filter: fn() -> Box<dyn Filter>,
}

/// A filter with a planted bug.
#[derive(Debug)]
pub struct Planted {
    /// The filter.
    pub own: Own,
    /// The only check that catches it.
    pub check: &'static str,
    /// The failure class of the bug, if it has one.
    pub class: Option<&'static str>,
}

/// The correct filters.
pub const SOUND: [&Own; 5] =
    [&sound::REPAIR, &sound::IDENTITY, &sound::WHOLE_TURNS, &sound::SUMMARY, &sound::CAREFUL];

/// Returns the filters offered to users: our repair, and a filter that changes nothing, which shows newcomers
/// the report of a correct filter.
pub fn own() -> Vec<&'static Own> {
    vec![&sound::REPAIR, &sound::IDENTITY]
}

/// Returns all planted bugs.
pub fn planted() -> impl Iterator<Item = &'static Planted> {
    FAULTY.iter().chain(&BETWEEN)
}

/// Returns the filter with that name. One with a planted bug is called `planted/NAME`.
pub fn named(name: &str) -> Option<&'static Own> {
    let sound = SOUND.into_iter().find(|own| own.name == name);
    let bug = name.strip_prefix("planted/");
    sound.or_else(|| planted().map(|planted| &planted.own).find(|own| Some(own.name) == bug))
}

/// Returns the checks that catch a planted bug in its first mode, each with its first finding.
///
/// # Errors
///
/// Fails if the filter no longer answers.
pub fn caught_by(
    own: &Own,
    vectors: impl Fn(&Route<'_>) -> Vec<Input>,
    n: u64,
) -> Result<BTreeMap<&'static str, Finding>, Broken> {
    let modes = (own.modes)();
    let mut filter = (own.filter)();
    let mut caught = BTreeMap::new();
    for route in modes.first().map(Mode::routes).unwrap_or_default() {
        let inputs: Vec<Input> = Input::for_route(&route, vectors(&route), SEED, n).collect();
        for judged in judge(filter.as_mut(), &route, back(&modes, &route).as_ref(), &inputs)? {
            for finding in judged.outcome.findings() {
                caught.entry(finding.check).or_insert_with(|| finding.clone());
            }
        }
    }
    Ok(caught)
}

/// The seed for the inputs of planted bugs.
const SEED: u64 = 5;

/// Returns the route that converts back, among all modes of a filter.
pub fn back<'m>(all: &'m [Mode], route: &Route<'_>) -> Option<Route<'m>> {
    let name = route.mode.back.as_ref()?;
    let back = all.iter().find(|other| other.name == *name)?;
    back.routes().into_iter().find(|back| back.from == route.to && back.to == route.from)
}
