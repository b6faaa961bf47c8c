//! BUG: A tool runs although the user denied it. A report of this class:
//! <https://github.com/cloudflare/agents/issues/955>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("refusal-ignored", "consent-given", || Box::new(RefusalIgnored)).class("approval-denied");

struct RefusalIgnored;

impl Decisions for RefusalIgnored {
    fn may_run(&self, consent: Consent) -> bool {
        consent != Consent::Withheld
    }
}
