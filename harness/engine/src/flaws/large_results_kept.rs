//! BUG: Results that are larger than the window stay in the thread, so that no later request fits either.
//! Deep Agents: <https://github.com/langchain-ai/deepagents/issues/3405>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("large-results-kept", "thread-survives", || Box::new(LargeResultsKept))
    .class("compact-overflow");

struct LargeResultsKept;

impl Decisions for LargeResultsKept {
    fn cuts_results(&self) -> bool {
        false
    }
}
