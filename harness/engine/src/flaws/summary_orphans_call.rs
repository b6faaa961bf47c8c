//! BUG: A summary that starts between a call and its result keeps only the call. opencode:
//! <https://github.com/anomalyco/opencode/issues/17065>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("summary-orphans-call", "thread-survives", || Box::new(SummaryOrphansCall))
    .class("compact-orphan-call");

struct SummaryOrphansCall;

impl Decisions for SummaryOrphansCall {
    fn summarised(
        &self,
        thread: &[Message],
        keep: usize,
        summary: &str,
        is_turn_running: bool,
    ) -> Vec<Message> {
        let first = thread.len().saturating_sub(keep);
        let is_between = matches!(thread.get(first), Some(Message::Results(_)));
        let mut thread = Reference.summarised(thread, keep, summary, is_turn_running);
        let results = thread.iter().position(|message| matches!(message, Message::Results(_)));
        if let Some(at) = results.filter(|_| is_between) {
            thread.remove(at);
        }
        thread
    }
}
