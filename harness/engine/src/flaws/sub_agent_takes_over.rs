//! BUG: If the user stops a turn while a sub-agent runs, the sub-agent's messages replace the thread. Deep
//! Agents: <https://github.com/langchain-ai/deepagents/issues/2781>

use super::prelude::*;

flaw! {
    Flaw::new("sub-agent-takes-over", "user-message-kept").class("subagent-state");

    fn sub_agent_stopped(&mut self, its_thread: &[Message], thread: &mut Vec<Message>) {
        *thread = its_thread.to_vec();
    }
}
