//! BUG: An unpaired surrogate in a result is sent unchanged. Claude Code:
//! <https://github.com/anthropics/claude-code/issues/86560>

use super::prelude::*;

flaw! {
    Flaw::new("result-surrogate-kept", "thread-survives").class("bad-unicode")
        .not_on(
            &[Dialect::Gemini, Dialect::Mistral, Dialect::OpenaiChat],
            "it is not known to be refused",
        );

    fn request(&mut self, setup: &Setup, thread: &mut [Message], _: RequestId, _: Asking) -> Vec<u8> {
        let body = request::body(setup, thread);
        // JSON can express it, but a Rust string cannot.
        String::from_utf8_lossy(&body).replace(HALF_CHARACTER, "\\ud83d").into_bytes()
    }
}
