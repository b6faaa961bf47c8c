//! BUG: After a stop the agent adds a note to the user's last message in each request, but does not store it.
//! No system is known to do this; the suite also covers bugs that were never reported.

use super::prelude::*;

flaw! {
    Flaw::new("note-wanders", "prefix-stable");

    struct { was_stopped: bool }

    fn stops(&mut self, _: &mut Step, _: Progress, _: &[Tool], _: &mut Session) -> OnStop {
        self.was_stopped = true;
        OnStop::KeepReply
    }

    fn request(&mut self, setup: &Setup, thread: &mut [Message], _: RequestId, _: Asking) -> Vec<u8> {
        let mut thread = thread.to_vec();
        let said = thread.iter_mut().rev().find_map(|message| match message {
            Message::User(text) => Some(text),
            Message::Assistant(_) | Message::Results(_) => None,
        });
        if let Some(text) = said.filter(|_| self.was_stopped) {
            text.push_str("\n\n(A turn of this thread was interrupted.)");
        }
        request::body(setup, &thread)
    }
}
