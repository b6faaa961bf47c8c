//! BUG: A tool error that arrives before the reply ends is ignored. opencode; another report of this class:
//! <https://github.com/ag-ui-protocol/ag-ui/issues/2668>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("early-error-ignored", "thread-survives", || Box::new(EarlyErrorIgnored)).class("event-order");

struct EarlyErrorIgnored;

impl Decisions for EarlyErrorIgnored {
    fn keeps_result(&self, outcome: &ToolOutcome, is_reply_over: bool) -> bool {
        is_reply_over || outcome.is_success()
    }

    fn shows_result(&self, outcome: &ToolOutcome, is_reply_over: bool) -> bool {
        is_reply_over || outcome.is_success()
    }
}
