//! Where thinking blocks must and must not stand, and whether they are what the provider wrote.
//!
//! Whether thinking is enabled may stand behind the messages, so what depends on it waits for the end. Signatures are
//! known only to a provider that remembers what it issued; without a memory only an empty one is known to be wrong.

use super::super::Memory;
use super::super::violation::{Breach, Breaches, MAX_VIOLATIONS};
use super::block::{Block, Field, Kind, Role};
use super::table::*;
use super::turns::{Seen, Turn};
use crate::json::Json;

/// The facts about thinking.
pub(super) struct Thinking<'a> {
    _memory: &'a Memory,
    /// The first blocks of replies that think later, as many as are reported.
    misplaced: Vec<(Seen, &'static str)>,
    tool_loop: Option<ToolLoop>,
}

/// The run of calls and results at the end of the history. Only its beginning needs thinking, since without
/// interleaving the model thinks once; so one thinking turn in the loop is enough.
struct ToolLoop {
    /// Whether a reply of it starts with thinking.
    thinks: bool,
    /// The first block of its last reply.
    last_reply: Option<Seen>,
}

impl<'a> Thinking<'a> {
    pub(super) fn new(memory: &'a Memory) -> Thinking<'a> {
        Thinking { _memory: memory, misplaced: Vec::new(), tool_loop: None }
    }

    /// Takes a thinking block of the assistant.
    pub(super) fn thought(&mut self, block: &Block<'_, 'a>, out: &mut Breaches) {
        if block.kind == Kind::Thinking && block.get(Field::Signature).is_some_and(Json::is_empty_str) {
            out.add(&SIGNATURE_INVALID, || {
                Breach::at(format!("{}/signature", block.place.pointer())).with("path", block.place.path())
            });
        }
    }

    /// A reply is over.
    pub(super) fn reply(&mut self, turn: &Turn) {
        let Some(first) = turn.first_block().filter(|first| !first.kind.is_thought()) else { return };
        if let (Some(_), Some(found)) = (turn.thought, first.kind.name())
            && self.misplaced.len() < MAX_VIOLATIONS
        {
            self.misplaced.push((first, found));
        }
    }

    /// The user has spoken after the turn before: with results the loop goes on, with anything else it is over.
    pub(super) fn user_spoke(&mut self, turn: &Turn, before: Option<&Turn>) {
        let answers = turn.first_block().is_some_and(|first| first.kind == Kind::ToolResult);
        let Some(reply) = before.filter(|before| answers && before.role == Role::Assistant) else {
            return self.loop_ends();
        };
        let first = reply.first_block();
        let tool_loop = self.tool_loop.get_or_insert(ToolLoop { thinks: false, last_reply: None });
        tool_loop.thinks |= first.is_none_or(|first| first.kind.is_thought());
        tool_loop.last_reply = first;
    }

    /// Something else than a call or a result has come.
    pub(super) fn loop_ends(&mut self) {
        self.tool_loop = None;
    }

    /// The conversation is over.
    pub(super) fn finish(&self, last: &Turn, body: Json, out: &mut Breaches) {
        let thinking = body.field("thinking").field("type");
        if thinking.is("enabled") {
            self.check_tool_loop(last, out);
            for (seen, found) in &self.misplaced {
                out.add(&THINKING_NOT_FIRST, || {
                    let breach = Breach::at(seen.place.pointer()).with("path", seen.place.path());
                    breach.with("found", found)
                });
            }
            let choice = body.field("tool_choice").field("type");
            if choice.is("any") || choice.is("tool") {
                out.add(&THINKING_WITH_FORCED_TOOL, || Breach::at("/tool_choice"));
            }
        } else if thinking.is("disabled")
            && last.role == Role::Assistant
            && let Some(place) = last.thought
        {
            out.add(&THINKING_WHEN_DISABLED, || Breach::at(place.pointer()).with("path", place.path()));
        }
        // Without the field, or adaptive, the model decides.
    }

    fn check_tool_loop(&self, last: &Turn, out: &mut Breaches) {
        let unthinking = self.tool_loop.as_ref().filter(|it| !it.thinks && last.role == Role::User);
        let Some(first) = unthinking.and_then(|it| it.last_reply) else { return };
        let Some(found) = first.kind.name() else { return };
        out.add(&THINKING_MISSING, || {
            Breach::at(first.place.pointer()).with("path", first.place.path()).with("found", found)
        });
    }
}
