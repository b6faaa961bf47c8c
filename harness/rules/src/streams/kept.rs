//! Data about earlier events that a state machine keeps, in bounded memory.

use serde::de::IgnoredAny;

/// Maximum number of bytes to keep from call arguments, over all calls in a stream.
pub const MAX_KEPT_BYTES: usize = 4 << 20;

/// Maximum number of calls, items and parts to track in one stream. The largest real replies have a
/// few hundred.
pub const MAX_TRACKED: usize = 10_000;

/// The digest of a text that arrived in pieces: its length and a hash. Texts with the same digest are
/// treated as equal; in the worst case, a difference is missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digest {
    pub(crate) n_bytes: usize,
    hash: u64,
}

impl Digest {
    /// The digest of an empty text. The hash is FNV-1a, which does not depend on how a text is split.
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

/// The remaining room for bytes of arguments and for calls.
#[derive(Debug)]
pub(crate) struct Room {
    n_bytes: usize,
    n_tracked: usize,
}

impl Room {
    pub(crate) fn new() -> Room {
        Room { n_bytes: MAX_KEPT_BYTES, n_tracked: MAX_TRACKED }
    }

    /// Reserves room for one more call, item or part. Returns false if there is none.
    pub(crate) fn track(&mut self) -> bool {
        let has_room = self.n_tracked > 0;
        self.n_tracked = self.n_tracked.saturating_sub(1);
        has_room
    }

    /// Returns whether there is no more room. Calls, items and parts beyond it are not checked.
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

    /// Returns whether the arguments are known to be neither empty nor a JSON object.
    pub(crate) fn are_broken(&self) -> bool {
        let text = self.text.trim_ascii();
        let is_object = || text.starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok();
        !self.is_cut && !text.is_empty() && !is_object()
    }
}
