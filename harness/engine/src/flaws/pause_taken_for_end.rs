//! BUG: A provider pause is mistaken for the end of the turn, so the user's next message follows the paused
//! reply. gsd: <https://github.com/gsd-build/gsd-2/pull/2870>, lisette:
//! <https://github.com/AnswerDotAI/lisette/issues/90>

use super::prelude::*;

flaw! {
    Flaw::new("pause-taken-for-end", "thread-survives").class("server-tool").only_on(SEARCHING, NO_SEARCH);

    struct { is_paused: bool }

    fn reply_complete(&mut self, step: &Step, _: &mut Session) -> Next {
        // A complete reply is kept as it came.
        self.is_paused = step.stop.as_deref() == Some("pause_turn");
        Next::GoOn
    }

    fn resumes(&self) -> bool {
        false
    }

    fn drops_open_searches(&self) -> bool {
        !self.is_paused
    }
}
