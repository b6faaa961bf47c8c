//! The edits that repair a session.

use crate::Place;

/// One edit to a session. Places refer to [`Session::messages`](crate::Session::messages) and
/// [`Session::off_branch`](crate::Session::off_branch).
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Moves a result that was recorded elsewhere to the place where the provider expects it: directly after
    /// the message with its call.
    Move {
        /// The result, on the branch or off it.
        result: Place,
        /// The call that it answers.
        call: Place,
        /// The id of the call.
        id: String,
    },
    /// Adds a result to a call that has none, with the text [`NOT_RECORDED`](crate::NOT_RECORDED), as an
    /// error where the store can express that. If the store shows that the call was declined or never
    /// approved, the result states that instead.
    Synthesise {
        /// The call.
        call: Place,
        /// The id of the call.
        id: String,
    },
    /// Removes a block: the second of two identical results, a result without a call, or a text of only white
    /// space.
    Drop {
        /// The block to remove.
        block: Place,
    },
    /// Removes a line or a range that cannot be read.
    Discard {
        /// The place of the [`Trouble`](crate::Trouble).
        place: Place,
    },
    /// Removes everything after this block's message from the branch.
    Truncate {
        /// The last block to keep.
        last: Place,
    },
}

impl Edit {
    /// The place that it changes.
    pub(crate) fn place(&self) -> Place {
        match self {
            Edit::Move { result: place, .. }
            | Edit::Synthesise { call: place, .. }
            | Edit::Drop { block: place }
            | Edit::Discard { place }
            | Edit::Truncate { last: place } => place.clone(),
        }
    }
}
