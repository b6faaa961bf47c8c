//! BUG: A summary removes calls to the provider's tools from the part that it keeps, but not their results.
//! Claude Code: <https://github.com/anthropics/claude-code/issues/64026>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("summary-orphans-search", "thread-survives", || Box::new(SummaryOrphansSearch))
        .class("server-tool")
        .only_on(SEARCHING, NO_SEARCH);

struct SummaryOrphansSearch;

impl Decisions for SummaryOrphansSearch {
    fn summarised(
        &self,
        thread: &[Message],
        keep: usize,
        summary: &str,
        is_turn_running: bool,
    ) -> Vec<Message> {
        let mut thread = Reference.summarised(thread, keep, summary, is_turn_running);
        server_tools::retain(&mut thread, |block| matches!(block, ServerBlock::Result { .. }));
        thread
    }
}
