//! The hash for everything that must be the same in every version: shards, names of causes, novelty.

/// FNV-1a with 64 bits, written out so that no dependency can change it.
///
/// Source: the authors' page, <http://www.isthe.com/chongo/tech/comp/fnv/>.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    fnv1a_after(FNV_OFFSET, bytes)
}

/// Continues a hash with more bytes.
pub(crate) fn fnv1a_after(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME))
}

pub(crate) const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

pub(crate) const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_matches_the_published_one() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
