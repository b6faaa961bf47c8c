//! BUG: A process that shares its session with another continues with the thread in its memory, and
//! overwrites the other's turns. Claude Code: <https://github.com/anthropics/claude-code/issues/31328>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("stale-writer", "user-message-kept", || Box::new(StaleWriter)).class("two-writers");

struct StaleWriter;

impl Decisions for StaleWriter {
    fn rereads(&self) -> bool {
        false
    }
}
