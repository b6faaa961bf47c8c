//! BUG: If the user stops the turn while a summary arrives, its first half replaces the history. Agent AFK:
//! <https://github.com/griffinwork40/agent-afk/issues/700>

use super::prelude::*;

flaw! {
    Flaw::new("stopped-summary-taken", "user-message-kept").class("compact-interrupted");

    fn summary_stopped(&mut self, text: &str, thread: &mut Vec<Message>) {
        if !text.is_empty() {
            *thread = Reference.summarised(thread, Summary { keep: 0, text, is_turn_running: false });
        }
    }
}
