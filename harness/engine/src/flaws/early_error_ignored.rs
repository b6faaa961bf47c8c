//! BUG: A tool error that arrives before the reply ends is ignored. opencode; another report of this class:
//! <https://github.com/ag-ui-protocol/ag-ui/issues/2668>

use super::prelude::*;

flaw! {
    Flaw::new("early-error-ignored", "thread-survives").class("event-order");

    fn keeps_result(&self, outcome: &ToolOutcome, is_reply_over: bool) -> bool {
        is_reply_over || outcome.is_success()
    }

    fn shows_result(&self, outcome: &ToolOutcome, is_reply_over: bool) -> bool {
        is_reply_over || outcome.is_success()
    }
}
