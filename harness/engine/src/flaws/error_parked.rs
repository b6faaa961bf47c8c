//! BUG: A call that failed before the reply ended is never shown as finished. TanStack AI:
//! <https://github.com/TanStack/ai/issues/727>

use super::prelude::*;

flaw! {
    Flaw::new("error-parked", "parts-settled").class("stuck-state");

    fn shows_result(&self, outcome: &ToolOutcome, is_reply_over: bool) -> bool {
        is_reply_over || outcome.is_success()
    }
}
