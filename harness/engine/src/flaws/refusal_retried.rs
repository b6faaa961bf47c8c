//! BUG: A request that the provider rejects permanently is sent again. No system is known to do this; the
//! suite also covers bugs that were never reported.

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("refusal-retried", "refusal-heeded", || Box::new(RefusalRetried));

struct RefusalRetried;

impl Decisions for RefusalRetried {
    fn may_pass(&self, _: u16) -> bool {
        true
    }
}
