//! BUG: After a turn that ended with results, the user's next message is put before that step. No public issue is
//! known.

use super::prelude::*;

flaw! {
    Flaw::new("prompt-before-results", "order-kept");

    fn word_after_results(&self) -> Option<&'static str> {
        None
    }

    fn request(&mut self, setup: &Setup, thread: &mut [Message], _: RequestId, asking: Asking) -> Vec<u8> {
        if let (Asking::Prompt, [.., step @ Message::Assistant(_), results @ Message::Results(_), prompt]) =
            (asking, &mut *thread)
        {
            std::mem::swap(results, prompt);
            std::mem::swap(step, results);
        }
        request::body(setup, thread)
    }
}
