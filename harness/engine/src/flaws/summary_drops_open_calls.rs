//! BUG: A summary while tools run removes their calls, and the results come after it. Devo:
//! <https://github.com/7df-lab/devo/issues/186>

use super::prelude::*;

flaw! {
    Flaw::new("summary-drops-open-calls", "thread-survives").class("compact-inflight");

    fn record(&mut self, turn: &mut Turn, put_off: Option<&Change>, session: &mut Session) {
        match put_off {
            Some(Change::Summarise { .. }) => session.push_results(turn.step.results()),
            _ => Reference.record(turn, put_off, session),
        }
    }

    fn summarised(&self, thread: &[Message], summary: Summary<'_>) -> Vec<Message> {
        compaction::summarised(thread, summary)
    }
}
