//! Claude's requirements for conversations that Converse itself accepts.
//!
//! The model may be known only at the end, so violations are kept until then.

use std::borrow::Cow;

use super::{ConverseKind, ConverseMessage, ConverseRole, Served};
use crate::dialects::is_plain_name;
use crate::json::Json;
use crate::{Ability, Memory, ModelVersion, Occurrence, Rule, Violations, Waiting};

/// Opus and Sonnet 4.6 were the first to reject a prefill. Every 4.5 model still accepts one.
const FIRST_WITHOUT_PREFILL: ModelVersion = ModelVersion { major: 4, minor: 6 };

/// A conversation as Claude receives it.
#[derive(Debug)]
pub(super) struct Claude<'a> {
    memory: &'a Memory,
    /// Violations that count if the model is Claude, by the id of the rule.
    found: Waiting<&'static str, (&'static Rule, Occurrence)>,
    /// The previous message, if it is the assistant's.
    reply: Option<ClaudeReply>,
    /// The calls of the last reply, with their block indexes.
    calls: Vec<(usize, Cow<'a, str>)>,
    tool_loop: ToolLoop,
}

#[derive(Debug, Clone, Copy)]
struct ClaudeReply {
    n: usize,
    begins: Beginning,
    /// The index of its last block, if that is a text that ends with white space.
    ragged_end: Option<usize>,
    /// True if it ends with a tool of the model or with an unknown block. Such a reply may be continued.
    is_paused: bool,
}

/// The first block in a reply.
#[derive(Debug, Clone, Copy)]
enum Beginning {
    Thinking,
    /// A block of a kind that rejections were seen to name.
    Named(&'static str),
    Other,
}

/// The calls and results at the end of the history.
#[derive(Debug, Default)]
struct ToolLoop {
    has_thinking: bool,
    /// Its last reply that begins with a block other than reasoning.
    unthinking: Option<(usize, &'static str)>,
}

impl<'a> Claude<'a> {
    pub(super) fn new(memory: &'a Memory) -> Claude<'a> {
        let tool_loop = ToolLoop::default();
        Claude { memory, found: Waiting::new(), reply: None, calls: Vec::new(), tool_loop }
    }

    pub(super) fn message(&mut self, message: ConverseMessage<'_, '_, 'a>) {
        self.check_ids(message);
        let reply = self.reply.take();
        match message.role {
            Some(ConverseRole::User) => {
                self.check_failures(message);
                self.tool_loop.go_on(reply, message);
                if let Some(reply) = reply {
                    self.check_results_first(reply.n, message);
                }
            }
            Some(ConverseRole::Assistant) => {
                self.check_signatures(message);
                self.take_calls(message);
                self.reply = Some(ClaudeReply::of(message));
            }
            None => {}
        }
    }

    /// Reports the violations for Claude of this version.
    pub(super) fn finish(
        &mut self,
        body: Json,
        served: Served<'_>,
        version: Option<ModelVersion>,
        out: &mut Violations,
    ) {
        for (_, (rule, violation)) in self.found.take() {
            out.add(rule, || violation);
        }
        let thinking = body.field("additionalModelRequestFields").field("thinking");
        let thinks = thinking.field("type").is("enabled");
        let choice = body.field("toolConfig").field("toolChoice");
        if ["any", "tool"].into_iter().any(|forced| choice.field(forced).is_object()) {
            let violation = || Occurrence::at("/toolConfig/toolChoice");
            let adapts = thinking.field("type").is("adaptive");
            match served.has(Ability::ForcedToolWithAdaptiveThinking) {
                _ if thinks => out.add(&MODEL_THINKING_WITH_FORCED_TOOL, violation),
                Some(false) if adapts => out.add(&MODEL_THINKING_WITH_FORCED_TOOL, violation),
                None if adapts => out.warn(&MODEL_THINKING_WITH_FORCED_TOOL, violation),
                Some(_) | None => {}
            }
        }
        if let Some(reply) = self.reply {
            if self.calls.is_empty() && !reply.is_paused {
                check_prefill_with_tools(reply.n, body, served, out);
            }
            return self.check_last(reply, version, out);
        }
        if thinks && let ToolLoop { has_thinking: false, unthinking: Some((n, found)) } = self.tool_loop {
            out.add(&MODEL_THINKING_MISSING, || {
                let violation = Occurrence::at(format!("/messages/{n}/content/0")).with("n", n).with("b", 0);
                violation.with("found", found)
            });
        }
    }

    fn note(&mut self, rule: &'static Rule, violation: impl FnOnce() -> Occurrence) {
        self.found.push(rule.id, || (rule, violation()));
    }

    fn check_ids(&mut self, message: ConverseMessage<'_, '_, 'a>) {
        let n = message.n;
        for (b, block) in message.blocks.iter().enumerate() {
            let (kind, tag, field) = match block.kind {
                ConverseKind::ToolUse => ("toolUse", "tool_use", "id"),
                ConverseKind::ToolResult => ("toolResult", "tool_result", "tool_use_id"),
                _ => continue,
            };
            let Some(id) = message.id(block) else { continue };
            // Converse already rejects an empty id.
            if !id.is_empty() && !is_plain_name(&id) {
                self.note(&MODEL_TOOL_ID_PATTERN, || {
                    Occurrence::at(format!("/messages/{n}/content/{b}/{kind}/toolUseId"))
                        .with("path", format!("messages.{n}.content.{b}.{tag}.{field}"))
                });
            }
        }
    }

    /// The result of a failed tool may have only texts.
    fn check_failures(&mut self, message: ConverseMessage<'_, '_, 'a>) {
        let n = message.n;
        for (b, block) in message.blocks.iter().enumerate() {
            if block.kind == ConverseKind::ToolResult && block.is_mixed_error {
                self.note(&MODEL_TOOL_RESULT_ERROR_NOT_TEXT, || {
                    let violation = Occurrence::at(format!("/messages/{n}/content/{b}/toolResult"));
                    violation.with("n", n).with("b", b)
                });
            }
        }
    }

    /// Reasoning is signed. A provider that remembers the reasoning that it issued accepts only that.
    fn check_signatures(&mut self, message: ConverseMessage<'_, '_, 'a>) {
        let n = message.n;
        for (b, block) in
            message.blocks.iter().enumerate().filter(|(_, block)| block.kind == ConverseKind::Reasoning)
        {
            let thought = message.value(block).and_then(|reasoning| reasoning.get("reasoningText"));
            let Some(thought) = thought.filter(|thought| thought.is_object()) else { continue };
            let signature = thought.field("signature").as_str().filter(|signature| !signature.is_empty());
            let is_foreign = |signature: &str| {
                let known = self.memory.thoughts.find(signature);
                let is_it = known.is_some_and(|(_, known)| thought.field("text").is(&known.text));
                self.memory.is_whole() && !is_it
            };
            let form = match signature {
                None => 1,
                Some(signature)
                    if is_foreign(&signature) || crate::dialects::anthropic::is_of_openai(&signature) =>
                {
                    0
                }
                Some(_) => continue,
            };
            self.note(&MODEL_SIGNATURE_INVALID, || {
                let violation =
                    Occurrence::at(format!("/messages/{n}/content/{b}/reasoningContent/reasoningText"));
                violation.form(form).with("n", n).with("b", b)
            });
        }
    }

    /// Records the calls in a reply. Text must not follow a call; reasoning and the model's own tools may.
    fn take_calls(&mut self, message: ConverseMessage<'_, '_, 'a>) {
        let n = message.n;
        self.calls.clear();
        let mut run_start = 0;
        for (b, block) in message.blocks.iter().enumerate() {
            match block.kind {
                ConverseKind::ToolUse => self.calls.extend(message.id(block).map(|id| (b, id))),
                ConverseKind::Text if run_start < self.calls.len() => {
                    let ids = joined(&self.calls[run_start..]);
                    run_start = self.calls.len();
                    self.note(&MODEL_TEXT_AFTER_TOOL_USE, || {
                        Occurrence::at(format!("/messages/{n}/content/{b}")).with("n", n).with("ids", ids)
                    });
                }
                _ => {}
            }
        }
    }

    /// Checks that results come before other content. Claude ignores later ones. Converse checks for
    /// missing results.
    fn check_results_first(&mut self, reply: usize, message: ConverseMessage<'_, '_, 'a>) {
        let mut is_leading = true;
        let mut late = Vec::new();
        for block in message.blocks {
            match block.kind {
                ConverseKind::ToolResult if !is_leading => late.extend(message.id(block)),
                ConverseKind::ToolResult | ConverseKind::CachePoint => {}
                _ => is_leading = false,
            }
        }
        if late.is_empty() {
            return;
        }
        late.sort_unstable();
        let is_late = |(_, id): &&(usize, Cow<'a, str>)| late.binary_search(id).is_ok();
        let late: Vec<(usize, Cow<str>)> = self.calls.iter().filter(is_late).cloned().collect();
        if !late.is_empty() {
            self.note(&MODEL_TOOL_RESULT_NOT_FIRST, || unanswered(reply, &late));
        }
    }

    /// Checks that the model can continue from the last reply.
    fn check_last(&self, reply: ClaudeReply, version: Option<ModelVersion>, out: &mut Violations) {
        let n = reply.n;
        if !self.calls.is_empty() {
            out.add(&MODEL_TOOL_RESULT_MISSING, || unanswered(n, &self.calls));
        }
        match version {
            None => {}
            // A reply that paused in a tool of the model is sent back unchanged, to be continued.
            Some(_) if reply.is_paused => {}
            Some(version) if version >= FIRST_WITHOUT_PREFILL => {
                out.add(&MODEL_PREFILL, || Occurrence::at(format!("/messages/{n}")));
            }
            Some(_) => {
                if let Some(b) = reply.ragged_end {
                    out.add(&MODEL_TRAILING_SPACE, || {
                        Occurrence::at(format!("/messages/{n}/content/{b}/text"))
                    });
                }
            }
        }
    }
}

impl ClaudeReply {
    fn of(message: ConverseMessage<'_, '_, '_>) -> ClaudeReply {
        let begins = match message.blocks.first().map(|block| block.kind) {
            Some(ConverseKind::Text) => Beginning::Named("text"),
            Some(ConverseKind::ToolUse) => Beginning::Named("tool_use"),
            Some(ConverseKind::Reasoning) => Beginning::Thinking,
            _ => Beginning::Other,
        };
        let last = message.blocks.last();
        let text = last.filter(|last| last.kind == ConverseKind::Text).and_then(|last| message.value(last));
        ClaudeReply {
            n: message.n,
            begins,
            ragged_end: text.filter(|text| text.ends_blank()).map(|_| message.blocks.len() - 1),
            is_paused: last.is_some_and(|last| {
                matches!(
                    last.kind,
                    ConverseKind::ServerUse | ConverseKind::ServerResult | ConverseKind::Other
                )
            }),
        }
    }
}

impl ToolLoop {
    /// Continues the loop if a user message has results for the previous reply. Otherwise the loop ends.
    ///
    /// Without interleaved thinking, the model thinks once, so one reply in the loop with reasoning is
    /// enough.
    fn go_on(&mut self, reply: Option<ClaudeReply>, message: ConverseMessage<'_, '_, '_>) {
        let answers = message.blocks.first().is_some_and(|first| first.kind == ConverseKind::ToolResult);
        let Some(reply) = reply.filter(|_| answers) else {
            *self = ToolLoop::default();
            return;
        };
        match reply.begins {
            Beginning::Thinking => self.has_thinking = true,
            Beginning::Named(found) => self.unthinking = Some((reply.n, found)),
            Beginning::Other => self.unthinking = None,
        }
    }
}

/// The first Claude models do not continue a reply while tools are offered.
fn check_prefill_with_tools(n: usize, body: Json, served: Served<'_>, out: &mut Violations) {
    let offers_tools = !body.field("toolConfig").field("tools").is_empty();
    if offers_tools && served.has(Ability::PrefillWithTools) == Some(false) {
        out.add(&MODEL_PREFILL_WITH_TOOLS, || Occurrence::at(format!("/messages/{n}")));
    }
}

/// The error message that three rules share.
fn unanswered(n: usize, calls: &[(usize, Cow<str>)]) -> Occurrence {
    let b = calls.first().map_or(0, |(b, _)| *b);
    Occurrence::at(format!("/messages/{n}/content/{b}")).with("n", n).with("ids", joined(calls))
}

fn joined(calls: &[(usize, Cow<str>)]) -> String {
    calls.iter().map(|(_, id)| id.as_ref()).collect::<Vec<&str>>().join(", ")
}

/// Converse accepts ids with dots and colons. Called directly, Claude accepts `^[a-zA-Z0-9_-]+$`
/// (<https://github.com/anomalyco/opencode/issues/1279>).
pub(crate) static MODEL_TOOL_ID_PATTERN: Rule = Rule {
    summary: "Through Converse, Claude accepts ids of letters, digits, `_` and `-`.",
    why: "The id comes from another model, such as `functions.bash:0`. Rename it in the call and in \
         its result alike before Claude continues the conversation.",
    sentences: &[
        "The model returned the following errors: {path}: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ],
    sources: &["https://github.com/anomalyco/opencode/issues/1279"],
    ..Rule::inferred("bedrock-converse/model-tool-id-pattern", "BDR-MODEL-ID-1", 10, "2024-12")
};

/// Claude's words for calls without results, which Converse passes on.
const UNANSWERED: &[&str] =
    &["The model returned the following errors: messages.{n}: `tool_use` ids were found \
     without `tool_result` blocks immediately after: {ids}. Each `tool_use` block must have a corresponding \
     `tool_result` block in the next message."];

pub(crate) static MODEL_TOOL_RESULT_MISSING: Rule = Rule {
    summary: "For Claude, calls of the last message need results too.",
    why: "The history ends with calls without results. Add a user message with a result for each of them.",
    sentences: UNANSWERED,
    sources: &[
        "https://github.com/n8n-io/n8n/issues/16987",
        "https://github.com/anthropics/claude-code/issues/3512",
    ],
    ..Rule::measured("bedrock-converse/model-tool-result-missing", "BDR-MODEL-TU-1", 10, "2025-07")
};

/// In measurements, Claude called directly rejected this with the error message about calls without
/// results (<https://github.com/anomalyco/opencode/pull/16751>).
pub(crate) static MODEL_TEXT_AFTER_TOOL_USE: Rule = Rule {
    summary: "For Claude, only calls follow the first call of a message.",
    why: "Several steps were merged into one assistant message, so text comes between or after \
         calls. Split the message after each batch of calls, and put their results between.",
    sentences: UNANSWERED,
    sources: &["https://github.com/anomalyco/opencode/pull/16751", "https://github.com/vercel/ai/pull/16312"],
    ..Rule::inferred("bedrock-converse/model-text-after-tool-use", "BDR-MODEL-TU-3", 10, "2026-03")
};

/// Converse accepts results in any position. Claude requires them before all other content
/// (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls>).
pub(crate) static MODEL_TOOL_RESULT_NOT_FIRST: Rule = Rule {
    summary: "For Claude, results come before all other content of their message.",
    why: "Something else, such as text of the user, comes before a result in the message after the \
         calls. Move the results to the front.",
    sentences: UNANSWERED,
    sources: &[
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
        "https://github.com/n8n-io/n8n/issues/16987",
    ],
    ..Rule::measured("bedrock-converse/model-tool-result-not-first", "BDR-MODEL-TR-5", 10, "2026-01")
};

pub(crate) static MODEL_TOOL_RESULT_ERROR_NOT_TEXT: Rule = Rule {
    summary: "For Claude, the result of a tool that failed has only texts.",
    why: "A tool failed and its result has an image or a document next to the text, often a \
         screenshot that was taken before. Once it is stored, every request is rejected. Keep the \
         texts, and put the image into a block of its own after the results.",
    sentences: &[
        "The model returned the following errors: messages.{n}.content.{b}.tool_result: all content must be type `text` \
         if `is_error` is true",
    ],
    sources: &[
        "https://github.com/can1357/oh-my-pi/issues/12809",
        "https://github.com/vellum-ai/vellum-assistant/pull/18387",
    ],
    ..Rule::observed("bedrock-converse/model-tool-result-error-not-text", "BDR-MODEL-TR-6", 10, "2026-03")
};

/// Claude's own check, as in its Messages API. A blank text next to another one is accepted
/// (<https://github.com/LibreChat-AI/agents/pull/124>).
pub(crate) static MODEL_TEXT_BLANK: Rule = Rule {
    summary: "For Claude, a message has more than white space.",
    why: "All texts of a message are blank, often because the client put a space where the content was empty. Drop the \
         message, or put a word into it.",
    sentences: &[
        "The model returned the following errors: messages: text content blocks must contain non-whitespace text",
    ],
    sources: &[
        "https://github.com/NousResearch/hermes-agent/pull/63983",
        "https://github.com/NousResearch/hermes-agent/pull/41985",
        "https://github.com/NousResearch/hermes-agent/pull/61318",
    ],
    ..Rule::observed("bedrock-converse/model-text-blank", "BDR-MODEL-TXT-1", 10, "2026-06")
};

pub(crate) static MODEL_SIGNATURE_INVALID: Rule = Rule {
    summary: "Claude's thinking comes back with its signature.",
    why: "A `reasoningText` has no signature or an empty one, because the stream was cut before it \
         arrived, or its text or signature was changed. Send both back as they came, or leave the \
         block out.",
    sentences: &[
        "The model returned the following errors: messages.{n}.content.{b}: Invalid `signature` in `thinking` block",
        "The model returned the following errors: messages.{n}.content.{b}.thinking.signature: Field required",
    ],
    sources: &[
        "https://github.com/can1357/oh-my-pi/pull/10486",
        "https://github.com/can1357/oh-my-pi/pull/333",
        "https://github.com/langchain-ai/langchain-aws/pull/408",
    ],
    ..Rule::observed("bedrock-converse/model-signature-invalid", "BDR-MODEL-TH-4", 11, "2025-03")
};

pub(crate) static MODEL_THINKING_MISSING: Rule = Rule {
    summary: "With thinking enabled, Claude's tool loop starts with thinking.",
    why: "Thinking is enabled, but the reply whose calls are being answered was stored without its \
         `reasoningContent`. Send it back, or disable thinking for this request.",
    sentences: &["The model returned the following errors: messages.{n}.content.{b}.type: Expected \
         `thinking` or `redacted_thinking`, but found `{found}`. When `thinking` is enabled, a \
         final `assistant` message must start with a thinking block (preceeding the lastmost set of \
         `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from \
         previous turns. To avoid this requirement, disable `thinking`. Please consult our \
         documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking"],
    sources: &[
        "https://github.com/anomalyco/opencode/issues/3077",
        "https://github.com/langchain-ai/langchain-aws/issues/844",
        "https://github.com/pydantic/pydantic-ai/issues/2453",
    ],
    ..Rule::measured("bedrock-converse/model-thinking-missing", "BDR-MODEL-TH-1", 11, "2025-03")
};

pub(crate) static MODEL_THINKING_WITH_FORCED_TOOL: Rule = Rule {
    summary: "With thinking enabled, Claude is not forced to call a tool.",
    why: "The request enables thinking in `additionalModelRequestFields` and forces a call with `toolChoice`, often for \
         structured output. Let the model choose, or leave thinking out of this request.",
    sentences: &[
        "The model returned the following errors: Thinking may not be enabled when tool_choice forces tool use.",
    ],
    sources: &[
        "https://github.com/can1357/oh-my-pi/issues/341",
        "https://github.com/strands-agents/sdk-typescript/pull/798",
        "https://github.com/langchain-ai/langchain-aws/issues/925",
    ],
    ..Rule::measured("bedrock-converse/model-thinking-with-forced-tool", "BDR-MODEL-PARAM-1", 11, "2026-03")
};

pub(crate) static MODEL_TRAILING_SPACE: Rule = Rule {
    summary: "A prefill for Claude does not end with white space.",
    why: "The last message is the beginning of a reply and ends with white space. Trim its end, or \
         end with a user message.",
    sentences: &[
        "The model returned the following errors: messages: final assistant content cannot end with \
         trailing whitespace",
    ],
    sources: &["https://github.com/anomalyco/opencode/issues/1295"],
    ..Rule::measured("bedrock-converse/model-trailing-space", "BDR-MODEL-FIN-1", 12, "2025-07")
};

pub(crate) static MODEL_PREFILL: Rule = Rule {
    summary: "For newer Claude models the conversation ends with a user message.",
    why: "The history ends with an assistant message, often a reply that was interrupted, and this \
         model does not continue one. Add a user message.",
    sentences: &["The model returned the following errors: This model does not support assistant message \
         prefill. The conversation must end with a user message."],
    sources: &[
        "https://github.com/anomalyco/opencode/issues/29760",
        "https://github.com/cortexkit/magic-context/issues/511",
    ],
    ..Rule::measured("bedrock-converse/model-prefill", "BDR-MODEL-FIN-2", 12, "2026-05")
};

pub(crate) static MODEL_PREFILL_WITH_TOOLS: Rule = Rule {
    summary: "Claude 3 does not continue a reply while tools are offered.",
    why: "The history ends with an assistant message, and the request offers tools. Add a user message, or \
         offer no tools.",
    sentences: &[
        "The model returned the following errors: Your API request included an `assistant` message in \
         the final position, which would pre-fill the `assistant` response. When using tools, pre-filling the \
         `assistant` response is not supported.",
    ],
    sources: &[
        "https://github.com/langchain-ai/langgraph/issues/4940",
        "https://github.com/enechange/collmbo/pull/12",
    ],
    ..Rule::observed("bedrock-converse/model-prefill-with-tools", "BDR-MODEL-FIN-3", 12, "2024-10")
};
