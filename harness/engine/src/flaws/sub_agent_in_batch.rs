//! BUG: A sub-agent's messages are recorded among the results of the batch that started it, and a resume
//! continues with them in that order. Copilot CLI: <https://github.com/github/copilot-cli/issues/2323>

use super::prelude::*;

flaw! {
    Flaw::new("sub-agent-in-batch", "thread-survives").class("subagent-interleave")
        .not_on(&[Dialect::OpenaiResponses], "a call may come between the results of a batch");

    fn rejoined(&self, mut thread: Vec<Message>, sub_agents: &[SubThread]) -> Vec<Message> {
        if sub_agents.is_empty() {
            return self.loaded(thread);
        }
        // The results that had come are before the sub-agent's messages, the unknown ones after them.
        let said = sub_agents.iter().flat_map(|sub_agent| &sub_agent.thread);
        thread.extend(said.filter(|message| !matches!(message, Message::User(_))).cloned());
        let open: Vec<CallResult> = unanswered(&thread).into_iter().map(interrupted).collect();
        thread.extend(saved(Vec::new(), open));
        thread
    }
}
