//! BUG: Calls without results are repaired in every request except the one for a summary. Codex:
//! <https://github.com/openai/codex/issues/5385>

use super::prelude::*;

flaw! {
    Flaw::new("summary-of-poison", "thread-survives").class("compact-on-poison");

    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if why == CutOff::Stopped { None } else { Reference.answer(call, why) }
    }

    fn asks_to_think(&self, dialect: Dialect, thread: &[Message]) -> bool {
        Reference.asks_to_think(dialect, &repaired(thread.to_vec()))
    }

    fn request(&mut self, setup: &Setup, thread: &mut [Message], _: RequestId, _: Asking) -> Vec<u8> {
        request::body(setup, &repaired(thread.to_vec()))
    }

    fn summary_request(&self, setup: &Setup, thread: &[Message], end: usize) -> Vec<u8> {
        if unanswered(thread).is_empty() {
            return Reference.summary_request(setup, thread, end);
        }
        request::body(setup, &[thread, &[Message::User(SUMMARISE.to_owned())]].concat())
    }
}
