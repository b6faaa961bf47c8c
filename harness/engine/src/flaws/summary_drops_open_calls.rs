//! BUG: A summary while tools run removes their calls, and the results come after it. Devo:
//! <https://github.com/7df-lab/devo/issues/186>

use super::prelude::*;

flaw! {
    Flaw::new("summary-drops-open-calls", "thread-survives").class("compact-inflight");

    fn record(&mut self, step: &Step, said: &mut Said, put_off: Option<&Change>) -> Vec<Message> {
        match put_off {
            Some(Change::Summarise { .. }) => saved(Vec::new(), step.results()),
            _ => Reference.record(step, said, put_off),
        }
    }

    fn summarised(&self, thread: &[Message], summary: Summary<'_>) -> Vec<Message> {
        compaction::summarised(thread, summary)
    }
}
