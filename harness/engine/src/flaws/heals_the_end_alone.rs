//! BUG: A resume answers the calls of the last turn alone: a thread that was broken before stays so.
//! A report of its class: <https://github.com/langchain-ai/open-swe/issues/1604>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("heals-the-end-alone", "old-thread-heals", || Box::new(HealsTheEndAlone)).class("kill-resume");

struct HealsTheEndAlone;

impl Decisions for HealsTheEndAlone {
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
