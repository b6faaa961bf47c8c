//! BUG: The call that hands over has no result: the other agent goes on with what the tools returned.
//! A report of its class: <https://github.com/langchain-ai/langgraph/issues/2075>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("handoff-unanswered", "thread-survives", || Box::new(HandoffUnanswered)).class("handoff");

struct HandoffUnanswered;

impl Decisions for HandoffUnanswered {
    fn control_moves(&mut self, step: &mut Step, tools: &[Tool]) {
        let handoffs = step.calls_mut().filter(|call| is_handoff(call, tools));
        handoffs.for_each(|call| call.state = CallState::Forgotten);
    }
}
