//! BUG: The user's message to a running turn is inserted between the results of a batch. LibreChat:
//! <https://github.com/danny-avila/LibreChat/issues/14220>

use super::prelude::*;

flaw! {
    Flaw::new("steer-splits-batch", "thread-survives").class("interleave-user")
        .not_on(&[Dialect::OpenaiResponses], "a message may come between the results of a batch");

    fn record(&mut self, step: &Step, said: &mut Said, put_off: Option<&Change>) -> Vec<Message> {
        let is_early = |message: &MidTurnMessage| message.way == Aside::Steered && !message.is_reply;
        split_batch(step, said, is_early).unwrap_or_else(|| Reference.record(step, said, put_off))
    }
}
