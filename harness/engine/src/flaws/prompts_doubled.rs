//! BUG: A retry sends the user's last message twice, as if it were new. No report of this is known.

use super::prelude::*;

flaw! {
    Flaw::new("prompts-doubled", "texts-once");

    fn request(&mut self, setup: &Setup, thread: &mut [Message], _: RequestId, asking: Asking) -> Vec<u8> {
        let prompt = thread.last().filter(|last| matches!(last, Message::User(_)) && asking == Asking::Retry);
        request::body(setup, &thread.iter().chain(prompt).cloned().collect::<Vec<Message>>())
    }
}
