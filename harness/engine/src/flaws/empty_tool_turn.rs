//! BUG: A reply with the stop reason for calls, but without calls, is answered with an empty result list. A
//! report of this class: <https://github.com/can1357/oh-my-pi/issues/5600>

use super::prelude::*;

/// The stop reasons of a reply with calls.
const CALLS: [&str; 2] = ["tool_use", "tool_calls"];

flaw! {
    Flaw::new("empty-tool-turn", "thread-survives").class("empty-tool-turn")
        .not_on(&[Dialect::Gemini, Dialect::OpenaiResponses], "no stop reason refers to calls")
        .not_on(&[Dialect::OpenaiChat], "an empty list of results does not form a message");

    fn reply_complete(&mut self, turn: &mut Turn, session: &mut Session) -> Next {
        let promises_calls = turn.step.stop.as_deref().is_some_and(|reason| CALLS.contains(&reason));
        if !promises_calls || turn.step.calls().next().is_some() {
            return Next::GoOn;
        }
        session.push_message(turn.step.message());
        session.thread.push(Message::Results(Vec::new()));
        turn.n_requests += 1;
        Next::Ask
    }
}
