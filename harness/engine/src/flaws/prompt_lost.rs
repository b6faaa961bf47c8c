//! BUG: A turn that fails drops the user's message. A report of this class:
//! <https://github.com/anomalyco/opencode/issues/21326>

use super::prelude::*;

flaw! {
    Flaw::new("prompt-lost", "user-message-kept").class("stream-break");

    fn keeps_failed(&mut self, _: &Step, progress: Progress, _: Failure<'_>, session: &mut Session) -> bool {
        session.thread.truncate(progress.start);
        false
    }
}
