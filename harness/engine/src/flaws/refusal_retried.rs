//! BUG: A request that the provider refuses for good is sent again.
//! No system is known to do this: the suite guards against more than was ever reported.

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("refusal-retried", "refusal-heeded", || Box::new(RefusalRetried));

struct RefusalRetried;

impl Decisions for RefusalRetried {
    fn may_pass(&self, _: u16) -> bool {
        true
    }
}
