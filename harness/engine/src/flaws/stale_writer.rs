//! BUG: A process that shares its session with another continues with the thread in its memory, and
//! overwrites the other's turns. Claude Code: <https://github.com/anthropics/claude-code/issues/31328>

use super::prelude::*;

flaw! {
    Flaw::new("stale-writer", "user-message-kept").class("two-writers");

    fn rereads(&self) -> bool {
        false
    }
}
