//! BUG: A tool name is kept exactly as the model wrote it, even if it is invalid. Claude Code:
//! <https://github.com/anthropics/claude-code/issues/94799>

use super::prelude::*;

flaw! {
    Flaw::new("bad-name-kept", "thread-survives").class("bad-tool-name")
        .not_on(&[Dialect::Gemini], "calls always have a name, and any name is accepted");

    fn keeps_name(&self, _: &str) -> bool {
        true
    }
}
