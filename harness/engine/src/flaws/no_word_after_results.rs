//! BUG: A prompt directly after results is sent unchanged even to providers that require an answer between
//! them. Crush: <https://github.com/charmbracelet/crush/issues/279>

use super::prelude::*;

flaw! {
    Flaw::new("no-word-after-results", "thread-survives").class("tool-then-user")
        .only_on(&[Dialect::Mistral], "a prompt may follow results");

    fn word_after_results(&self) -> Option<&'static str> {
        None
    }
}
