//! BUG: Trimming to a number of messages leaves a history that begins with model text. Strands:
//! <https://github.com/strands-agents/sdk-typescript/issues/727>

use super::prelude::*;

flaw! {
    Flaw::new("trim-starts-with-words", "thread-survives").class("first-not-user")
        .only_on(&[Dialect::BedrockConverse], "a history may begin with a model message");

    fn may_begin_with(&self, first: &Message, is_turn_running: bool) -> bool {
        !is_turn_running && matches!(first, Message::Assistant(_)) && !first.has_calls()
    }
}
