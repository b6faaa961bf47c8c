//! The last phases: thinking, how the conversation may end, and marks for the cache.

use super::super::super::{Confidence, Rule};

/// "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. …"
/// (<https://github.com/anomalyco/opencode/issues/3077>).
pub(in crate::rules) static THINKING_MISSING: Rule = Rule {
    id: "anthropic-messages/thinking-missing",
    alias: "ANT-TH-1",
    summary: "With thinking enabled, a tool loop starts with thinking.",
    why: "Thinking is enabled, but the reply whose calls are being answered was stored without its \
         thinking blocks. Send them back, or disable thinking for this request.",
    sentences: &[
        "{path}.type: Expected `thinking` or `redacted_thinking`, but found `{found}`. When `thinking` is \
         enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost \
         set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from \
         previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation \
         at https://docs.claude.com/en/docs/build-with-claude/extended-thinking",
    ],
    status: 400,
    phase: 13,
    is_optional: false,
    since: "2025-08",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/anomalyco/opencode/issues/3077",
        "https://github.com/mastra-ai/mastra/issues/7799",
        "https://github.com/Kilo-Org/kilocode/issues/5219",
    ],
};

/// "messages.7.content.0: If an assistant message contains any thinking blocks, the first block must be
/// `thinking` or `redacted_thinking`. Found `text`."
/// (<https://github.com/anthropics/claude-code/issues/20705>).
pub(in crate::rules) static THINKING_NOT_FIRST: Rule = Rule {
    id: "anthropic-messages/thinking-not-first",
    alias: "ANT-TH-6",
    summary: "With thinking enabled, a reply that holds thinking starts with it.",
    why: "A reply was stored with text or a call before its thinking. Keep the blocks of a reply in the \
         order in which they came.",
    sentences: &[
        "{path}: If an assistant message contains any thinking blocks, the first block must be `thinking` \
         or `redacted_thinking`. Found `{found}`.",
    ],
    status: 400,
    phase: 13,
    is_optional: false,
    since: "2025-11",
    confidence: Confidence::Observed,
    sources: &["https://github.com/anthropics/claude-code/issues/20705"],
};

/// "messages.1.content.0: When thinking is disabled, an `assistant` message in the final position cannot
/// contain `thinking`. …"
/// (<https://github.com/tailcallhq/forgecode/issues/1853>).
pub(in crate::rules) static THINKING_WHEN_DISABLED: Rule = Rule {
    id: "anthropic-messages/thinking-when-disabled",
    alias: "ANT-TH-3",
    summary: "With thinking disabled, the last message holds no thinking of the assistant.",
    why: "The history ends with a reply that holds thinking, but thinking is disabled. Enable it, or drop \
         the thinking blocks of that reply.",
    sentences: &[
        "{path}: When thinking is disabled, an `assistant` message in the final position cannot contain \
         `thinking`. To use thinking blocks, enable `thinking` in your request.",
    ],
    status: 400,
    phase: 13,
    is_optional: false,
    since: "2025-08",
    confidence: Confidence::Observed,
    sources: &[
        "https://github.com/tailcallhq/forgecode/issues/1853",
        "https://github.com/tailcallhq/forgecode/issues/1195",
    ],
};

/// "messages: final assistant content cannot end with trailing whitespace"
/// (<https://github.com/anomalyco/opencode/issues/1295>).
pub(in crate::rules) static FINAL_TEXT_TRAILING_SPACE: Rule = Rule {
    id: "anthropic-messages/final-text-trailing-space",
    alias: "ANT-FIN-1",
    summary: "A prefill does not end with white space.",
    why: "The last message is the beginning of a reply and ends with white space. Trim its end, or end \
         with a user message.",
    sentences: &["messages: final assistant content cannot end with trailing whitespace"],
    status: 400,
    phase: 14,
    is_optional: false,
    since: "2025-07",
    confidence: Confidence::Measured,
    sources: &["https://github.com/anomalyco/opencode/issues/1295"],
};

/// "This model does not support assistant message prefill. The conversation must end with a user message."
/// (<https://github.com/cortexkit/magic-context/issues/511>).
pub(in crate::rules) static PREFILL_NOT_SUPPORTED: Rule = Rule {
    id: "anthropic-messages/prefill-not-supported",
    alias: "ANT-FIN-2",
    summary: "On newer models the conversation ends with a user message.",
    why: "The history ends with an assistant message, often a reply that was interrupted, and this model \
         does not continue one. Add a user message.",
    sentences: &[
        "This model does not support assistant message prefill. The conversation must end with a user \
         message.",
    ],
    status: 400,
    phase: 14,
    is_optional: false,
    since: "2026-03",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/cortexkit/magic-context/issues/511",
        "https://github.com/Coneja-Chibi/TunnelVision/issues/5",
    ],
};

/// "messages.1.content.0: Invalid `signature` in `thinking` block"
/// (<https://github.com/kaitranntt/ccs/issues/415>).
pub(in crate::rules) static SIGNATURE_INVALID: Rule = Rule {
    id: "anthropic-messages/signature-invalid",
    alias: "ANT-TH-4",
    summary: "A thinking block has the signature that the provider gave it.",
    why: "The signature of a thinking block is empty, or another provider wrote the block, or it was changed on the way. Send thinking blocks back exactly as they came, or drop them from replies of the past.",
    sentences: &["{path}: Invalid `signature` in `thinking` block"],
    status: 400,
    phase: 13,
    is_optional: false,
    since: "2025-10",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/kaitranntt/ccs/issues/415",
        "https://github.com/anthropics/claude-code/issues/10627",
        "https://github.com/ding113/claude-code-hub/issues/518",
        "https://github.com/anthropics/anthropic-sdk-python/issues/1598",
    ],
};

/// "messages.5.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.
/// These blocks must remain as they were in the original response."
/// (<https://github.com/anthropics/claude-code/issues/19539>).
pub(in crate::rules) static THINKING_MODIFIED: Rule = Rule {
    id: "anthropic-messages/thinking-modified",
    alias: "ANT-TH-2",
    summary: "The thinking of the latest reply comes back as it was given out.",
    why: "A thinking block of the last reply was changed, copied, put before another, or joined with one of another \
         reply, as a retry does that goes on in the message of a broken one. Keep each reply's blocks as they came, \
         text and signature together, and drop a block that never got its signature.",
    sentences: &[
        "{path}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. \
         These blocks must remain as they were in the original response.",
    ],
    status: 400,
    phase: 13,
    is_optional: false,
    since: "2025-12",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/anthropics/claude-code/issues/19539",
        "https://github.com/Yeachan-Heo/gajae-code/issues/4416",
        "https://github.com/code-yeongyu/oh-my-openagent/pull/4618",
        "https://github.com/anthropics/anthropic-sdk-python/issues/1598",
    ],
};

/// "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. …
/// The `system` prompt differs from the one this block was created with."
/// (<https://github.com/anomalyco/opencode/issues/48637>).
pub(in crate::rules) static THINKING_BOUND_ELSEWHERE: Rule = Rule {
    id: "anthropic-messages/thinking-bound-elsewhere",
    alias: "ANT-TH-5",
    summary: "What stood before a thinking block still stands there, for Claude 5.1 and later.",
    why: "The system prompt, the tools or an earlier message changed after the model had thought: a date in the prompt, \
         a tool that came later, a summary in place of old messages. Only append. Where that cannot be, drop the \
         thinking blocks behind the change, or ask for `drop_block`. Accounts from before 31 August 2026 may be spared.",
    sentences: &[
        "{path}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the \
         block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting requires the \
         `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header. The `system` prompt differs from \
         the one this block was created with.",
        "{path}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the \
         block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting requires the \
         `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header.",
        "{path}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the \
         block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting requires the \
         `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header. The `thinking` block that preceded \
         this one when it was created is missing from this request.",
    ],
    status: 400,
    phase: 13,
    is_optional: false,
    since: "2026-08",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/anomalyco/opencode/issues/48637",
        "https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-block-binding.html",
        "https://github.com/NousResearch/hermes-agent/pull/106426",
        "https://github.com/kirodotdev/KiroCrew/pull/11513",
    ],
};

/// "messages.1: The final block in an assistant message cannot be `thinking`."
/// (<https://github.com/tailcallhq/forgecode/issues/2107>).
pub(in crate::rules) static THINKING_LAST: Rule = Rule {
    id: "anthropic-messages/thinking-last",
    alias: "ANT-TH-8",
    summary: "With thinking on, no reply ends with thinking.",
    why: "A reply that was stopped behind its thinking was stored, or its text and calls were dropped. Drop the thinking \
         with them: a reply of nothing else says nothing.",
    sentences: &["{path}: The final block in an assistant message cannot be `thinking`."],
    status: 400,
    phase: 13,
    is_optional: false,
    since: "2025-11",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/tailcallhq/forgecode/issues/2107",
        "https://github.com/anthropics/claude-code/issues/11514",
        "https://github.com/NousResearch/hermes-agent/pull/13010",
    ],
};

/// "Thinking may not be enabled when tool_choice forces tool use."
/// (<https://github.com/mastra-ai/mastra/issues/7507>).
pub(in crate::rules) static THINKING_WITH_FORCED_TOOL: Rule = Rule {
    id: "anthropic-messages/thinking-with-forced-tool",
    alias: "ANT-PARAM-1",
    summary: "With thinking enabled, no tool is forced.",
    why: "The request enables thinking and forces a call with `tool_choice`, often for structured output. Let the model choose, or disable thinking for this request.",
    sentences: &["Thinking may not be enabled when tool_choice forces tool use."],
    status: 400,
    phase: 13,
    is_optional: false,
    since: "2025-09",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/mastra-ai/mastra/issues/7507",
        "https://github.com/can1357/oh-my-pi/issues/341",
        "https://github.com/BerriAI/litellm/pull/17129",
    ],
};

/// "A maximum of 4 blocks with cache_control may be provided. Found 5."
/// (<https://github.com/tghamm/Anthropic.SDK/issues/50>).
pub(in crate::rules) static CACHE_CONTROL_TOO_MANY: Rule = Rule {
    id: "anthropic-messages/cache-control-too-many",
    alias: "ANT-CC-1",
    summary: "At most four blocks have a mark for the cache.",
    why: "Marks that earlier requests set were kept in the history, or a proxy added its own. Count them over tools, system prompt and messages, and drop the oldest.",
    sentences: &["A maximum of 4 blocks with cache_control may be provided. Found {count}."],
    status: 400,
    phase: 15,
    is_optional: false,
    since: "2024-09",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/tghamm/Anthropic.SDK/issues/50",
        "https://github.com/Wei-Shaw/sub2api/issues/176",
        "https://github.com/griffinmartin/opencode-claude-auth/issues/121",
    ],
};

/// "messages.0.content.4.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control
/// block. …"
/// (<https://github.com/cnighswonger/claude-code-cache-fix/issues/44>).
pub(in crate::rules) static CACHE_CONTROL_ORDER: Rule = Rule {
    id: "anthropic-messages/cache-control-order",
    alias: "ANT-CC-3",
    summary: "Marks of an hour stand before those of five minutes.",
    why: "A block that is to be cached for an hour comes after one for five minutes. Tools come first, then the system prompt, then the messages; give all of them the same lifetime, or the longer one to the earlier.",
    sentences: &[
        "{path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
    ],
    status: 400,
    phase: 15,
    is_optional: false,
    since: "2026-03",
    confidence: Confidence::Measured,
    sources: &[
        "https://github.com/cnighswonger/claude-code-cache-fix/issues/44",
        "https://github.com/headroomlabs-ai/headroom/issues/2939",
        "https://github.com/vellum-ai/vellum-assistant/pull/22191",
    ],
};
