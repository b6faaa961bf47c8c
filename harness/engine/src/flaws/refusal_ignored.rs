//! BUG: A tool runs although the user denied it. A report of this class:
//! <https://github.com/cloudflare/agents/issues/955>

use super::prelude::*;

flaw! {
    Flaw::new("refusal-ignored", "consent-given").class("approval-denied");

    fn may_run(&self, consent: Consent) -> bool {
        consent != Consent::Withheld
    }
}
