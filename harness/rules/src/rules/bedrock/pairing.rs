//! Turns and calls: user and assistant alternate, and every call has its result in the next message.

use hashbrown::HashSet;

use super::super::ids::Ids;
use super::super::violation::{Breach, Breaches};
use super::table::*;
use super::{Kind, Message, Role};
use crate::json::Json;

/// What the next message is judged by.
#[derive(Debug, Default)]
pub(super) struct Pairing<'a> {
    role: Option<Role>,
    /// The calls of the message before, with their places in its content.
    calls: Ids<'a>,
    places: Vec<usize>,
    /// The results of the message at hand.
    results: Ids<'a>,
    /// The first block of a call or of a result.
    first_tool_block: Option<(usize, usize)>,
}

impl<'a> Pairing<'a> {
    /// Takes the next message.
    pub(super) fn message(&mut self, message: Message<'_, '_, 'a>, out: &mut Breaches) {
        let (n, role) = (message.n, message.role);
        if role.is_some() && self.role == role {
            out.add(&ROLES_NOT_ALTERNATING, || Breach::at(format!("/messages/{n}")));
        }
        self.take_results(message, out);
        self.check_results(n, out);
        self.role = role;
        self.take_calls(message, out);
    }

    /// Judges the whole by the fields around the messages. The last message may end with calls: nothing is known to
    /// be refused before the model is asked.
    pub(super) fn finish(&self, body: Json, out: &mut Breaches) {
        if let Some((n, b)) = self.first_tool_block
            && !body.field("toolConfig").is_object()
        {
            out.add(&TOOL_CONFIG_MISSING, || Breach::at(format!("/messages/{n}/content/{b}")));
        }
    }

    /// Takes the results of a message, each id once. Those that come twice are refused.
    fn take_results(&mut self, message: Message<'_, '_, 'a>, out: &mut Breaches) {
        self.results.clear();
        let (n, mut twice) = (message.n, Twice::default());
        for (b, block) in
            message.blocks.iter().enumerate().filter(|(_, block)| block.kind == Kind::ToolResult)
        {
            self.first_tool_block.get_or_insert((n, b));
            let Some(id) = message.id(block).filter(|_| message.role == Some(Role::User)) else { continue };
            if let Err(known) = self.results.insert(id) {
                twice.take(b, known);
            }
        }
        if let Some((b, ids)) = twice.found(&self.results) {
            out.add(&TOOL_RESULT_DUPLICATE, || {
                Breach::at(format!("/messages/{n}/content/{b}")).with("n", n).with("ids", ids)
            });
        }
    }

    fn check_results(&self, n: usize, out: &mut Breaches) {
        let results = &self.results;
        if results.len() > self.calls.len() {
            out.add(&TOOL_RESULTS_EXCEED, || Breach::at(format!("/messages/{n}/content")).with("n", n));
        }
        let missing = || self.calls.iter().zip(&self.places).filter(|(id, _)| results.find(id).is_none());
        let Some((_, b)) = missing().next() else { return };
        out.add(&TOOL_RESULT_MISSING, || {
            let ids: Vec<&str> = missing().map(|(id, _)| id).collect();
            let breach = Breach::at(format!("/messages/{}/content/{b}", n.saturating_sub(1)));
            breach.with("n", n).with("ids", ids.join(", "))
        });
    }

    fn take_calls(&mut self, message: Message<'_, '_, 'a>, out: &mut Breaches) {
        self.calls.clear();
        self.places.clear();
        let (n, mut twice) = (message.n, Twice::default());
        for (b, block) in message.blocks.iter().enumerate().filter(|(_, block)| block.kind == Kind::ToolUse) {
            self.first_tool_block.get_or_insert((n, b));
            let Some(id) = message.id(block).filter(|_| message.role == Some(Role::Assistant)) else {
                continue;
            };
            match self.calls.insert(id) {
                Ok(_) => self.places.push(b),
                Err(known) => twice.take(b, known),
            }
        }
        if let Some((b, ids)) = twice.found(&self.calls) {
            out.add(&TOOL_USE_ID_DUPLICATE, || {
                Breach::at(format!("/messages/{n}/content/{b}")).with("n", n).with("ids", ids)
            });
        }
    }
}

/// Ids that a message has more than once, by their places among all of its ids.
#[derive(Debug, Default)]
struct Twice {
    ids: Vec<usize>,
    first: Option<usize>,
}

impl Twice {
    /// Takes a repetition; `b` is the block in which it is.
    fn take(&mut self, b: usize, id: usize) {
        self.first.get_or_insert(b);
        self.ids.push(id);
    }

    /// The place of the first repetition, and the ids, each named once, in the order in which they were repeated.
    fn found(self, all: &Ids<'_>) -> Option<(usize, String)> {
        let first = self.first?;
        let mut named = HashSet::new();
        let ids: Vec<&str> =
            self.ids.into_iter().filter(|id| named.insert(*id)).map(|id| all.get(id)).collect();
        Some((first, ids.join(", ")))
    }
}
