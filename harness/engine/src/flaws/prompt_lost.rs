//! BUG: A turn that fails drops the user's message. A report of this class:
//! <https://github.com/anomalyco/opencode/issues/21326>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("prompt-lost", "user-message-kept", || Box::new(PromptLost)).class("stream-break");

struct PromptLost;

impl Decisions for PromptLost {
    fn keeps_failed(&mut self, turn: &Turn, _: Failure<'_>, session: &mut Session) -> bool {
        session.thread.truncate(turn.start);
        false
    }
}
