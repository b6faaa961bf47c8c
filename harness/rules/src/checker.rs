//! The interface between a profile and the dialect that judges its requests.

use crate::json::Json;
use crate::{Memory, Profile, Violations};

/// Differences between the profiles of a dialect beyond the choice of rules.
pub(crate) trait Switches: std::fmt::Debug + Sync {
    /// Creates the checker of one request for a profile with these switches.
    fn checker<'a>(&'static self, profile: &'static Profile, memory: &'a Memory)
    -> Box<dyn Checker<'a> + 'a>;
}

/// Judges one request message by message, while a long history is read.
///
/// A checker keeps no messages, only the facts that later messages depend on.
pub(crate) trait Checker<'a> {
    /// Sets the model in the path before the first message, for dialects in which the body does not name it.
    fn model(&mut self, _model: &'a str) {}

    /// Checks the next message; `n` is its index. Reports violations in the message, and between it and
    /// earlier messages, at once.
    fn message(&mut self, n: usize, message: Json<'_, 'a>, out: &mut Violations);

    /// Checks all other fields of the body after the last message, because `messages` may be the first
    /// field.
    ///
    /// `body` can be any JSON value; the items of the list are left out. `n_messages` is `None` if the
    /// body has no list.
    fn finish(&mut self, body: Json<'_, 'a>, n_messages: Option<usize>, out: &mut Violations);
}
