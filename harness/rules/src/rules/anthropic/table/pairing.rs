//! Calls and results: every call is answered once, directly after, and every answer has its call.

use super::super::super::{Confidence, Rule};

/// "messages.43.content.2: `tool_use` ids must be unique"
/// (<https://github.com/anthropics/claude-code/issues/28515>).
pub(in crate::rules) static TOOL_USE_ID_DUPLICATE: Rule = Rule {
    id: "anthropic-messages/tool-use-id-duplicate",
    alias: "ANT-TU-2",
    summary: "The calls of one assistant turn have different ids.",
    why: "Two calls of one turn have the same id, often because a retry or a second writer stored the \
         reply twice. Drop the copy, or give one call and its result another id.",
    sentences: &["{path}: `tool_use` ids must be unique"],
    status: 400,
    phase: 8,
    is_optional: false,
    since: "2026-01",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/anthropics/claude-code/issues/28515",
        "https://github.com/anthropics/claude-code/issues/21036",
        "https://github.com/BerriAI/litellm/issues/23510",
    ],
};

/// "`tool_use` ids must be unique"
/// (<https://github.com/cortexkit/magic-context/issues/178>).
pub(in crate::rules) static TOOL_USE_ID_REUSED: Rule = Rule {
    id: "anthropic-messages/tool-use-id-reused",
    alias: "ANT-TU-2b",
    summary: "Calls of different turns have different ids.",
    why: "A later turn uses the id of an earlier call again; several authors report a refusal, but models \
         that number their calls per turn work. Give every call of a thread its own id.",
    sentences: &["{path}: `tool_use` ids must be unique"],
    status: 400,
    phase: 8,
    is_optional: false,
    since: "2026-01",
    confidence: Confidence::Secondary,
    sources: &[
        "https://github.com/cortexkit/magic-context/issues/178",
        "https://github.com/sipeed/picoclaw/pull/2528",
    ],
};

/// "messages.5: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_…. Each
/// `tool_use` block must have a corresponding `tool_result` block in the next message."
/// (<https://github.com/anthropics/claude-code/issues/3512>).
pub(in crate::rules) static TOOL_RESULT_MISSING: Rule = Rule {
    id: "anthropic-messages/tool-result-missing",
    alias: "ANT-TU-1",
    summary: "Every call is answered in the next message.",
    why: "The turn ended before all tools of a batch had answered, and the calls without answer were \
         stored. Add a result that says what happened for each of them directly after, or drop those \
         calls.",
    sentences: &[UNANSWERED],
    status: 400,
    phase: 9,
    is_optional: false,
    since: "2025-03",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/anthropics/claude-code/issues/3512",
        "https://github.com/anthropics/claude-code/issues/1686",
        "https://github.com/anthropics/claude-code/issues/12526",
    ],
};

/// "`tool_use` ids were found without `tool_result` blocks immediately after"
/// (<https://github.com/anomalyco/opencode/pull/16751>).
pub(in crate::rules) static TEXT_AFTER_TOOL_USE: Rule = Rule {
    id: "anthropic-messages/text-after-tool-use",
    alias: "ANT-TU-3",
    summary: "In an assistant turn nothing but calls follows the first call.",
    why: "Several steps were merged into one assistant message, so that text stands between or after \
         calls. Split the message after each batch of calls, and put their results between.",
    sentences: &[UNANSWERED],
    status: 400,
    phase: 9,
    is_optional: false,
    since: "2026-03",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/anomalyco/opencode/pull/16751",
        "https://github.com/vercel/ai/pull/16312",
        "https://github.com/gotgenes/pi-anthropic-auth/issues/66",
    ],
};

/// "messages.N: `tool_use` ids were found without `tool_result` blocks immediately after"
/// (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls>).
pub(in crate::rules) static TOOL_RESULT_NOT_FIRST: Rule = Rule {
    id: "anthropic-messages/tool-result-not-first",
    alias: "ANT-TR-5",
    summary: "Results stand before all other content of their message.",
    why: "Something else, such as text of the user, stands before a result in the message after the calls. \
         Move the results to the front.",
    sentences: &[UNANSWERED],
    status: 400,
    phase: 9,
    is_optional: false,
    since: "2026-01",
    confidence: Confidence::Measured,
    sources: &[
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
        "https://github.com/open-octo/octo-agent/pull/250",
    ],
};

/// "each tool_use must have a single result. Found multiple `tool_result` blocks with id: ..."
/// (<https://github.com/sipeed/picoclaw/pull/1793>).
pub(in crate::rules) static TOOL_RESULT_DUPLICATE: Rule = Rule {
    id: "anthropic-messages/tool-result-duplicate",
    alias: "ANT-TR-2",
    summary: "A call has one result.",
    why: "Two results answer the same call, often a real one and one that was made up when the turn was \
         stopped. Keep the real one.",
    sentences: &[
        "{path}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: \
         {id}",
    ],
    status: 400,
    phase: 10,
    is_optional: false,
    since: "2025-01",
    confidence: Confidence::Observed,
    sources: &["https://github.com/sipeed/picoclaw/pull/1793"],
};

/// "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_…. Each
/// `tool_result` block must have a corresponding `tool_use` block in the previous message."
/// (<https://github.com/decocms/studio/issues/1803>).
pub(in crate::rules) static TOOL_RESULT_ORPHAN: Rule = Rule {
    id: "anthropic-messages/tool-result-orphan",
    alias: "ANT-TR-1",
    summary: "A result answers a call of the message before.",
    why: "The call of this result is gone, or stands further up, often because trimming or a compaction \
         cut between the two. Keep both or drop both.",
    sentences: &[
        "{path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block \
         must have a corresponding `tool_use` block in the previous message.",
    ],
    status: 400,
    phase: 11,
    is_optional: false,
    since: "2025-11",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/decocms/studio/issues/1803",
        "https://github.com/anthropics/claude-code/issues/13460",
        "https://github.com/anthropics/claude-code/issues/18947",
    ],
};

/// The sentence that three rules share.
const UNANSWERED: &str = "messages.{n}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. \
         Each `tool_use` block must have a corresponding `tool_result` block in the next message.";
