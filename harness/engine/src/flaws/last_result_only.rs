//! BUG: The next request is sent when the last call of a batch is answered, even if others still run. Codex:
//! <https://github.com/openai/codex/issues/44604>

use super::prelude::*;

flaw! {
    Flaw::new("last-result-only", "thread-survives").class("request-race");

    fn is_settled(&self, step: &Step) -> bool {
        let is_good = |call: &StepCall| matches!(&call.state, CallState::Done(result) if !result.is_error);
        let is_large = step.calls().count() >= LARGE_BATCH;
        !step.is_running() || (is_large && step.calls().last().is_some_and(is_good))
    }
}
