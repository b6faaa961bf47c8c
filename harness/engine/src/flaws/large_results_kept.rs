//! BUG: Results that are larger than the window stay in the thread even after a summary, so no later request
//! fits. Deep Agents: <https://github.com/langchain-ai/deepagents/issues/3405>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("large-results-kept", "thread-survives", || Box::new(LargeResultsKept))
    .class("compact-overflow");

struct LargeResultsKept;

impl Decisions for LargeResultsKept {
    fn cuts_results(&self) -> bool {
        false
    }

    fn summarised(
        &self,
        thread: &[Message],
        keep: usize,
        summary: &str,
        is_turn_running: bool,
    ) -> Vec<Message> {
        let last = thread.iter().rposition(|message| matches!(message, Message::Results(_)));
        let from_last = last.map_or(keep, |at| thread.len() - at);
        Reference.summarised(thread, keep.max(from_last), summary, is_turn_running)
    }
}
