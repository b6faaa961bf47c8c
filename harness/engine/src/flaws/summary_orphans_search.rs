//! BUG: A summary removes calls to the provider's tools from the part that it keeps, but not their results.
//! Claude Code: <https://github.com/anthropics/claude-code/issues/64026>

use super::prelude::*;

flaw! {
    Flaw::new("summary-orphans-search", "thread-survives").class("server-tool").only_on(SEARCHING, NO_SEARCH);

    fn summarised(&self, thread: &[Message], summary: Summary<'_>) -> Vec<Message> {
        let mut thread = Reference.summarised(thread, summary);
        server_tools::retain(&mut thread, |block| matches!(block, ServerBlock::Result { .. }));
        thread
    }
}
