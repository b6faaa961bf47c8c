//! BUG: A reply with the stop reason for calls, but without calls, is answered with an empty result list. A
//! report of this class: <https://github.com/can1357/oh-my-pi/issues/5600>

use super::prelude::*;

/// The stop reasons of a reply with calls.
const CALLS: [&str; 2] = ["tool_use", "tool_calls"];

flaw! {
    Flaw::new("empty-tool-turn", "thread-survives").class("empty-tool-turn")
        .not_on(&[Dialect::Gemini, Dialect::OpenaiResponses], "no stop reason refers to calls")
        .not_on(
            &[Dialect::OpenaiChat, Dialect::BedrockConverse],
            "an empty list of results does not form a message, or two messages of one role are accepted",
        );

    fn reply_complete(&mut self, step: &Step, session: &mut Session) -> Next {
        let promises_calls = step.stop.as_deref().is_some_and(|reason| CALLS.contains(&reason));
        if !promises_calls || step.calls().next().is_some() {
            return Next::GoOn;
        }
        session.thread.extend(saved(step.message(), Vec::new()));
        session.thread.push(Message::Results(Vec::new()));
        Next::Ask
    }
}
