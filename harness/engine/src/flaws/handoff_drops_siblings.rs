//! BUG: A batch with a handoff keeps only the handoff's result; the results of the other tools, which have
//! run, are lost. LangGraph Swarm: <https://github.com/langchain-ai/langgraph-swarm-py/issues/69>

use super::prelude::*;

flaw! {
    Flaw::new("handoff-drops-siblings", "thread-survives").class("handoff");

    fn control_moves(&mut self, step: &mut Step, tools: &[Tool]) {
        let siblings = step.calls_mut().filter(|call| !is_handoff(call, tools));
        siblings.for_each(|call| call.state = CallState::Forgotten);
    }
}
