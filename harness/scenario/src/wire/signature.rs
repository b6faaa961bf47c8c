//! Signatures of the model's thinking: opaque to everyone except the provider that issued them.

use super::Envelope;
use crate::hash::{FNV_PRIME, fnv1a};

/// A signature for this name, in base64 letters. The same name always has the same signature, and different
/// names have different signatures.
pub(crate) fn signature(of: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut hash = fnv1a(of.as_bytes());
    let letters = (0..N_LETTERS).map(|_| {
        hash = (hash ^ (hash >> 29)).wrapping_mul(FNV_PRIME).rotate_left(17);
        char::from(ALPHABET[(hash >> 58) as usize])
    });
    letters.collect()
}

/// Real signatures have hundreds of characters; this is long enough to be useless for anything except being
/// sent back. It is a multiple of four, so the result is base64 without padding.
const N_LETTERS: usize = 64;

/// The signature of a thinking block; it is different for every block in every answer.
pub(crate) fn block_signature(envelope: Envelope<'_>, index: usize) -> String {
    signature(&format!("{}/{index}", envelope.id))
}
