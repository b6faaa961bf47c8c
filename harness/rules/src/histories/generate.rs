//! A generator of conversations: valid ones, and ones that are broken in one known way.
//!
//! An [`Outline`] describes the events in a conversation, its dialect, and its [`Fault`], if any.
//! [`Outline::history`] writes the conversation. All choices come from a source that the caller passes in, so
//! the same bytes or the same seed produce the same conversation: [`Seeded`] for long loops, `arbitrary` for
//! fuzz targets, and `strategy` for property tests. Shrinking works on the outline: it removes turns, calls
//! and odd blocks, and keeps the fault.
//!
//! The table of [`Fault`] lists which dialects reject which fault. A fault is drawn only for a dialect whose newest
//! profile rejects it. The text of users and tools is invented and comes from no session store.

mod choices;
mod draft;
mod draw;
mod fault;
mod ids;
mod outline;
mod plant;
mod simpler;
#[cfg(any(test, feature = "histories-proptest"))]
pub mod strategy;
#[cfg(test)]
mod tests;
mod words;

use super::{Block, Message, Rendered, Role, render};
use crate::Dialect;

pub use choices::{Choices, Seeded};
pub use fault::{Fault, Mending};
pub use outline::{DIALECTS, Outline};

/// A conversation, and the known facts about it.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The dialect in which it is valid or broken.
    pub dialect: Dialect,
    /// The model of the request, one for which the dialect is strict.
    pub model: &'static str,
    /// The conversation.
    pub messages: Vec<Message>,
    /// Its fault. `None` if it is valid.
    pub fault: Option<Fault>,
    /// The blocks that a repair may remove, as the message and the index in it: copies, and blocks without
    /// content.
    pub surplus: Vec<(usize, usize)>,
    /// The contradictory blocks: the conversation does not show which one is correct. None of them may be
    /// lost.
    pub at_stake: Vec<(usize, usize)>,
}

/// The user text that represents the next turn.
const NEXT: &str = "Go on.";

impl History {
    /// The request in which the user continues the conversation.
    pub fn request(&self) -> Rendered {
        if self.messages.last().is_some_and(|last| last.role == Role::User) {
            return render(self.dialect, Some(self.model), &self.messages);
        }
        let next = Message::text(Role::User, NEXT);
        let messages: Vec<Message> = self.messages.iter().cloned().chain([next]).collect();
        render(self.dialect, Some(self.model), &messages)
    }

    /// Every block that must still exist after a repair, at any position.
    pub fn must_stay(&self) -> impl Iterator<Item = &Block> {
        let blocks = self.messages.iter().enumerate().flat_map(|(n, message)| {
            message.blocks.iter().enumerate().map(move |(block, content)| ((n, block), content))
        });
        blocks.filter(|(place, _)| !self.surplus.contains(place)).map(|(_, content)| content)
    }
}
