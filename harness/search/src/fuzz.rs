//! A fuzz campaign: generated scenarios, one after the other, guided by what the ones before have brought about.
//!
//! A test case is a fresh scenario, or a mutant of one that made the system behave as it had not before. Nothing is run
//! here: whoever runs a case reports its [`features`](novelty::features). The same seed and the same features give the same
//! cases.

pub mod novelty;

use std::collections::BTreeSet;

use crate::generate::{self, Source, mutate};
use brickbat_engine::triage::{Signature, kinds};
use brickbat_scenario::scenario::Scenario;

/// The state of a campaign.
#[derive(Debug)]
pub struct Campaign {
    source: Source<'static>,
    guidance: Guidance,
    /// Cases that reached something new, the newest last.
    pool: Vec<Scenario>,
    seen: BTreeSet<u16>,
    causes: Vec<(Signature, BTreeSet<String>)>,
    n_drawn: u64,
}

/// Whether what was reached decides what is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guidance {
    /// Cases that reached something new are changed and tried again.
    Novelty,
    /// Every case is a fresh one: the yardstick.
    None,
}

/// Scenarios that are kept for changes; with more, the oldest goes.
const MAX_POOL: usize = 512;

/// One case in so many is a fresh scenario, once there are others to change.
const FRESH: usize = 3;

/// Changes that are made to a scenario at once, at the most.
const MAX_CHANGES: usize = 3;

/// Draws in a row that cannot be played, after which there is nothing more to try.
const MAX_MISSES: usize = 10_000;

impl Campaign {
    /// A campaign that follows from a seed.
    pub fn new(seed: u64, guidance: Guidance) -> Campaign {
        Campaign {
            source: Source::seeded(seed),
            guidance,
            pool: Vec::new(),
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
            let scenario = self.draw();
            self.n_drawn += 1;
            if plays(&scenario) {
                misses = 0;
                cases.push(scenario);
            } else {
                misses += 1;
            }
        }
        cases
    }

    fn draw(&mut self) -> Scenario {
        let is_fresh = self.guidance == Guidance::None || self.pool.is_empty() || self.source.one_in(FRESH);
        if is_fresh {
            return generate::draw(&mut self.source);
        }
        // What was new last is the most promising: half of the choices fall on the newer half.
        let from = if self.source.one_in(2) { self.pool.len() / 2 } else { 0 };
        let at = from + self.source.below(self.pool.len() - from);
        let mut scenario = self.pool[at].clone();
        if self.source.one_in(4) {
            let other = self.source.below(self.pool.len());
            scenario = generate::cross(&scenario, &self.pool[other], &mut self.source);
        }
        for _ in 0..=self.source.below(MAX_CHANGES) {
            scenario = mutate::mutate(&scenario, &mut self.source);
        }
        scenario
    }

    /// Takes the features of a case that was run; returns how many are new.
    pub fn report(&mut self, case: &Scenario, features: &BTreeSet<u16>) -> usize {
        let before = self.seen.len();
        self.seen.extend(features);
        let n_new = self.seen.len() - before;
        if n_new > 0 {
            if self.pool.len() == MAX_POOL {
                self.pool.remove(0);
            }
            self.pool.push(case.clone());
        }
        n_new
    }

    /// Features that were seen so far.
    pub fn n_features(&self) -> usize {
        self.seen.len()
    }

    /// Scenarios that were drawn so far, also those that cannot be played.
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

    fn features(of: &Scenario) -> BTreeSet<u16> {
        BTreeSet::from([serde_json::to_string(of).map_or(0, |text| text.len() as u16 % 64)])
    }

    fn cases(seed: u64, guidance: Guidance) -> Vec<Scenario> {
        let mut campaign = Campaign::new(seed, guidance);
        let mut all = Vec::new();
        for _ in 0..10 {
            let some = campaign.cases(8, |scenario| !scenario.turns.is_empty());
            some.iter().for_each(|case| {
                campaign.report(case, &features(case));
            });
            all.extend(some);
        }
        all
    }

    #[test]
    fn a_seed_says_what_is_tried() {
        let once = cases(7, Guidance::Novelty);
        assert_eq!(once.len(), 80);
        assert_eq!(once, cases(7, Guidance::Novelty));
        assert_ne!(once, cases(8, Guidance::Novelty));
        assert_ne!(once, cases(7, Guidance::None));
    }

    #[test]
    fn what_brings_nothing_new_is_not_kept() {
        let mut campaign = Campaign::new(1, Guidance::Novelty);
        let case = generate::scenario(1);
        assert_eq!(campaign.report(&case, &BTreeSet::from([1, 2])), 2);
        assert_eq!(campaign.report(&case, &BTreeSet::from([2])), 0);
        assert_eq!((campaign.pool.len(), campaign.n_features()), (1, 2));
    }

    #[test]
    fn where_nothing_can_be_played_it_ends() {
        assert!(Campaign::new(1, Guidance::None).cases(3, |_| false).is_empty());
    }
}
