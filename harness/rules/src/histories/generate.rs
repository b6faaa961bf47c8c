//! A generator of conversations: sound ones, and such as are broken in one known way.
//!
//! An [`Outline`] says what happens in a conversation, in which dialect, and which [`Fault`] it has, if any;
//! [`Outline::history`] writes it out. All choices come from a source that is given, so the same bytes or the same seed
//! make the same conversation: [`Seeded`] for long loops, `arbitrary` for fuzz targets, and `strategy` for property
//! tests. What is made smaller is the outline: it loses turns, calls and odd blocks, and keeps its fault.
//!
//! Which fault which dialect refuses is the table of [`Fault`]: a fault is only drawn for a dialect whose newest profile
//! refuses it. Text of users and tools is invented, and of no store.

mod choices;
mod draft;
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

/// A conversation, and what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The dialect for which it is sound or broken.
    pub dialect: Dialect,
    /// The model that is asked. It is one on which the dialect is strict.
    pub model: &'static str,
    /// The conversation.
    pub messages: Vec<Message>,
    /// What is wrong with it; nothing if it is sound.
    pub fault: Option<Fault>,
    /// The blocks that a repair may take out, as the message and the index in it: copies, and what says nothing.
    pub surplus: Vec<(usize, usize)>,
    /// The blocks between which the conversation does not show what is true. None of them may be lost.
    pub at_stake: Vec<(usize, usize)>,
}

/// Words of the user that stand for the next turn.
const NEXT: &str = "Go on.";

impl History {
    /// The request in which the user goes on with the conversation.
    pub fn request(&self) -> Rendered {
        if self.messages.last().is_some_and(|last| last.role == Role::User) {
            return render(self.dialect, Some(self.model), &self.messages);
        }
        let next = Message::text(Role::User, NEXT);
        let messages: Vec<Message> = self.messages.iter().cloned().chain([next]).collect();
        render(self.dialect, Some(self.model), &messages)
    }

    /// Every block that has to be there after a repair, wherever it then stands.
    pub fn must_stay(&self) -> impl Iterator<Item = &Block> {
        let blocks = self.messages.iter().enumerate().flat_map(|(n, message)| {
            message.blocks.iter().enumerate().map(move |(block, content)| ((n, block), content))
        });
        blocks.filter(|(place, _)| !self.surplus.contains(place)).map(|(_, content)| content)
    }
}
