//! BUG: Failed requests are sent again after pauses that grow without limit, although the provider did not
//! ask for pauses. No system is known to brick because of this: LangChain.js 1.5.14 is silent for 90 s after
//! an HTTP 500.

use super::prelude::*;

/// The first pause. Each later pause is twice as long.
const FIRST_PAUSE_MS: u64 = 40_000;

flaw! {
    Flaw::new("backs-off-silently", "turn-ends");

    struct { n_retries: u32 }

    fn retries(&mut self, _: &Step, progress: Progress) -> Vec<Message> {
        self.n_retries = progress.n_retries;
        Vec::new()
    }

    fn pause_ms(&self, _: Option<u64>) -> Option<u64> {
        Some(FIRST_PAUSE_MS << self.n_retries)
    }
}
