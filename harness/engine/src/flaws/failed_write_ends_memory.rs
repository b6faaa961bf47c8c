//! BUG: The thread continues from its store after a write has failed, and the turn returns as if nothing had happened. A
//! report of this class: <https://github.com/Gitlawb/zero/issues/471>

use super::prelude::*;

flaw! {
    Flaw::new("failed-write-ends-memory", "user-message-kept").class("write-fails");

    fn write_fails(&mut self, _: Option<&mut Step>, session: &mut Session) {
        let is_prompt = |message: &Message| matches!(message, Message::User(_));
        let turn = session.thread.iter().rposition(is_prompt).unwrap_or(0);
        session.thread.truncate(turn);
    }
}
