//! The source of choices: a seed, or the bytes of a fuzzer.

use arbitrary::Unstructured;

/// A source of choices. An exhausted source chooses the first option, which is the plainest.
pub trait Choices {
    /// A number below the bound; 0 if the bound is 0. It is the same on every machine, even with 32-bit
    /// indexes.
    fn number_below(&mut self, bound: u64) -> u64;

    /// Like `below`, for an index.
    fn below(&mut self, bound: usize) -> usize {
        self.number_below(bound as u64) as usize
    }
}

/// Choices from a seed, by the generator SplitMix64 (<https://prng.di.unimi.it/splitmix64.c>): fast, and the same on
/// every machine.
#[derive(Debug, Clone)]
pub struct Seeded {
    state: u64,
}

/// The increment of the SplitMix64 state for each number.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Seeded {
    /// Creates the source for a seed.
    pub fn new(seed: u64) -> Seeded {
        Seeded { state: seed }
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Choices for Seeded {
    fn number_below(&mut self, bound: u64) -> u64 {
        // The upper half of the product is even enough: bounds are small.
        ((u128::from(self.number()) * u128::from(bound)) >> 64) as u64
    }
}

impl Choices for Unstructured<'_> {
    fn number_below(&mut self, bound: u64) -> u64 {
        match bound {
            0 | 1 => 0,
            bound => self.int_in_range(0..=bound - 1).unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_are_those_of_splitmix64() {
        let mut source = Seeded::new(1_234_567);
        assert_eq!(source.number(), 6_457_827_717_110_365_317);
        assert_eq!(source.number(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn a_choice_is_below_its_bound_and_every_one_comes_up() {
        let mut source = Seeded::new(0);
        let mut seen = [0; 7];
        for _ in 0..7000 {
            seen[source.below(7)] += 1;
        }
        assert!(seen.iter().all(|n| (800..1200).contains(n)), "{seen:?}");
        assert_eq!((source.below(0), source.below(1)), (0, 0));
    }

    #[test]
    fn bytes_that_have_run_out_choose_the_first() {
        let mut source = Unstructured::new(&[]);
        assert_eq!((source.below(0), source.below(5), source.below(500)), (0, 0, 0));
    }
}
