//! BUG: Trimming while a turn runs drops the user's message of that turn. gwenflow:
//! <https://github.com/gwenlake/gwenflow/issues/125>

use super::prelude::*;

flaw! {
    Flaw::new("trim-drops-prompt", "user-message-kept").class("compact-no-user");

    fn may_begin_with(&self, first: &Message, is_turn_running: bool) -> bool {
        is_turn_running && matches!(first, Message::Assistant(_))
    }
}
