//! The source of random choices.

use arbitrary::Unstructured;

/// A source of choices: a seed, or a fuzzer's bytes. The first of several options is always the simplest. A
/// source that has no bytes left chooses the first.
#[derive(Debug)]
pub struct Source<'a> {
    from: From<'a>,
}

#[derive(Debug)]
enum From<'a> {
    Seed(u64),
    Bytes(Unstructured<'a>),
}

impl<'a> Source<'a> {
    /// One scenario in this many is made invalid on purpose.
    pub const SPOILED: usize = 24;

    /// Unlimited choices for a seed.
    pub fn seeded(seed: u64) -> Source<'static> {
        Source { from: From::Seed(seed) }
    }

    /// Choices made by bytes, about one byte each.
    pub fn of_bytes(bytes: &'a [u8]) -> Source<'a> {
        Source { from: From::Bytes(Unstructured::new(bytes)) }
    }

    /// A number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        let Some(last) = n.checked_sub(1) else { return 0 };
        match &mut self.from {
            From::Seed(state) => (next(state) % n as u64) as usize,
            From::Bytes(bytes) => bytes.int_in_range(0..=last).unwrap_or(0),
        }
    }

    /// True once in `n` times; always false if no choices are left.
    pub fn one_in(&mut self, n: usize) -> bool {
        n > 0 && self.below(n) == n - 1
    }

    /// One of several options.
    pub fn pick<'t, T>(&mut self, of: &'t [T]) -> Option<&'t T> {
        of.get(self.below(of.len()))
    }

    /// One of several options with weights.
    pub fn weigh<'t, T>(&mut self, of: &'t [(usize, T)]) -> Option<&'t T> {
        let mut at = self.below(of.iter().map(|(weight, _)| weight).sum());
        let chosen = of.iter().find(|(weight, _)| match at.checked_sub(*weight) {
            Some(left) => {
                at = left;
                false
            }
            None => true,
        });
        chosen.map(|(_, thing)| thing)
    }
}

/// SplitMix64: <https://prng.di.unimi.it/splitmix64.c>. It must never change, because generated scenarios are
/// identified by their seed.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_makes_the_same_choices() {
        let mut source = Source::seeded(0);
        assert_eq!([(); 8].map(|()| source.below(10)), [5, 0, 9, 4, 7, 0, 3, 0]);
    }

    #[test]
    fn without_bytes_every_choice_is_the_first() {
        let mut source = Source::of_bytes(&[7]);
        assert_eq!(source.below(5), 2);
        assert_eq!((source.below(5), source.one_in(2), source.below(0)), (0, false, 0));
        assert_eq!(source.pick(&["a", "b"]), Some(&"a"));
    }

    #[test]
    fn an_option_without_weight_is_never_chosen() {
        let mut source = Source::seeded(1);
        for _ in 0..100 {
            assert_ne!(source.weigh(&[(1, "a"), (0, "b"), (3, "c")]), Some(&"b"));
        }
    }
}
