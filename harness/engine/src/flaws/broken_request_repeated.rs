//! BUG: A reply that breaks off fails the turn, and the client sends the request again in the background, when
//! the user has gone on. async-openai 0.30 does so, because `reqwest-eventsource` reconnects by itself:
//! <https://docs.rs/reqwest-eventsource/0.6.0/reqwest_eventsource/retry/constant.DEFAULT_RETRY.html>

use super::prelude::*;

flaw! {
    Flaw::new("broken-request-repeated", "requests-end-with-turn");

    struct {
        /// The body of the latest request.
        sent: Vec<u8>,
        /// The body of the request that is to be repeated.
        broken: Option<Vec<u8>>,
    }

    fn request(&mut self, setup: &Setup, thread: &mut [Message], id: RequestId, asking: Asking) -> Vec<u8> {
        self.sent = Reference.request(setup, thread, id, asking);
        self.sent.clone()
    }

    fn reply_failed(&mut self, step: &mut Step, failure: Failure<'_>, _: &mut Session) -> Next {
        // Tools that have started belong to the turn, and what cannot pass is not tried again.
        if step.has_side_effects() || !failure.may_pass {
            return Next::GoOn;
        }
        self.broken = Some(std::mem::take(&mut self.sent));
        Next::End(raised(failure.text))
    }

    fn reply_complete(&mut self, _: &Step, session: &mut Session) -> Next {
        if let Some(body) = self.broken.take() {
            let request = session.counter.request();
            session.outputs.push(Output::Request { request, body });
        }
        Next::GoOn
    }
}
