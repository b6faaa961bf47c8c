//! BUG: A summary that breaks off in the middle replaces the history. Agent AFK:
//! <https://github.com/griffinwork40/agent-afk/issues/700>

use super::prelude::*;

flaw! {
    Flaw::new("half-summary-taken", "user-message-kept").class("compact-fails");

    fn takes_summary(&mut self, _: bool, text: &str) -> bool {
        !text.is_empty()
    }
}
