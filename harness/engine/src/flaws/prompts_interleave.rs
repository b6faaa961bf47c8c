//! BUG: Another prompt is inserted in the middle of the running turn's calls. AgentScope:
//! <https://github.com/agentscope-ai/agentscope-runtime/issues/402>

use super::prelude::*;

flaw! {
    Flaw::new("prompts-interleave", "thread-survives").class("concurrent-turn");

    fn takes_second_prompt(&mut self, step: &Step, text: &str, session: &mut Session) -> bool {
        session.let_go(step);
        session.thread.extend(saved(step.message_so_far(), Vec::new()));
        session.end(TurnOutcome::Cancelled);
        session.thread.push(Message::User(text.to_owned()));
        true
    }
}
