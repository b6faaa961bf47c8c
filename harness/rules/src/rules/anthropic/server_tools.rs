//! Tools that the provider runs itself: their results stand in the same reply.
//!
//! A reply that calls a server tool and a client tool at once goes on after the client's results, so a user turn of
//! nothing but results does not end it
//! (<https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons>). Calls and results are matched by
//! id alone: the names of new tools and of their result blocks do not always agree. MCP has ids of its own, and no
//! refusal about its pairs was seen.

use std::borrow::Cow;

use super::super::ids::{IdHashes, Ids};
use super::super::violation::{Breach, Breaches};
use super::block::{Block, Field, Kind, Place, Role};
use super::table::*;
use super::turns::Turn;
use crate::json::Json;

/// The server tools of the reply that has not ended.
#[derive(Debug, Default)]
pub(super) struct ServerTools<'a> {
    ids: Ids<'a>,
    calls: Vec<Call<'a>>,
    n_open: usize,
    /// Every id of a server tool's call in the conversation.
    known: IdHashes,
}

#[derive(Debug)]
struct Call<'a> {
    place: Place,
    name: Cow<'a, str>,
    is_open: bool,
}

/// The tool that was seen in a refusal because it was not offered any more.
const WEB_SEARCH: &str = "web_search";

impl<'a> ServerTools<'a> {
    /// Takes a block of an assistant turn.
    pub(super) fn block(&mut self, block: &Block<'_, 'a>, out: &mut Breaches) {
        match block.kind {
            Kind::ServerUse => self.call(block),
            Kind::ServerResult => self.result(block, out),
            _ => {}
        }
    }

    /// A reply is over. Where nothing is open, nothing is kept.
    pub(super) fn reply_ends(&mut self) {
        if self.n_open == 0 {
            self.clear();
        }
    }

    /// The user has spoken; with more than results, this ends the reply.
    pub(super) fn user_spoke(&mut self, turn: &Turn, out: &mut Breaches) {
        if !turn.says_more || self.calls.is_empty() {
            return;
        }
        for (id, call) in self.open() {
            out.add(&SERVER_TOOL_RESULT_MISSING, || {
                let breach = Breach::at(call.place.pointer()).with("n", call.place.message);
                breach.with("tool", &call.name).with("id", id)
            });
        }
        self.clear();
    }

    /// Checks, when the conversation is over, that a search which the provider has still to run is offered.
    pub(super) fn check_offered(&self, last: &Turn, body: Json, out: &mut Breaches) {
        if self.n_open == 0 || !matches!(last.role, Role::Assistant | Role::User) {
            return;
        }
        let is_search = |tool: Json| tool.field("name").is(WEB_SEARCH);
        let Some((id, call)) = self.open().find(|(_, call)| call.name == WEB_SEARCH) else { return };
        if !body.field("tools").items().any(is_search) {
            out.add(&SERVER_TOOL_NOT_OFFERED, || {
                let breach = Breach::at(call.place.pointer()).with("n", call.place.message);
                breach.with("tool", &call.name).with("id", id)
            });
        }
    }

    fn call(&mut self, block: &Block<'_, 'a>) {
        let Some(id) = block.str(Field::Id) else { return };
        self.known.insert(&id);
        if self.ids.insert(id).is_ok() {
            let name = block.str(Field::Name).unwrap_or_default();
            self.calls.push(Call { place: block.place, name, is_open: true });
            self.n_open += 1;
        }
    }

    fn result(&mut self, block: &Block<'_, 'a>, out: &mut Breaches) {
        let Some(tag) = block.str(Field::Type).filter(|tag| tag != "mcp_tool_result") else {
            return;
        };
        let Some(id) = block.str(Field::ToolUseId) else { return };
        if let Some(call) = self.ids.find(&id).map(|place| &mut self.calls[place]) {
            self.n_open -= usize::from(call.is_open);
            call.is_open = false;
        } else if !self.known.contains(&id) {
            out.add(&SERVER_TOOL_RESULT_ORPHAN, || {
                let breach = Breach::at(block.place.pointer()).with("path", block.place.path());
                breach.with("type", tag).with("id", id)
            });
        }
    }

    fn open(&self) -> impl Iterator<Item = (&str, &Call<'a>)> {
        self.ids.iter().zip(&self.calls).filter(|(_, call)| call.is_open)
    }

    fn clear(&mut self) {
        self.ids.clear();
        self.calls.clear();
        self.n_open = 0;
    }
}
