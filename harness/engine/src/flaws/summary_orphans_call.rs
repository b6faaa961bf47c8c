//! BUG: A summary that starts between a call and its result keeps only the call. opencode:
//! <https://github.com/anomalyco/opencode/issues/17065>

use super::prelude::*;

flaw! {
    Flaw::new("summary-orphans-call", "thread-survives").class("compact-orphan-call");

    fn summarised(&self, thread: &[Message], summary: Summary<'_>) -> Vec<Message> {
        let first = thread.len().saturating_sub(summary.keep);
        let is_between = matches!(thread.get(first), Some(Message::Results(_)));
        let mut thread = Reference.summarised(thread, summary);
        let results = thread.iter().position(|message| matches!(message, Message::Results(_)));
        if let Some(at) = results.filter(|_| is_between) {
            thread.remove(at);
        }
        thread
    }
}
