//! BUG: The calls after a summary are sent as user messages. Strands:
//! <https://github.com/strands-agents/harness-sdk/issues/1160>

use super::prelude::*;

flaw! {
    Flaw::new("summary-flips-role", "thread-survives").class("role-flip")
        .not_on(&[Dialect::Gemini], "the role of a message with calls is not checked")
        .not_on(&[Dialect::OpenaiResponses], "calls have no role");

    fn request(&mut self, setup: &Setup, thread: &mut [Message], _: RequestId, _: Asking) -> Vec<u8> {
        let body = request::body(setup, thread);
        if !thread.get(1).is_some_and(Message::has_calls) || !has_summary(thread) {
            return body;
        }
        let body = String::from_utf8_lossy(&body);
        let is_model = body.contains(r#""role":"model""#);
        let role = if is_model { r#""role":"model""# } else { r#""role":"assistant""# };
        body.replacen(role, r#""role":"user""#, 1).into_bytes()
    }
}
