//! BUG: A retry does not wait as long as the provider asked for. No system is known to do this; the suite
//! also covers bugs that were never reported.

use super::prelude::*;

flaw! {
    Flaw::new("pause-ignored", "pause-heeded");

    fn pause_ms(&self, _: Option<u64>) -> Option<u64> {
        None
    }
}
