//! A fuzz campaign: generated scenarios, one after the other, guided by what was tried before.
//!
//! Of several fresh scenarios the one is run whose pairs of things were tried least. What the system then shows is
//! reported as [`features`](novelty::features) and counted. It does not decide what is tried: changing the scenarios that
//! had shown something new was not ahead of chance. Nothing is run here. The same seed gives the same cases.

pub mod novelty;
mod pairs;

use std::collections::BTreeSet;

use crate::generate::{self, Source};
use brickbat_engine::triage::{Signature, kinds};
use brickbat_scenario::scenario::Scenario;
use pairs::Tried;

/// The state of a campaign.
#[derive(Debug)]
pub struct Campaign {
    source: Source<'static>,
    guidance: Guidance,
    tried: Tried,
    seen: BTreeSet<u16>,
    causes: Vec<(Signature, BTreeSet<String>)>,
    n_drawn: u64,
}

/// How a case is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guidance {
    /// It is the one of several in which the rarest things meet.
    Rarity,
    /// It is the next that is drawn: the yardstick.
    None,
}

/// Scenarios of which one is chosen. With four, and with 32, planted bugs are found as soon.
const N_CANDIDATES: usize = 8;

/// Scenarios in a row that cannot be played, after which there is nothing more to try.
const MAX_MISSES: usize = 10_000;

impl Campaign {
    /// A campaign that follows from a seed.
    pub fn new(seed: u64, guidance: Guidance) -> Campaign {
        Campaign {
            source: Source::seeded(seed),
            guidance,
            tried: Tried::default(),
            seen: BTreeSet::new(),
            causes: Vec::new(),
            n_drawn: 0,
        }
    }

    /// The next scenarios to be run, of those that `plays` accepts; fewer only where nothing can be played.
    pub fn cases(&mut self, n: usize, plays: impl Fn(&Scenario) -> bool) -> Vec<Scenario> {
        let mut cases = Vec::with_capacity(n);
        let mut misses = 0;
        while cases.len() < n && misses < MAX_MISSES {
            let scenario = self.choose();
            if plays(&scenario) {
                misses = 0;
                cases.push(scenario);
            } else {
                misses += 1;
            }
        }
        cases
    }

    /// Draws the next scenario. What it holds counts as tried, also where it cannot be played, or it would be chosen again.
    fn choose(&mut self) -> Scenario {
        self.n_drawn += 1;
        match self.guidance {
            Guidance::None => generate::draw(&mut self.source),
            Guidance::Rarity => {
                let drawn = std::iter::repeat_with(|| generate::draw(&mut self.source)).take(N_CANDIDATES);
                self.tried.rarest(drawn).unwrap_or_else(generate::blank)
            }
        }
    }

    /// Takes the features of a case that was run; returns how many are new.
    pub fn report(&mut self, features: &BTreeSet<u16>) -> usize {
        let before = self.seen.len();
        self.seen.extend(features);
        self.seen.len() - before
    }

    /// Features that were seen so far.
    pub fn n_features(&self) -> usize {
        self.seen.len()
    }

    /// Scenarios that were chosen so far, also those that cannot be played.
    pub fn n_drawn(&self) -> u64 {
        self.n_drawn
    }

    /// Whether a finding of a scenario is a cause that is not known yet.
    pub fn is_new(&self, signature: &Signature, scenario: &Scenario) -> bool {
        let kinds = kinds(scenario);
        !self.causes.iter().any(|(known, less)| known == signature && less.is_subset(&kinds))
    }

    /// Takes a cause, with the smallest scenario that shows it; whether it was not known.
    pub fn found(&mut self, signature: &Signature, smallest: &Scenario) -> bool {
        let is_new = self.is_new(signature, smallest);
        if is_new {
            self.causes.push((signature.clone(), kinds(smallest)));
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(seed: u64, guidance: Guidance) -> Vec<Scenario> {
        let mut campaign = Campaign::new(seed, guidance);
        let batches = (0..10).map(|_| campaign.cases(8, |scenario| !scenario.turns.is_empty()));
        batches.collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_seed_says_what_is_tried() {
        let once = cases(7, Guidance::Rarity);
        assert_eq!(once.len(), 80);
        assert_eq!(once, cases(7, Guidance::Rarity));
        assert_ne!(once, cases(8, Guidance::Rarity));
        assert_ne!(once, cases(7, Guidance::None));
    }

    #[test]
    fn rare_things_are_tried_sooner_than_chance_tries_them() {
        let n_kinds = |guidance| {
            let cases = cases(3, guidance);
            cases.iter().flat_map(pairs::pairs).collect::<BTreeSet<u16>>().len()
        };
        assert!(4 * n_kinds(Guidance::Rarity) > 5 * n_kinds(Guidance::None));
    }

    #[test]
    fn what_was_seen_is_new_once() {
        let mut campaign = Campaign::new(1, Guidance::Rarity);
        assert_eq!(campaign.report(&BTreeSet::from([1, 2])), 2);
        assert_eq!(campaign.report(&BTreeSet::from([2])), 0);
        assert_eq!(campaign.n_features(), 2);
    }

    #[test]
    fn where_nothing_can_be_played_it_ends() {
        assert!(Campaign::new(1, Guidance::None).cases(3, |_| false).is_empty());
    }
}
