//! Thinking that DeepSeek and Moonshot want back with every call, in their endpoints for this dialect.

use super::block::BlockPosition;
use super::role_turn::RoleTurn;
use crate::json::Json;
use crate::{MAX_VIOLATIONS, Occurrence, Rule, Violations};

/// The demand that calls come back with the thinking before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReturnedThinking {
    /// Only Anthropic's own rules apply.
    Free,
    /// Every reply with a call has thinking, if the model thinks.
    WithCalls,
    /// Every reply with a call has thinking, if the request enables it. A request without the field is accepted
    /// (<https://github.com/NousResearch/hermes-agent/pull/13826>).
    WithCallsIfEnabled,
}

/// The calls of replies without thinking, up to the maximum that is reported.
#[derive(Debug, Default)]
pub(super) struct Unthinking {
    calls: Vec<BlockPosition>,
}

impl Unthinking {
    /// Ends a reply.
    pub(super) fn reply(&mut self, turn: &RoleTurn) {
        if turn.thought.is_none() && self.calls.len() < MAX_VIOLATIONS {
            self.calls.extend(turn.called);
        }
    }

    pub(super) fn finish(&self, asked: ReturnedThinking, body: Json, out: &mut Violations) {
        let thinks = match asked {
            ReturnedThinking::Free => Some(false),
            ReturnedThinking::WithCalls => thinks(body),
            ReturnedThinking::WithCallsIfEnabled => Some(body.field("thinking").field("type").is("enabled")),
        };
        for call in &self.calls {
            let violation = || Occurrence::at(call.pointer()).with("n", call.message);
            match thinks {
                Some(true) => out.add(&THINKING_NOT_RETURNED, violation),
                Some(false) => {}
                None => out.warn(&THINKING_NOT_RETURNED, violation),
            }
        }
    }
}

/// Returns whether DeepSeek thinks. `None` if that is not known.
///
/// It does by default (<https://api-docs.deepseek.com/guides/thinking_mode.md>), and it takes the names of Claude for those of
/// its own models (<https://api-docs.deepseek.com/guides/anthropic_api>). A request without `thinking` was seen to be
/// refused (<https://github.com/farion1231/cc-switch/issues/3222>).
fn thinks(body: Json) -> Option<bool> {
    const THINKERS: [&str; 5] =
        ["deepseek-v4", "deepseek-flash", "deepseek-pro", "deepseek-reasoner", "claude-"];
    let mode = body.field("thinking").field("type");
    if mode.is_str() {
        return Some(!mode.is("disabled"));
    }
    let model = body.field("model").as_str()?;
    match THINKERS.iter().any(|name| model.contains(name)) {
        true => Some(true),
        false if model.contains("deepseek-chat") => Some(false),
        false => None,
    }
}

pub(crate) static THINKING_NOT_RETURNED: Rule = Rule {
    summary: "With thinking on, every reply with a call brings back its thinking.",
    why: "A reply with a call came back without its thinking block. Keep the block with the call, even when its text is \
         empty; where it is lost, one with a space will do, or `thinking: {type: disabled}` for the request.",
    sentences: &["The `content[].thinking` in the thinking mode must be passed back to the API."],
    is_optional: true,
    sources: &[
        "https://github.com/farion1231/cc-switch/issues/3222",
        "https://github.com/NousResearch/hermes-agent/issues/16748",
        "https://github.com/BenedictKing/ccx/issues/279",
        "https://github.com/OEvortex/aether/issues/31",
        "https://github.com/borawong/AiMaMi/issues/10",
        "https://github.com/YishenTu/claudian/issues/759",
        "https://github.com/openclaw/openclaw/issues/70565",
    ],
    ..Rule::measured("anthropic-messages/thinking-not-returned", "DS-TH-1", 13, "2026-04")
};
