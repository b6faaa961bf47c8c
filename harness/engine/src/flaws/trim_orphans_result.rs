//! BUG: Trimming to a number of messages keeps a result without its call. n8n:
//! <https://github.com/n8n-io/n8n/issues/34166>

use super::prelude::*;

flaw! {
    Flaw::new("trim-orphans-result", "thread-survives").class("compact-orphan-result")
        .not_on(&[Dialect::Mistral], "results without their calls are accepted");

    fn may_begin_with(&self, first: &Message, is_turn_running: bool) -> bool {
        !is_turn_running && matches!(first, Message::Results(_))
    }
}
