//! BUG: If a tool returns an error, the agent gives up the tools that run at the same time, and their calls
//! get no results. Deep Agents: <https://github.com/langchain-ai/deepagents/issues/694>

use super::prelude::*;

flaw! {
    Flaw::new("siblings-cancelled", "thread-survives").class("partial-batch");

    fn call_ended(&mut self, step: &mut Step, _: &str, outcome: &ToolOutcome, session: &mut Session) {
        if matches!(step.phase, Phase::Over) && matches!(outcome, ToolOutcome::Error(_)) {
            session.let_go(step);
            let running = step.calls_mut().filter(|call| matches!(call.state, CallState::Running(_)));
            running.for_each(|call| call.state = CallState::Forgotten);
        }
    }
}
