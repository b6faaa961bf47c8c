//! BUG: The provider keeps the conversation. A message that the user takes back disappears from the client's
//! thread, but the next request continues a response that still contains it. A report of this class:
//! <https://github.com/openai/openai-agents-python/issues/1061>

use super::prelude::*;

flaw! {
    Flaw::new("server-thread-goes-on", "rewind-honoured").class("server-conv")
        .only_on(&[Dialect::OpenaiResponses], "the provider keeps no conversation");

    struct {
        /// The number of messages that the latest request represented.
        n_sent: usize,
        /// The latest complete response, and the number of messages that the provider stores with it.
        last: Option<(String, usize)>,
    }

    fn request(&mut self, setup: &Setup, thread: &mut [Message], _: RequestId, _: Asking) -> Vec<u8> {
        self.n_sent = thread.len();
        let whole = || stored(request::body(setup, thread));
        let Some((id, n_known)) = &self.last else { return whole() };
        // A history that was cut or summarised has another beginning, and is sent in full.
        if compaction::has_summary(thread) {
            return whole();
        }
        let first = (*n_known).min(thread.len().saturating_sub(1));
        let new = thread[first..].iter().filter(|message| !matches!(message, Message::Assistant(_)));
        let new: Vec<Message> = new.cloned().collect();
        going_on_from(id, stored(request::body(setup, &new)))
    }

    fn reply_complete(&mut self, step: &Step, _: &mut Session) -> Next {
        if let Some(id) = &step.response {
            self.last = Some((id.clone(), self.n_sent));
        }
        Next::GoOn
    }
}

/// The body as a continuation of an earlier response.
fn going_on_from(id: &str, mut body: Vec<u8>) -> Vec<u8> {
    let field = format!(r#"{{"previous_response_id":"{id}","#);
    body.splice(..1, field.into_bytes());
    body
}
