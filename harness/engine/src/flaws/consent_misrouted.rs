//! BUG: Approving one call in a batch also runs the call denied before it. Hermes Agent:
//! <https://github.com/NousResearch/hermes-agent/issues/34827>

use super::prelude::*;

flaw! {
    Flaw::new("consent-misrouted", "consent-given").class("checkpoint-side-effect");

    fn also_released<'a>(&self, step: &'a mut Step, tools: &[Tool]) -> Option<&'a mut StepCall> {
        let asks = |call: &StepCall| tools.iter().any(|tool| tool.name == call.call.tool && tool.asks);
        let was_refused = |state: &CallState| matches!(state, CallState::Done(result) if result.is_error);
        step.calls_mut().find(|call| asks(call) && was_refused(&call.state))
    }
}
