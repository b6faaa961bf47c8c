//! BUG: Trimming while a turn runs drops the user's message of that turn. gwenflow:
//! <https://github.com/gwenlake/gwenflow/issues/125>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("trim-drops-prompt", "user-message-kept", || Box::new(TrimDropsPrompt))
    .class("compact-no-user");

struct TrimDropsPrompt;

impl Decisions for TrimDropsPrompt {
    fn may_begin_with(&self, first: &Message, is_turn_running: bool) -> bool {
        is_turn_running && matches!(first, Message::Assistant(_))
    }
}
