//! BUG: A summary while tools run removes their calls, and the results come after it. Devo:
//! <https://github.com/7df-lab/devo/issues/186>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("summary-drops-open-calls", "thread-survives", || Box::new(SummaryDropsOpenCalls))
        .class("compact-inflight");

struct SummaryDropsOpenCalls;

impl Decisions for SummaryDropsOpenCalls {
    fn record(&mut self, turn: &mut Turn, put_off: Option<&Change>, session: &mut Session) {
        match put_off {
            Some(Change::Summarise { .. }) => session.push_results(turn.step.results()),
            _ => Reference.record(turn, put_off, session),
        }
    }

    fn summarised(
        &self,
        thread: &[Message],
        keep: usize,
        summary: &str,
        is_turn_running: bool,
    ) -> Vec<Message> {
        compaction::summarised(thread, keep, summary, is_turn_running)
    }
}
