//! A random number generator that does not depend on other crates, because stored reports and regressions
//! contain its results.

use crate::hash::{FNV_OFFSET, fnv1a_after};

/// SplitMix64: <https://prng.di.unimi.it/splitmix64.c>.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The numbers for a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The numbers for a seed and a purpose, so that one use does not shift another.
    pub fn of(seed: u64, purpose: &[&[u8]]) -> Random {
        let mut digest = Digest::new();
        digest.bytes(&seed.to_le_bytes());
        purpose.iter().for_each(|part| digest.bytes(part));
        Random(digest.value())
    }

    /// The next number.
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound; 0 if the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_number().checked_rem(bound).unwrap_or_default()
    }

    /// One of these items; `None` if there are none.
    pub fn pick<'i, T>(&mut self, items: &'i [T]) -> Option<&'i T> {
        let index = self.below(items.len() as u64);
        items.get(usize::try_from(index).unwrap_or_default())
    }

    /// `count` letters of an alphabet, which is ASCII and not empty.
    pub fn letters(&mut self, count: usize, alphabet: &[u8]) -> String {
        (0..count).map(|_| char::from(*self.pick(alphabet).unwrap_or(&b'0'))).collect()
    }
}

/// A hash over fields. Each field is preceded by its length, so that no two field lists give the same bytes.
#[derive(Debug)]
pub(crate) struct Digest(u64);

impl Digest {
    pub(crate) fn new() -> Digest {
        Digest(FNV_OFFSET)
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0 = fnv1a_after(fnv1a_after(self.0, &(bytes.len() as u64).to_le_bytes()), bytes);
    }

    pub(crate) fn value(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_match_the_published_ones() {
        let mut random = Random::new(1_234_567);
        let numbers = [random.next_number(), random.next_number(), random.next_number()];
        assert_eq!(
            numbers,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn an_empty_choice_gives_nothing() {
        let mut random = Random::new(0);
        assert_eq!((random.below(0), random.pick::<u8>(&[])), (0, None));
        assert!((0..100).all(|_| random.below(3) < 3));
    }
}
