//! BUG: Results that are larger than the window stay in the thread even after a summary, so no later request
//! fits. Deep Agents: <https://github.com/langchain-ai/deepagents/issues/3405>

use super::prelude::*;

flaw! {
    Flaw::new("large-results-kept", "thread-survives").class("compact-overflow");

    fn cuts_results(&self) -> bool {
        false
    }

    fn summarised(&self, thread: &[Message], summary: Summary<'_>) -> Vec<Message> {
        let last = thread.iter().rposition(|message| matches!(message, Message::Results(_)));
        let from_last = last.map_or(0, |at| thread.len() - at);
        Reference.summarised(thread, Summary { keep: summary.keep.max(from_last), ..summary })
    }
}
