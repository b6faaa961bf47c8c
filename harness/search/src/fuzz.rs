//! A fuzz campaign: generated scenarios, one after the other, guided by what was tried before.
//!
//! It draws several scenarios and runs the one with the least-tried pairs of elements. The system's behaviour
//! is recorded as [`features`](novelty::features) and counted. It does not influence what is tried next:
//! mutating scenarios that had revealed something new was no better than chance. Nothing is run here. The
//! same seed gives the same cases.

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

/// How the next case is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guidance {
    /// The case with the rarest combination among several drawn ones.
    Rarity,
    /// The next case that is drawn, for comparison.
    None,
}

/// The number of scenarios from which one is chosen. Planted bugs are found equally fast with four and with
/// 32.
const N_CANDIDATES: usize = 8;

/// The number of successive unplayable scenarios after which the campaign ends, because nothing more can be
/// tried.
const MAX_MISSES: usize = 10_000;

impl Campaign {
    /// A campaign for a seed.
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

    /// The next scenarios to run, among those that `plays` accepts. There are fewer than `n` only if nothing
    /// can be run.
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

    /// Draws the next scenario. Its pairs count as tried even if it cannot be run, because otherwise it would
    /// be chosen again.
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

    /// Records the features of a case that was run, and returns how many are new.
    pub fn report(&mut self, features: &BTreeSet<u16>) -> usize {
        let before = self.seen.len();
        self.seen.extend(features);
        self.seen.len() - before
    }

    /// The number of features seen so far.
    pub fn n_features(&self) -> usize {
        self.seen.len()
    }

    /// The number of scenarios chosen so far, including those that cannot be run.
    pub fn n_drawn(&self) -> u64 {
        self.n_drawn
    }

    /// True if a finding of a scenario is a new cause.
    pub fn is_new(&self, signature: &Signature, scenario: &Scenario) -> bool {
        let kinds = kinds(scenario);
        !self.causes.iter().any(|(known, less)| known == signature && less.is_subset(&kinds))
    }

    /// Records a cause with the smallest scenario that triggers it. Returns true if the cause is new.
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
    fn a_seed_determines_the_cases() {
        let once = cases(7, Guidance::Rarity);
        assert_eq!(once.len(), 80);
        assert_eq!(once, cases(7, Guidance::Rarity));
        assert_ne!(once, cases(8, Guidance::Rarity));
        assert_ne!(once, cases(7, Guidance::None));
    }

    #[test]
    fn rare_things_are_tried_sooner_than_by_chance() {
        let n_kinds = |guidance| {
            let cases = cases(3, guidance);
            cases.iter().flat_map(pairs::pairs).collect::<BTreeSet<u16>>().len()
        };
        assert!(4 * n_kinds(Guidance::Rarity) > 5 * n_kinds(Guidance::None));
    }

    #[test]
    fn a_feature_is_new_only_once() {
        let mut campaign = Campaign::new(1, Guidance::Rarity);
        assert_eq!(campaign.report(&BTreeSet::from([1, 2])), 2);
        assert_eq!(campaign.report(&BTreeSet::from([2])), 0);
        assert_eq!(campaign.n_features(), 2);
    }

    #[test]
    fn a_campaign_ends_if_nothing_can_be_played() {
        assert!(Campaign::new(1, Guidance::None).cases(3, |_| false).is_empty());
    }
}
