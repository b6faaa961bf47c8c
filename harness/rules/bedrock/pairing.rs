//! Turns and calls: user and assistant alternate, and every call has its result in the next message.

use std::borrow::Cow;

use super::super::ids::Ids;
use super::super::violation::{Breach, Breaches};
use super::table::*;
use super::{Block, Role, blocks};
use crate::json::Json;

/// What the next message is judged by.
#[derive(Debug, Default)]
pub(super) struct Pairing<'a> {
    role: Option<Role>,
    /// The calls of the message before, with their places in its content.
    calls: Ids<'a>,
    places: Vec<usize>,
    /// The first block of a call or of a result.
    first_tool_block: Option<(usize, usize)>,
}

impl<'a> Pairing<'a> {
    /// Takes the next message.
    pub(super) fn message(
        &mut self,
        n: usize,
        role: Option<Role>,
        message: Json<'_, 'a>,
        out: &mut Breaches,
    ) {
        if role.is_some() && self.role == role {
            out.add(&ROLES_NOT_ALTERNATING, || Breach::at(format!("/messages/{n}")));
        }
        let results = self.results(n, role, message, out);
        self.check_results(n, &results, out);
        self.role = role;
        self.take_calls(n, role, message, out);
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

    /// The results of a message, each id once, with those that come twice refused.
    fn results(
        &mut self,
        n: usize,
        role: Option<Role>,
        message: Json<'_, 'a>,
        out: &mut Breaches,
    ) -> Ids<'a> {
        let mut results = Ids::default();
        let mut twice = Twice::default();
        for (b, block) in blocks(message).enumerate() {
            let Block::ToolResult(result) = block else { continue };
            self.first_tool_block.get_or_insert((n, b));
            let Some(id) = result.field("toolUseId").as_str().filter(|_| role == Some(Role::User)) else {
                continue;
            };
            if results.insert(id.clone()).is_err() {
                twice.take(b, id);
            }
        }
        if let Some((b, ids)) = twice.found() {
            out.add(&TOOL_RESULT_DUPLICATE, || {
                Breach::at(format!("/messages/{n}/content/{b}")).with("n", n).with("ids", ids)
            });
        }
        results
    }

    fn check_results(&self, n: usize, results: &Ids<'a>, out: &mut Breaches) {
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

    fn take_calls(&mut self, n: usize, role: Option<Role>, message: Json<'_, 'a>, out: &mut Breaches) {
        self.calls.clear();
        self.places.clear();
        let mut twice = Twice::default();
        for (b, block) in blocks(message).enumerate() {
            let Block::ToolUse(call) = block else { continue };
            self.first_tool_block.get_or_insert((n, b));
            let Some(id) = call.field("toolUseId").as_str().filter(|_| role == Some(Role::Assistant)) else {
                continue;
            };
            match self.calls.insert(id.clone()) {
                Ok(_) => self.places.push(b),
                Err(_) => twice.take(b, id),
            }
        }
        if let Some((b, ids)) = twice.found() {
            out.add(&TOOL_USE_ID_DUPLICATE, || {
                Breach::at(format!("/messages/{n}/content/{b}")).with("n", n).with("ids", ids)
            });
        }
    }
}

/// Ids that a message has more than once, each named once.
#[derive(Debug, Default)]
struct Twice<'a> {
    ids: Ids<'a>,
    first: Option<usize>,
}

impl<'a> Twice<'a> {
    fn take(&mut self, b: usize, id: Cow<'a, str>) {
        self.first.get_or_insert(b);
        // An id that comes a third time is named already.
        let _ = self.ids.insert(id);
    }

    /// The place of the first repetition, and the ids.
    fn found(&self) -> Option<(usize, String)> {
        Some((self.first?, self.ids.iter().collect::<Vec<_>>().join(", ")))
    }
}
