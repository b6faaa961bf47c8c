//! The ids of a batch, in order, with fast lookup, and the ids of a complete conversation as hashes.

use hashbrown::HashSet;
use std::borrow::Cow;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

/// Call ids without duplicates, in the order in which they were added.
///
/// Batches are small, and comparing a few short strings is faster than hashing. A hostile batch may have a
/// million ids.
#[derive(Debug, Default)]
pub(crate) struct Ids<'a> {
    ids: Vec<Cow<'a, str>>,
    /// The index of every id with its hash, once there are many. The ids can come from an attacker, so the
    /// hash is seeded. Hashes are stored, so that the table can grow without reading the ids again.
    places: HashTable<(u64, usize)>,
    hasher: DefaultHashBuilder,
}

/// Up to this number of ids, they are compared one by one.
const FEW: usize = 16;

impl<'a> Ids<'a> {
    /// Adds an id and returns its index. If the id is already there, the error is its existing index.
    pub(crate) fn insert(&mut self, id: Cow<'a, str>) -> Result<usize, usize> {
        let place = self.ids.len();
        if place <= FEW {
            if let Some(known) = self.find(&id) {
                return Err(known);
            }
            self.ids.push(id);
            if place == FEW {
                for (place, id) in self.ids.iter().enumerate() {
                    let hash = self.hasher.hash_one(id.as_ref());
                    self.places.insert_unique(hash, (hash, place), |(hash, _)| *hash);
                }
            }
            return Ok(place);
        }
        let hash = self.hasher.hash_one(id.as_ref());
        let is_it = |(own, place): &(u64, usize)| *own == hash && self.ids[*place] == id;
        match self.places.entry(hash, is_it, |(hash, _)| *hash) {
            Entry::Occupied(known) => Err(known.get().1),
            Entry::Vacant(free) => {
                free.insert((hash, place));
                self.ids.push(id);
                Ok(place)
            }
        }
    }

    pub(crate) fn find(&self, id: &str) -> Option<usize> {
        match self.ids.len() {
            ..=FEW => self.ids.iter().position(|own| own == id),
            _ => {
                let hash = self.hasher.hash_one(id);
                let is_it = |(own, place): &(u64, usize)| *own == hash && self.ids[*place] == id;
                self.places.find(hash, is_it).map(|(_, place)| *place)
            }
        }
    }

    /// Returns the id at an index from [`Ids::insert`].
    pub(crate) fn get(&self, place: usize) -> &str {
        &self.ids[place]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().map(Cow::as_ref)
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        if !self.places.is_empty() {
            self.places.clear();
        }
    }
}

/// The ids of a complete conversation, stored only as hashes.
///
/// Two ids may have the same hash. So a known id may only lead to a warning, or prevent one.
#[derive(Debug, Default)]
pub(crate) struct IdHashes(HashSet<u64, BuildHasherDefault<Hashed>>);

impl IdHashes {
    /// Adds an id. Returns whether it is new.
    pub(crate) fn insert(&mut self, id: &str) -> bool {
        self.0.insert(hash(id.as_bytes()))
    }

    /// Returns whether an id was added.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.0.contains(&hash(id.as_bytes()))
    }
}

/// Computes a hash of 64 bits that is the same in every run. It mixes in eight bytes at a time with a
/// multiplication, and folds the two halves of the product together, as wyhash and foldhash do.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let state =
        words.iter().fold(bytes.len() as u64 ^ SEED, |state, word| mix(state, u64::from_le_bytes(*word)));
    mix(mix(state, u64::from_le_bytes(last)), SEED)
}

fn mix(state: u64, word: u64) -> u64 {
    let product = u128::from(state ^ word) * u128::from(FACTOR);
    (product as u64) ^ (product >> 64) as u64
}

/// The fractional digits of pi in binary.
const SEED: u64 = 0x243f_6a88_85a3_08d3;

/// More digits of pi. The last bit is set, because multiplying by an odd number loses no bits.
const FACTOR: u64 = 0x1319_8a2e_0370_7345;

#[derive(Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash(bytes);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_ids_have_different_hashes() {
        let mut hashes = IdHashes::default();
        for n in 0..100_000 {
            assert!(hashes.insert(&format!("toolu_{n:08}")) && hashes.insert(&format!("c{n}")));
        }
        assert!(!hashes.insert("toolu_00000007") && hashes.contains("c7") && !hashes.contains("c-7"));
    }

    #[test]
    fn ids_are_found_in_small_and_large_batches() {
        let mut ids = Ids::default();
        for n in 0..100 {
            let id = Cow::Owned(format!("call_{n}"));
            assert_eq!(ids.find(&id), None);
            assert_eq!(ids.insert(id.clone()), Ok(n));
            assert_eq!(ids.insert(id), Err(n));
            assert!((0..=n).all(|k| ids.find(&format!("call_{k}")) == Some(k)));
        }
        assert_eq!((ids.get(7), ids.iter().count()), ("call_7", 100));
        ids.clear();
        assert!(ids.iter().next().is_none() && ids.find("call_1").is_none());
    }
}
