//! BUG: A prompt directly after results is sent unchanged even to providers that require an answer between
//! them. Crush: <https://github.com/charmbracelet/crush/issues/279>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("no-word-after-results", "thread-survives", || Box::new(NoWordAfterResults))
        .class("tool-then-user")
        .only_on(&[Dialect::Mistral], "a prompt may follow results");

struct NoWordAfterResults;

impl Decisions for NoWordAfterResults {
    fn word_after_results(&self) -> Option<&'static str> {
        None
    }
}
