//! Requests from the past: a client that lost the reply to a request sends it again on its own, when the user
//! has begun another turn.
//!
//! Clients that reconnect in the background do so, such as `reqwest-eventsource` in async-openai 0.30, which
//! repeats a broken stream after 0.3 to 5 s. Such a request is not a part of the present turn, so it must not
//! get the reply of that turn.
//!
//! Only facts decide: the body equals, byte for byte, that of a request that failed in an earlier turn,
//! and it lacks the user's message of the present turn. A user who says the same again, a retry in the same
//! turn and a turn that is taken back and asked again send a body with that message. A turn that the user
//! stops is left to [`super::stray`].

use brickbat_scenario::hash::fnv1a;
use brickbat_scenario::trace::{Ending, ExchangeId};

/// The failed requests of the thread.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    failed: Vec<FailedRequest>,
}

/// A request without a complete reply.
#[derive(Debug)]
struct FailedRequest {
    exchange: ExchangeId,
    turn: usize,
    n_bytes: usize,
    hash: u64,
}

impl Repeats {
    /// Notes a request of the thread in a turn, and how its reply ends.
    pub(super) fn answered(&mut self, exchange: ExchangeId, turn: usize, body: &[u8], ending: Ending) {
        if ending != Ending::Complete {
            let (n_bytes, hash) = (body.len(), fnv1a(body));
            self.failed.push(FailedRequest { exchange, turn, n_bytes, hash });
        }
    }

    /// The failed request of an earlier turn with this body, if there is one: the last of them.
    pub(super) fn earlier(&self, turn: usize, body: &[u8]) -> Option<ExchangeId> {
        let mut of_size =
            self.failed.iter().rev().filter(|failed| failed.turn < turn && failed.n_bytes == body.len());
        let is_it = |failed: &&FailedRequest| failed.hash == fnv1a(body);
        of_size.find(is_it).map(|failed| failed.exchange)
    }
}
