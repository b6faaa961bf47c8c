//! Anthropic Messages: the rules, and the order in which they are checked.
//!
//! A live measurement of August 2026 found that one error is returned, and that the types of known fields are
//! checked first, then unknown keys, then the shape of the conversation. The order of the last is not published; ours is
//! messages, system messages, roles of blocks, ids, pairing, server tools, thinking, the final message, and the cache.

mod block;
mod cache_control;
mod content;
mod ending;
mod pairing;
mod prefix;
mod schema;
mod server_tools;
mod table;
mod thinking;
mod turns;

use serde_json::Value;

use super::judge::{Book, Judge};
use super::profile::{AnthropicSwitches, Profile, Switches};
use super::violation::{Breach, Breaches};
use super::{Keeps, Memory, Rule, Told};
use crate::json::Json;
use block::{Message, Role};
use cache_control::CacheControl;
use turns::Turns;

pub(super) use table::*;

/// The rules of Anthropic Messages.
pub(super) struct Anthropic;

impl Book for Anthropic {
    fn rules(&self) -> &'static [&'static Rule] {
        RULES
    }

    fn list(&self) -> &'static str {
        "messages"
    }

    fn bare(&self) -> &'static [u8] {
        br#"{"messages":[]}"#
    }

    fn judge<'a>(&self, profile: &'static Profile, memory: &'a Memory) -> Box<dyn Judge<'a> + 'a> {
        let Switches::AnthropicMessages(switches) = &profile.switches else {
            unreachable!("the profiles of a dialect have its switches, as a test makes sure")
        };
        Box::new(Request { switches, turns: Turns::new(memory), cache_control: CacheControl::default() })
    }

    /// A model that is not told to leave it may think.
    fn keeps(&self, request: Json) -> Keeps {
        match request.field("thinking").field("type").is("disabled") {
            true => Keeps::Nothing,
            false => Keeps::Thinking,
        }
    }

    /// A reply that was broken off may have been heard up to the end of any block.
    fn remember(&self, memory: &mut Memory, request: Json, reply: &Value, _: Told) {
        thinking::remember(&mut memory.thoughts, request, reply);
    }

    /// "The request body is not valid JSON: no low surrogate in string: line 1 column 604829 (char 604828)"
    /// (<https://github.com/anthropics/claude-code/issues/8165>). The reason before the position is our parser's.
    fn refuse_unreadable(&self, body: &[u8], error: &serde_json::Error, out: &mut Breaches) {
        let (line, column) = (error.line(), error.column());
        let before: usize =
            body.split(|byte| *byte == b'\n').take(line.saturating_sub(1)).map(|l| l.len() + 1).sum();
        let position = (before + column).saturating_sub(1);
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or(&text);
        out.add(&BODY_NOT_JSON, || {
            let breach = Breach::at("").with("reason", reason).with("line", line);
            breach.with("column", column).with("position", position)
        });
    }
}

/// A request that is being judged.
struct Request<'a> {
    switches: &'static AnthropicSwitches,
    turns: Turns<'a>,
    cache_control: CacheControl,
}

impl<'a> Judge<'a> for Request<'a> {
    fn message(&mut self, n: usize, message: Json<'_, 'a>, out: &mut Breaches) {
        let message = Message::read(message);
        let role = message.speaker();
        schema::check_message(self.switches, n, role, &message, out);
        self.turns.begin(n, role, out);
        let mut n_blocks = 0;
        message.each_block(n, |block| {
            n_blocks += 1;
            if block.place.is_written_out() {
                schema::check_block(self.switches, block, out);
                self.cache_control.block(block, out);
            }
            content::check_block(role, block, out);
            self.turns.block(block, out);
        });
        if role == Role::System {
            content::check_system_message(n, n_blocks, out);
        }
    }

    fn finish(&mut self, body: Json<'_, 'a>, n_messages: Option<usize>, out: &mut Breaches) {
        schema::check_body(body, n_messages, out);
        schema::check_tools(body, out);
        self.turns.finish(self.switches, body, out);
        self.cache_control.finish(body, out);
        // "Send only the messages since the previous response": the calls that they answer are with the provider
        // (<https://platform.claude.com/docs/en/build-with-claude/message-threads>). What it says where it has not kept
        // them is not public, so such a body is judged by what is in it alone.
        if body.field("thread").field("type").is("continue") {
            out.withdraw(&TOOL_RESULT_ORPHAN);
        }
    }
}
