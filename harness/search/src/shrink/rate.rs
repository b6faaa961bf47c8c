//! How often a cause occurs, and how many runs of a candidate are needed to reproduce it.

use brickbat_scenario::scenario::Frequency;

/// The number of runs that showed a cause, out of the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub seen: u32,
    pub of: u32,
}

/// The maximum probability of missing a candidate that triggers the cause as often as the original scenario.
const MISSED: f64 = 0.05;

/// The maximum number of runs per candidate.
const MAX_TRIES: u32 = 10;

impl Rate {
    pub fn of(shows: &[bool]) -> Rate {
        Rate { seen: shows.iter().filter(|shows| **shows).count() as u32, of: shows.len() as u32 }
    }

    pub fn is_steady(&self) -> bool {
        self.seen == self.of
    }

    /// The number of runs per candidate: at least one of them must trigger the cause.
    pub fn tries(&self) -> u32 {
        if self.is_steady() || self.seen == 0 {
            return 1;
        }
        let missed_once = f64::from(self.of - self.seen) / f64::from(self.of);
        let mut missed = missed_once;
        let mut tries = 1;
        while missed > MISSED && tries < MAX_TRIES {
            missed *= missed_once;
            tries += 1;
        }
        tries
    }

    /// The frequency to write into a scenario; `None` if every run triggers the cause.
    pub fn label(&self) -> Option<Frequency> {
        (!self.is_steady()).then_some(Frequency { runs: self.seen, of: self.of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_failure_is_tried_often_within_bounds() {
        let tries = |seen, of| Rate { seen, of }.tries();
        assert_eq!([tries(5, 5), tries(4, 5), tries(1, 2), tries(1, 5), tries(0, 5)], [1, 2, 5, 10, 1]);
    }

    #[test]
    fn only_flaky_failures_are_labelled() {
        assert_eq!(Rate::of(&[true, true]).label(), None);
        assert_eq!(Rate::of(&[true, false]).label(), Some(Frequency { runs: 1, of: 2 }));
    }
}
