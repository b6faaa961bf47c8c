//! BUG: Control moves as soon as the handoff has its result. Tools that still run are given up, and their
//! calls get no results. A report of this class:
//! <https://github.com/langchain-ai/langgraph-swarm-py/issues/26>

use super::prelude::*;

flaw! {
    Flaw::new("handoff-ends-siblings", "thread-survives").class("handoff");

    fn handed_over(&mut self, step: &mut Step, session: &mut Session) {
        if !matches!(step.phase, Phase::Over) {
            return;
        }
        session.let_go(step);
        let running = step.calls_mut().filter(|call| matches!(call.state, CallState::Running(_)));
        running.for_each(|call| call.state = CallState::Forgotten);
    }
}
