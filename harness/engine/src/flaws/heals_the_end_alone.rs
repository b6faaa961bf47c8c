//! BUG: A resume answers only the calls of the last turn, so a thread that was broken before stays broken. A
//! report of this class: <https://github.com/langchain-ai/open-swe/issues/1604>

use super::prelude::*;

flaw! {
    Flaw::new("heals-the-end-alone", "old-thread-heals").class("kill-resume");

    fn loaded(&self, thread: Vec<Message>) -> Vec<Message> {
        let mut thread = thread;
        let last = thread.iter().rposition(|message| matches!(message, Message::Assistant(_))).unwrap_or(0);
        if thread[last..].iter().all(|message| !matches!(message, Message::User(_))) {
            let end = thread.split_off(last);
            thread.extend(repaired(end));
        }
        thread
    }
}
