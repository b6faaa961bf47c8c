//! The state while a conversation is read: the current turn, the turn before it, and the facts that later
//! turns are checked against.
//!
//! "Consecutive `user` or `assistant` turns in your request will be combined into a single turn" (the
//! official Python SDK, `types/message_create_params.py`), so the rules about structure apply to turns.
//! Positions keep their index in the array as sent.

use super::block::{AnthropicRole, BlockKind, ContentBlock};
use super::pairing::ToolPairing;
use super::returned::Unthinking;
use super::role_turn::{RoleTurn, SeenBlock};
use super::server_tools::ServerTools;
use super::switches::AnthropicSwitches;
use super::thinking::Thinking;
use super::{content, ending};
use crate::json::Json;
use crate::{Memory, Violations};

/// The turns so far. Only the facts that the next turn is checked against are kept.
pub(super) struct Turns<'a> {
    open: Option<RoleTurn>,
    before: Option<RoleTurn>,
    pairing: ToolPairing<'a>,
    server_tools: ServerTools<'a>,
    thinking: Thinking<'a>,
    unthinking: Unthinking,
}

impl<'a> Turns<'a> {
    pub(super) fn new(memory: &'a Memory) -> Turns<'a> {
        Turns {
            open: None,
            before: None,
            pairing: ToolPairing::default(),
            server_tools: ServerTools::default(),
            thinking: Thinking::new(memory),
            unthinking: Unthinking::default(),
        }
    }

    /// Begins a message, and a new turn if the role changes.
    pub(super) fn begin(&mut self, n: usize, role: AnthropicRole, out: &mut Violations) {
        self.thinking.begin(role);
        if role == AnthropicRole::Directive || self.open.is_some_and(|turn| turn.role == role) {
            return;
        }
        self.close(Some(role), out);
        self.open = Some(RoleTurn::new(role, n));
        if role == AnthropicRole::User {
            self.pairing.answers_begin(n);
        }
    }

    pub(super) fn block(&mut self, block: &ContentBlock<'_, 'a>, out: &mut Violations) {
        self.thinking.block(block);
        let Some(turn) = &mut self.open else { return };
        let before = turn.last_block();
        let seen = SeenBlock { place: block.place, kind: block.kind };
        turn.ends = Some((turn.ends.map_or(seen, |(first, _)| first), seen));
        turn.says_more |= block.kind != BlockKind::ToolResult;
        match turn.role {
            AnthropicRole::User => self.pairing.answer(block, out),
            AnthropicRole::Assistant => {
                if block.kind.is_thought() {
                    turn.thought.get_or_insert(block.place);
                    self.thinking.thought(block, before, out);
                }
                if block.kind == BlockKind::ToolUse {
                    turn.called.get_or_insert(block.place);
                }
                self.pairing.call(block, out);
                self.server_tools.block(block, out);
            }
            AnthropicRole::System | AnthropicRole::Directive | AnthropicRole::Unknown => {}
        }
    }

    /// Ends the conversation. `body` contains the fields around it.
    pub(super) fn finish(&mut self, switches: &AnthropicSwitches, body: Json, out: &mut Violations) {
        self.close(None, out);
        let Some(last) = &self.before else { return };
        self.server_tools.check_offered(last, body, out);
        self.thinking.finish(switches, last, body, out);
        self.unthinking.finish(switches.returned_thinking, body, out);
        ending::check_final_message(switches, body, last, out);
    }

    /// Ends the turn. `next` is the role of the next turn, if there is one.
    fn close(&mut self, next: Option<AnthropicRole>, out: &mut Violations) {
        let Some(turn) = self.open.take() else { return };
        let before = self.before.replace(turn);
        content::check_turn(&turn, before.as_ref(), next, out);
        match turn.role {
            AnthropicRole::Assistant => {
                self.thinking.reply(&turn, before.as_ref(), out);
                self.unthinking.reply(&turn);
                self.server_tools.reply_ends();
                if next != Some(AnthropicRole::User) {
                    self.pairing.close(out);
                }
            }
            AnthropicRole::User => {
                self.pairing.close(out);
                self.server_tools.user_spoke(&turn, out);
                self.thinking.user_spoke(&turn, before.as_ref());
            }
            AnthropicRole::System | AnthropicRole::Directive | AnthropicRole::Unknown => {
                self.thinking.loop_ends()
            }
        }
    }
}
