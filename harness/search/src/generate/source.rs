//! Where choices come from.

use arbitrary::Unstructured;

/// A source of choices: a seed, or the bytes of a fuzzer. The first of several things is always the simplest, and it is
/// what a source chooses that has no bytes left.
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
    /// One scenario in so many is spoiled on purpose.
    pub const SPOILED: usize = 24;

    /// Choices that follow from a seed, without an end.
    pub fn seeded(seed: u64) -> Source<'static> {
        Source { from: From::Seed(seed) }
    }

    /// Choices that bytes make, about one byte each.
    pub fn of_bytes(bytes: &'a [u8]) -> Source<'a> {
        Source { from: From::Bytes(Unstructured::new(bytes)) }
    }

    /// A number below `n`; 0 if there is none.
    pub fn below(&mut self, n: usize) -> usize {
        let Some(last) = n.checked_sub(1) else { return 0 };
        match &mut self.from {
            From::Seed(state) => (next(state) % n as u64) as usize,
            From::Bytes(bytes) => bytes.int_in_range(0..=last).unwrap_or(0),
        }
    }

    /// Whether something happens that happens once in `n` times; never, if nothing is left to choose with.
    pub fn one_in(&mut self, n: usize) -> bool {
        n > 0 && self.below(n) == n - 1
    }

    /// One of several.
    pub fn pick<'t, T>(&mut self, of: &'t [T]) -> Option<&'t T> {
        of.get(self.below(of.len()))
    }

    /// One of several that come with how often they are to come.
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

/// SplitMix64: <https://prng.di.unimi.it/splitmix64.c>. Generated scenarios are named by their seed, so it never changes.
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
    fn a_seed_makes_the_same_choices_for_ever() {
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
    fn what_weighs_nothing_is_never_chosen() {
        let mut source = Source::seeded(1);
        for _ in 0..100 {
            assert_ne!(source.weigh(&[(1, "a"), (0, "b"), (3, "c")]), Some(&"b"));
        }
    }
}
