//! BUG: A request that the provider rejects permanently is sent again. No system is known to do this; the
//! suite also covers bugs that were never reported.

use super::prelude::*;

flaw! {
    Flaw::new("refusal-retried", "refusal-heeded");

    fn may_pass(&self, _: u16) -> bool {
        true
    }
}
