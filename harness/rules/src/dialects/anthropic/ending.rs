//! The last check: how a conversation may end.

use super::block::{AnthropicRole, BlockKind, Text};
use super::role_turn::{RoleTurn, SeenBlock};
use super::switches::AnthropicSwitches;
use crate::json::Json;
use crate::{ModelVersion, Occurrence, Rule, Violations};

/// Checks that the model can continue after the last turn.
pub(super) fn check_final_message(
    switches: &AnthropicSwitches,
    body: Json,
    last: &RoleTurn,
    out: &mut Violations,
) {
    // A request for a summary sends the history as it is
    // (<https://platform.claude.com/docs/en/build-with-claude/compaction-background>). The token of a refused
    // reply lets another model continue it
    // (<https://platform.claude.com/docs/en/build-with-claude/fallback-credit>).
    let is_allowed = body.field("compaction").is_object() || !body.field("fallback_credit_token").is_null();
    if last.role != AnthropicRole::Assistant || is_allowed {
        return;
    }
    let model = body.field("model").as_str();
    let Some(version) = model.as_deref().and_then(ModelVersion::of_claude) else { return };
    let block = last.last_block();
    if version >= switches.first_without_prefill {
        // A reply that paused in a server tool is sent back unchanged, to be continued.
        let is_paused = |block: SeenBlock| {
            matches!(
                block.kind,
                BlockKind::ServerUse | BlockKind::McpUse | BlockKind::ServerResult | BlockKind::Other
            )
        };
        if !block.is_some_and(is_paused) {
            out.add(&PREFILL_NOT_SUPPORTED, || Occurrence::at(format!("/messages/{}", last.first)));
        }
    } else if let Some(SeenBlock { place, kind: BlockKind::Text(Text::Ragged | Text::Blank) }) = block {
        out.add(&FINAL_TEXT_TRAILING_SPACE, || Occurrence::at(place.pointer()));
    }
}

pub(crate) static FINAL_TEXT_TRAILING_SPACE: Rule = Rule {
    summary: "A prefill does not end with white space.",
    why: "The last message is the beginning of a reply and ends with white space. Trim its end, or end \
         with a user message.",
    sentences: &["messages: final assistant content cannot end with trailing whitespace"],
    sources: &["https://github.com/anomalyco/opencode/issues/1295"],
    ..Rule::measured("anthropic-messages/final-text-trailing-space", "ANT-FIN-1", 14, "2025-07")
};

pub(crate) static PREFILL_NOT_SUPPORTED: Rule = Rule {
    summary: "On newer models the conversation ends with a user message.",
    why: "The history ends with an assistant message, often a reply that was interrupted, and this model \
         does not continue one. Add a user message.",
    sentences: &[
        "This model does not support assistant message prefill. The conversation must end with a user \
         message.",
    ],
    sources: &[
        "https://github.com/cortexkit/magic-context/issues/511",
        "https://github.com/Coneja-Chibi/TunnelVision/issues/5",
    ],
    ..Rule::measured("anthropic-messages/prefill-not-supported", "ANT-FIN-2", 14, "2026-03")
};
