//! BUG: The handoff's call gets no result: the other agent continues with the results of the other tools. A
//! report of this class: <https://github.com/langchain-ai/langgraph/issues/2075>

use super::prelude::*;

flaw! {
    Flaw::new("handoff-unanswered", "thread-survives").class("handoff");

    fn control_moves(&mut self, step: &mut Step, tools: &[Tool]) {
        let handoffs = step.calls_mut().filter(|call| is_handoff(call, tools));
        handoffs.for_each(|call| call.state = CallState::Forgotten);
    }
}
