//! Server tools: the provider runs them itself, and call and result stand in one reply.

use super::super::super::{Confidence, Rule};

/// "`web_search` tool use with id `srvtoolu_01HxbWnMRmbWyMfUtJKC45rA` was found without a corresponding
/// `web_search_tool_result` block"
/// (<https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons>).
pub(in crate::rules) static SERVER_TOOL_RESULT_MISSING: Rule = Rule {
    id: "anthropic-messages/server-tool-result-missing",
    alias: "ANT-SRV-1",
    summary: "A server tool has its result in the same reply, once the user has gone on.",
    why: "The stream ended between the call of a server tool and its result, or the user wrote something before the tool had run. Drop the call, or send only the results of the other tools first.",
    sentences: &[
        "messages.{n}: `{tool}` tool use with id `{id}` was found without a corresponding `{tool}_tool_result` block",
    ],
    status: 400,
    phase: 12,
    is_optional: false,
    since: "2025-10",
    confidence: Confidence::Measured,
    sources: &["https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons"],
};

/// "messages.25.content.0: unexpected `tool_use_id` found in `advisor_tool_result` blocks: srvtoolu_…. Each
/// `advisor_tool_result` block must have a corresponding `server_tool_use` block before it."
/// (<https://github.com/anthropics/claude-code/issues/80439>).
pub(in crate::rules) static SERVER_TOOL_RESULT_ORPHAN: Rule = Rule {
    id: "anthropic-messages/server-tool-result-orphan",
    alias: "ANT-SRV-2",
    summary: "The result of a server tool stands after its call.",
    why: "The call of this server tool is gone, often because a compaction cut between the two blocks of one reply. Keep both or drop both.",
    sentences: &[
        "{path}: unexpected `tool_use_id` found in `{type}` blocks: {id}. Each `{type}` block must have a corresponding `server_tool_use` block before it.",
    ],
    status: 400,
    phase: 12,
    is_optional: false,
    since: "2026-07",
    confidence: Confidence::Measured,
    sources: &["https://github.com/anthropics/claude-code/issues/80439"],
};

/// "… but no `web_search` tool was provided": only the end of the sentence is public
/// (<https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons>).
pub(in crate::rules) static SERVER_TOOL_NOT_OFFERED: Rule = Rule {
    id: "anthropic-messages/server-tool-not-offered",
    alias: "ANT-SRV-4",
    summary: "A search that the provider has still to run is among the offered tools.",
    why: "A reply that paused in a search is sent back to be continued, but the request does not offer the search any more. Offer the same tools as before.",
    sentences: &["messages.{n}: … but no `{tool}` tool was provided"],
    status: 400,
    phase: 12,
    is_optional: false,
    since: "2026-01",
    confidence: Confidence::Inferred,
    sources: &["https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons"],
};
