//! BUG: If a batch has two handoffs, only the one taken gets a result. A report of this class:
//! <https://github.com/langchain-ai/langgraph-swarm-py/issues/30>

use super::prelude::*;

flaw! {
    Flaw::new("second-handoff-unanswered", "thread-survives").class("handoff");

    fn control_moves(&mut self, step: &mut Step, tools: &[Tool]) {
        let later = step.calls_mut().filter(|call| is_handoff(call, tools)).skip(1);
        later.for_each(|call| call.state = CallState::Forgotten);
    }
}
