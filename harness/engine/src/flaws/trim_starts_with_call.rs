//! BUG: Trimming to a number of messages leaves a history that begins with calls. LangChain:
//! <https://github.com/langchain-ai/langchain/issues/27799>

use super::prelude::*;

flaw! {
    Flaw::new("trim-starts-with-call", "thread-survives").class("gemini-order")
        .only_on(&[Dialect::Gemini], "a history may begin with calls");

    fn may_begin_with(&self, first: &Message, is_turn_running: bool) -> bool {
        !is_turn_running && first.has_calls()
    }
}
