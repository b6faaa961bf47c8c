//! Rollouts of Codex compressed with Zstandard (`codex-rs/rollout/src/compression.rs`), and logs of other products.

use std::borrow::Cow;
use std::io::Read;

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::FormError;

/// The unpacked bytes of a rollout.
pub(in crate::stores) struct Unpacked<'a> {
    pub(in crate::stores) bytes: Cow<'a, [u8]>,
    /// The reason why the packed bytes end early, if they do.
    pub(in crate::stores) cut: Option<&'static str>,
}

/// The first bytes of a Zstandard frame.
const MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Maximum size of an unpacked rollout. Sessions of 500 MB are known from other products; this is twice that.
const MAX_BYTES: u64 = 1 << 30;

/// Maximum ratio of a rollout's size to its packed size. JSON lines reach ratios of ten or twenty; a
/// decompression bomb reaches many thousands.
const MAX_RATIO: u64 = 1_000;

/// Size that is always allowed, so that a short, repetitive rollout does not look like a bomb.
const MIN_BOUND: u64 = 1 << 20;

/// Maximum number of frames in a packed file. Codex writes one, and DeepSeek Harness one for each batch of events.
const MAX_FRAMES: usize = 100_000;

/// Number of bytes to search for the first line, which identifies the product. It contains the instructions,
/// so it may be long.
const HEAD_BYTES: u64 = 4 << 20;

pub(super) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The beginning of a rollout. `None` if it is packed and cannot be read.
pub(in crate::stores) fn head(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !is_packed(bytes) {
        return Some(Cow::Borrowed(bytes));
    }
    let (head, _) = frames(bytes, HEAD_BYTES);
    (!head.is_empty()).then_some(Cow::Owned(head))
}

/// All bytes of a rollout.
///
/// # Errors
///
/// The file unpacks to more bytes than the maximum size of a rollout.
pub(in crate::stores) fn unpack(bytes: &[u8]) -> Result<Unpacked<'_>, FormError> {
    if !is_packed(bytes) {
        return Ok(Unpacked { bytes: Cow::Borrowed(bytes), cut: None });
    }
    let bound = MAX_BYTES.min(MIN_BOUND + MAX_RATIO * bytes.len() as u64);
    let (unpacked, cut) = frames(bytes, bound + 1);
    if unpacked.len() as u64 > bound {
        return Err(FormError::Unpacked { packed: bytes.len(), bound });
    }
    Ok(Unpacked { bytes: Cow::Owned(unpacked), cut })
}

/// Packs the bytes of a rollout.
pub(super) fn pack(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// At most `limit` bytes of the frames, and the error after them, if any.
fn frames(mut packed: &[u8], limit: u64) -> (Vec<u8>, Option<&'static str>) {
    let mut unpacked = Vec::new();
    // A decoder of its own for each frame would cost memory.
    let mut decoder = FrameDecoder::new();
    for _ in 0..MAX_FRAMES {
        if packed.is_empty() {
            return (unpacked, None);
        }
        let left = limit.saturating_sub(unpacked.len() as u64);
        if left == 0 {
            return (unpacked, None);
        }
        let before = packed.len();
        let Ok(mut frame) = StreamingDecoder::new_with_decoder(&mut packed, decoder) else {
            return (unpacked, Some("packed bytes that are not a frame"));
        };
        let is_whole = frame.by_ref().take(left).read_to_end(&mut unpacked).is_ok();
        decoder = frame.into_frame_decoder();
        if !is_whole || packed.len() == before {
            return (unpacked, Some("the packed bytes are cut off or damaged"));
        }
    }
    (unpacked, Some("more packed frames than a session has"))
}
