//! What a machine keeps of what was said, in bounded memory.

use serde::de::IgnoredAny;

/// Bytes of the arguments of calls that are kept, over all calls of a stream.
pub const MAX_KEPT_BYTES: usize = 4 << 20;

/// Calls, items and parts that are known apart, in one stream. The largest real replies have some hundreds.
pub const MAX_TRACKED: usize = 10_000;

/// A text that came in pieces: its length and a number that depends on all of it. Two texts with the same digest are
/// taken as equal; at worst a difference is missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digest {
    pub(crate) n_bytes: usize,
    hash: u64,
}

impl Digest {
    /// The digest of no text. The hash is FNV-1a, which does not depend on how a text is split.
    pub(crate) const EMPTY: Digest = Digest { n_bytes: 0, hash: 0xcbf2_9ce4_8422_2325 };

    pub(crate) fn of(text: &str) -> Digest {
        let mut digest = Digest::EMPTY;
        digest.push(text);
        digest
    }

    pub(crate) fn push(&mut self, piece: &str) {
        self.n_bytes += piece.len();
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.hash = piece.bytes().fold(self.hash, step);
    }
}

/// How many bytes of arguments and how many calls may still be kept.
#[derive(Debug)]
pub(crate) struct Room {
    n_bytes: usize,
    n_tracked: usize,
}

impl Room {
    pub(crate) fn new() -> Room {
        Room { n_bytes: MAX_KEPT_BYTES, n_tracked: MAX_TRACKED }
    }

    /// Takes room for one more call, item or part; false if there is none.
    pub(crate) fn track(&mut self) -> bool {
        let has_room = self.n_tracked > 0;
        self.n_tracked = self.n_tracked.saturating_sub(1);
        has_room
    }

    /// Whether there is no room for one more. What is not known any more is not judged.
    pub(crate) fn is_full(&self) -> bool {
        self.n_tracked == 0
    }
}

/// The arguments of a call, as far as there is room for them.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    text: String,
    is_cut: bool,
}

impl Arguments {
    pub(crate) fn push(&mut self, piece: &str, room: &mut Room) {
        match room.n_bytes.checked_sub(piece.len()) {
            Some(left) if !self.is_cut => {
                room.n_bytes = left;
                self.text.push_str(piece);
            }
            _ => self.is_cut = true,
        }
    }

    /// Whether it is known that they are neither empty nor a JSON object.
    pub(crate) fn are_broken(&self) -> bool {
        let text = self.text.trim_ascii();
        let is_object = || text.starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok();
        !self.is_cut && !text.is_empty() && !is_object()
    }
}
