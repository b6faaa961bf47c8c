//! The last checks: the shape of thinking, and how the conversation may end.
//!
//! Signatures, and whether a thinking block is the one that the provider wrote, need the provider's memory and are
//! not judged here.

use super::super::profile::{AnthropicSwitches, ModelVersion};
use super::super::violation::{Breach, Breaches};
use super::history::{Block, History, Kind, Role, Turn};
use super::table::*;
use crate::json::Json;

/// Checks where thinking blocks must and must not stand.
pub(super) fn check_thinking(body: &Json, history: &History, out: &mut Breaches) {
    match body["thinking"]["type"].as_str() {
        Some("enabled") => {
            check_tool_loop_starts_with_thinking(history, out);
            check_thinking_comes_first(history, out);
        }
        Some("disabled") => check_no_final_thinking(history, out),
        // Without the field, or adaptive, the model decides.
        _ => {}
    }
}

/// Checks that the model can go on from the last message.
pub(super) fn check_final_message(
    switches: &AnthropicSwitches,
    body: &Json,
    history: &History,
    out: &mut Breaches,
) {
    let Some(turn) = history.turns.last().filter(|turn| turn.role == Role::Assistant) else { return };
    let Some(version) = body.get("model").and_then(Json::as_str).and_then(ModelVersion::of_claude) else {
        return;
    };
    let last = history.blocks_of(turn).last();
    if version >= switches.first_without_prefill {
        // A reply that paused in a server tool is sent back as it is, to be continued.
        if matches!(last, Some(Block { kind: Kind::ServerUse | Kind::ServerResult | Kind::Other, .. })) {
            return;
        }
        out.add(&PREFILL_NOT_SUPPORTED, || {
            Breach::at(
                format!("/messages/{}", turn.first),
                "This model does not support assistant message prefill. The conversation must end with a user \
                 message."
                    .to_owned(),
            )
        });
    } else if let Some(block @ Block { kind: Kind::Text(text), .. }) = last
        && text.ends_with(char::is_whitespace)
    {
        out.add(&FINAL_TEXT_TRAILING_SPACE, || {
            Breach::at(
                block.pointer(),
                "messages: final assistant content cannot end with trailing whitespace".to_owned(),
            )
        });
    }
}

/// A tool loop is the run of calls and results at the end of the history. Only its beginning needs thinking, since
/// without interleaving the model thinks once; so one thinking turn in the loop is enough.
fn check_tool_loop_starts_with_thinking(history: &History, out: &mut Breaches) {
    let turns = &history.turns;
    let is_results = |turn: &Turn| {
        turn.role == Role::User
            && matches!(history.blocks_of(turn).first(), Some(Block { kind: Kind::ToolResult(_), .. }))
    };
    let mut rest = turns.as_slice();
    let mut last_reply = None;
    while let [before @ .., reply, results] = rest
        && reply.role == Role::Assistant
        && is_results(results)
    {
        let Some(first) = history.blocks_of(reply).first() else { return };
        if first.kind == Kind::Thinking {
            return;
        }
        last_reply = last_reply.or(Some(first));
        rest = before;
    }
    let Some(block) = last_reply else { return };
    let Some(found) = tag(block) else { return };
    out.add(&THINKING_MISSING, || {
        Breach::at(
            block.pointer(),
            format!(
                "{}.type: Expected `thinking` or `redacted_thinking`, but found `{found}`. When `thinking` is \
                 enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set \
                 of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous \
                 turns. To avoid this requirement, disable `thinking`. Please consult our documentation at \
                 https://docs.claude.com/en/docs/build-with-claude/extended-thinking",
                block.path()
            ),
        )
    });
}

fn check_thinking_comes_first(history: &History, out: &mut Breaches) {
    for turn in history.turns.iter().filter(|turn| turn.role == Role::Assistant) {
        let blocks = history.blocks_of(turn);
        let Some(first) = blocks.first() else { continue };
        let Some(found) = tag(first) else { continue };
        if blocks.iter().any(|block| block.kind == Kind::Thinking) {
            out.add(&THINKING_NOT_FIRST, || {
                Breach::at(
                    first.pointer(),
                    format!(
                        "{}: If an assistant message contains any thinking blocks, the first block must be \
                         `thinking` or `redacted_thinking`. Found `{found}`.",
                        first.path()
                    ),
                )
            });
        }
    }
}

fn check_no_final_thinking(history: &History, out: &mut Breaches) {
    let Some(turn) = history.turns.last().filter(|turn| turn.role == Role::Assistant) else { return };
    let Some(block) = history.blocks_of(turn).iter().find(|block| block.kind == Kind::Thinking) else {
        return;
    };
    out.add(&THINKING_WHEN_DISABLED, || {
        Breach::at(
            block.pointer(),
            format!(
                "{}: When thinking is disabled, an `assistant` message in the final position cannot contain \
                 `thinking`. To use thinking blocks, enable `thinking` in your request.",
                block.path()
            ),
        )
    });
}

/// The type of a block that was seen to be named in a refusal. Others pass.
fn tag(block: &Block) -> Option<&'static str> {
    match block.kind {
        Kind::Text(_) => Some("text"),
        Kind::ToolUse(_) => Some("tool_use"),
        _ => None,
    }
}
