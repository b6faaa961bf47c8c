//! Signatures of what the model thought: opaque to everybody but the provider that gave them out.

use super::Envelope;
use crate::hash::{FNV_PRIME, fnv1a};

/// A signature for that name: the same for the same, another for any other, in letters of base64.
pub(crate) fn signature(of: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut hash = fnv1a(of.as_bytes());
    let letters = (0..N_LETTERS).map(|_| {
        hash = (hash ^ (hash >> 29)).wrapping_mul(FNV_PRIME).rotate_left(17);
        char::from(ALPHABET[(hash >> 58) as usize])
    });
    letters.collect()
}

/// Real signatures have hundreds of letters; this is enough to be of no use for anything but to be given back. A
/// multiple of four, so that it is base64 without padding.
const N_LETTERS: usize = 64;

/// The signature of a block of thinking: another one for each block of each answer.
pub(crate) fn block_signature(envelope: Envelope<'_>, index: usize) -> String {
    signature(&format!("{}/{index}", envelope.id))
}
