//! Checks where thinking blocks are required or forbidden, and that they are unchanged.
//!
//! The field that enables thinking may come after the messages, so checks that depend on it wait for the
//! end. Signatures can be verified only by a provider that remembers what it issued. Without a memory,
//! only an empty signature is known to be wrong.
//!
//! A signature covers only its block. Neighbouring blocks, the system prompt and earlier messages may
//! change (measured on five models, <https://github.com/headroomlabs-ai/headroom/pull/3135>). Claude 5.1
//! and later also check everything before the block. The latest assistant message extends back to the
//! user's last message, because the provider treats a loop of calls and results as one message.

use hashbrown::HashSet;

use serde_json::Value;

use super::block::{AnthropicRole, BlockKind, BlockPosition, ContentBlock, Field};
use super::prefix::{self, Messages};
use super::role_turn::{RoleTurn, SeenBlock};
use super::switches::AnthropicSwitches;
use crate::json::Json;
use crate::{
    Ability, Bound, Dialect, MAX_VIOLATIONS, Memory, ModelVersion, Occurrence, Profile, Rule, Thoughts,
    Violations, ability_of,
};

pub(super) struct Thinking<'a> {
    memory: &'a Memory,
    /// The first blocks of replies that think later, up to the maximum that is reported.
    misplaced: Vec<(SeenBlock, &'static str)>,
    /// Thinking at the end of replies, up to the maximum that is reported.
    final_thoughts: Vec<BlockPosition>,
    tool_loop: Option<ToolLoop>,
    /// The hash of the messages so far, if the provider remembers any thinking.
    messages: Messages,
    /// That hash before the current turn.
    before_turn: u64,
    /// Thinking that the client sent back: in the current turn, then in the latest message before it.
    open: Vec<Returned>,
    latest: Vec<Returned>,
    /// The numbers of all thoughts sent back.
    seen: HashSet<usize>,
    /// The number of the last thought sent back.
    previous: Option<usize>,
    bound: Vec<BoundBlock>,
}

/// A thinking block that the client sent back, with its original prefix.
#[derive(Debug, Clone, Copy)]
struct BoundBlock {
    place: BlockPosition,
    bound: Bound,
    /// The hash of the messages before it.
    messages: u64,
    /// True if a thinking block between this one and the previous one was left out or moved.
    is_out_of_line: bool,
}

/// A thinking block that the provider issued and the client sent back.
#[derive(Debug, Clone, Copy)]
struct Returned {
    place: BlockPosition,
    reply: usize,
    ordinal: usize,
    /// True if its text has changed.
    is_altered: bool,
    /// True if its position is wrong: repeated, before an earlier thought, or next to a thought of another
    /// reply.
    is_moved: bool,
}

/// Adds a reply's thinking to the issued thoughts.
pub(super) fn remember(thoughts: &mut Thoughts, request: Json, reply: &Value) {
    let text = |value: &'_ Value| value.as_str().unwrap_or_default().to_owned();
    let blocks = reply["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let given_out = blocks.iter().filter_map(|block| match block["type"].as_str() {
        Some("thinking") => Some((text(&block["signature"]), text(&block["thinking"]))),
        Some("redacted_thinking") => Some((text(&block["data"]), String::new())),
        _ => None,
    });
    let given_out: Vec<(String, String)> = given_out.collect();
    if !given_out.is_empty() {
        let bound = prefix::bound_of(request);
        let before = last_thought(thoughts, request);
        thoughts.add(bound, before, given_out.iter().map(|(key, text)| (key.as_str(), text.as_str())));
    }
}

/// Returns the number of the last thinking block in a request that the provider issued.
fn last_thought(thoughts: &Thoughts, request: Json) -> Option<usize> {
    let blocks = request.field("messages").items().flat_map(|message| message.field("content").items());
    let number = |block: Json| {
        let key = match block.field("type").as_str()?.as_ref() {
            "thinking" => block.field("signature"),
            "redacted_thinking" => block.field("data"),
            _ => return None,
        };
        thoughts.find(&key.as_str()?).map(|(number, _)| number)
    };
    blocks.filter_map(number).last()
}

/// Claude Fable 5.1 was the first
/// (<https://platform.claude.com/docs/build-with-claude/preserved-thinking>).
const FIRST_BOUND: ModelVersion = ModelVersion { major: 5, minor: 1 };

/// Returns whether a model verifies the content before a thinking block. "Claude Mythos 5.1 records the
/// same signature but doesn't run it"
/// (<https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-block-binding.html>).
fn is_binding(model: &str) -> bool {
    !model.contains("mythos") && ModelVersion::of_claude(model).is_some_and(|version| version >= FIRST_BOUND)
}

/// The calls and results at the end of the history.
///
/// Without interleaved thinking, the model thinks once, so one reply in the loop with thinking is enough.
struct ToolLoop {
    /// True if one of its replies starts with thinking.
    thinks: bool,
    /// The first block of its last reply.
    last_reply: Option<SeenBlock>,
}

impl<'a> Thinking<'a> {
    pub(super) fn new(memory: &'a Memory) -> Thinking<'a> {
        Thinking {
            memory,
            misplaced: Vec::new(),
            final_thoughts: Vec::new(),
            tool_loop: None,
            messages: Messages::default(),
            before_turn: 0,
            open: Vec::new(),
            latest: Vec::new(),
            seen: HashSet::new(),
            previous: None,
            bound: Vec::new(),
        }
    }

    pub(super) fn begin(&mut self, role: AnthropicRole) {
        if !self.memory.thoughts.is_empty() {
            if self.messages.speaker() != Some(role) {
                self.before_turn = self.messages.hash();
            }
            self.messages.begin(role);
        }
    }

    pub(super) fn block(&mut self, block: &ContentBlock<'_, 'a>) {
        if !self.memory.thoughts.is_empty() {
            self.messages.block(block);
        }
    }

    /// Takes a thinking block of the assistant. `before` is the previous block of the same turn.
    pub(super) fn thought(
        &mut self,
        block: &ContentBlock<'_, 'a>,
        before: Option<SeenBlock>,
        out: &mut Violations,
    ) {
        let key = match block.kind {
            BlockKind::Thinking => block.get(Field::Signature),
            _ => block.json.get("data"),
        };
        let is_foreign = |key: Json<'_, '_>| key.as_str().is_some_and(|key| is_of_openai(&key));
        if block.kind == BlockKind::Thinking && key.is_some_and(|key| key.is_empty_str() || is_foreign(key)) {
            return refuse_signature(block.place, out);
        }
        let Some(key) = key.and_then(Json::as_str).filter(|_| self.memory.is_whole()) else { return };
        let Some((number, thought)) = self.memory.thoughts.find(&key) else {
            // No example of the error for redacted thinking from another provider is known.
            if block.kind == BlockKind::Thinking {
                refuse_signature(block.place, out);
            }
            return;
        };
        let is_altered = block.kind == BlockKind::Thinking
            && block.str(Field::Thinking).is_some_and(|text| text != thought.text.as_str());
        let last = self.open.last().map(|last| (last.reply, last.ordinal));
        let own = (thought.reply, thought.ordinal);
        let is_next = last == own.1.checked_sub(1).map(|ordinal| (own.0, ordinal));
        let is_joined = before.is_some_and(|before| before.kind.is_thought()) && !is_next;
        let is_copy = !self.seen.insert(number);
        self.open.push(Returned {
            place: block.place,
            reply: own.0,
            ordinal: own.1,
            is_altered,
            is_moved: is_copy || is_joined || last.is_some_and(|last| own < last),
        });
        // "It also fails if a thinking block between others was left out or moved"
        // (<https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks>). A
        // block left out before the first one is not between others.
        let previous = self.previous.replace(number);
        let is_out_of_line = previous.is_some() && previous != thought.before;
        if let Some(bound) = thought.bound {
            let messages = self.before_turn;
            self.bound.push(BoundBlock { place: block.place, bound, messages, is_out_of_line });
        }
    }

    /// Ends a reply. `before` is the turn before it.
    pub(super) fn reply(&mut self, turn: &RoleTurn, before: Option<&RoleTurn>, out: &mut Violations) {
        let goes_on = before.is_some_and(|before| before.role == AnthropicRole::User && !before.says_more);
        if !goes_on {
            // For past replies, only the signatures are checked.
            for past in self.latest.drain(..).filter(|past| past.is_altered) {
                refuse_signature(past.place, out);
            }
        }
        self.latest.append(&mut self.open);
        if let Some(SeenBlock { place, kind: BlockKind::Thinking }) = turn.last_block()
            && self.final_thoughts.len() < MAX_VIOLATIONS
        {
            self.final_thoughts.push(place);
        }
        let Some(first) = turn.first_block().filter(|first| !first.kind.is_thought()) else { return };
        if let (Some(_), Some(found)) = (turn.thought, first.kind.name())
            && self.misplaced.len() < MAX_VIOLATIONS
        {
            self.misplaced.push((first, found));
        }
    }

    /// Takes a user turn; `before` is the turn before it. Results continue the tool loop, and anything
    /// else ends it.
    pub(super) fn user_spoke(&mut self, turn: &RoleTurn, before: Option<&RoleTurn>) {
        let answers = turn.first_block().is_some_and(|first| first.kind == BlockKind::ToolResult);
        let Some(reply) = before.filter(|before| answers && before.role == AnthropicRole::Assistant) else {
            return self.loop_ends();
        };
        let first = reply.first_block();
        let tool_loop = self.tool_loop.get_or_insert(ToolLoop { thinks: false, last_reply: None });
        tool_loop.thinks |= first.is_none_or(|first| first.kind.is_thought());
        tool_loop.last_reply = first;
    }

    /// Ends the tool loop: the turn contains anything other than calls or results.
    pub(super) fn loop_ends(&mut self) {
        self.tool_loop = None;
    }

    pub(super) fn finish(
        &self,
        switches: &AnthropicSwitches,
        last: &RoleTurn,
        body: Json,
        out: &mut Violations,
    ) {
        self.check_unchanged(body, out);
        let thinking = body.field("thinking").field("type");
        check_forced_tool(body, out);
        if thinking.is("enabled") {
            self.check_tool_loop(last, out);
            for (seen, found) in &self.misplaced {
                out.add(&THINKING_NOT_FIRST, || {
                    let violation = Occurrence::at(seen.place.pointer()).with("path", seen.place.path());
                    violation.with("found", found)
                });
            }
        } else if last.role == AnthropicRole::Assistant
            && let Some(place) = last.thought
            && is_disabled(switches, body)
        {
            out.add(&THINKING_WHEN_DISABLED, || Occurrence::at(place.pointer()).with("path", place.path()));
        }
        if thinking.is_str() && !thinking.is("disabled") {
            for place in &self.final_thoughts {
                let n = place.message;
                out.add(&THINKING_LAST, || {
                    Occurrence::at(place.pointer()).with("path", format!("messages.{n}"))
                });
            }
        }
    }

    /// Checks that issued thinking comes back unchanged.
    fn check_unchanged(&self, body: Json, out: &mut Violations) {
        for changed in self.latest.iter().filter(|returned| returned.is_altered || returned.is_moved) {
            out.add(&THINKING_MODIFIED, || {
                Occurrence::at(changed.place.pointer()).with("path", changed.place.path())
            });
        }
        let model = body.field("model").as_str();
        let drops = body.field("thinking").field("block_binding").field("prefix_mismatch_behavior");
        if self.bound.is_empty() || drops.is("drop_block") || !model.is_some_and(|model| is_binding(&model)) {
            return;
        }
        let (system, tools) = prefix::around(body);
        for BoundBlock { place, bound, messages, is_out_of_line } in &self.bound {
            let form = match () {
                () if bound.system != system => 0,
                () if bound.tools != tools || bound.messages != *messages => 1,
                () if *is_out_of_line => 2,
                () => continue,
            };
            out.add(&THINKING_BOUND_ELSEWHERE, || {
                Occurrence::at(place.pointer()).form(form).with("path", place.path())
            });
        }
    }

    fn check_tool_loop(&self, last: &RoleTurn, out: &mut Violations) {
        let unthinking = self.tool_loop.as_ref().filter(|it| !it.thinks && last.role == AnthropicRole::User);
        let Some(first) = unthinking.and_then(|it| it.last_reply) else { return };
        let Some(found) = first.kind.name() else { return };
        out.add(&THINKING_MISSING, || {
            Occurrence::at(first.place.pointer()).with("path", first.place.path()).with("found", found)
        });
    }
}

/// Returns whether the request disables thinking.
///
/// A request without the field `thinking` disables it, except for later models. These decide for
/// themselves, and they do not continue a reply anyway.
fn is_disabled(switches: &AnthropicSwitches, body: Json) -> bool {
    let model = body.field("model").as_str();
    let version = model.as_deref().and_then(ModelVersion::of_claude);
    match body.get("thinking").filter(|thinking| !thinking.is_null()) {
        Some(thinking) => thinking.field("type").is("disabled"),
        None => version.is_some_and(|version| version < switches.first_without_prefill),
    }
}

/// Returns whether a signature is OpenAI's `encrypted_content`. A signature of Anthropic's is a message of Protocol
/// Buffers in base64, which cannot begin with these letters
/// (<https://github.com/router-for-me/CLIProxyAPI/issues/3052>).
pub(crate) fn is_of_openai(signature: &str) -> bool {
    signature.starts_with("gAAAA")
}

fn refuse_signature(place: BlockPosition, out: &mut Violations) {
    out.add(&SIGNATURE_INVALID, || {
        Occurrence::at(format!("{}/signature", place.pointer())).with("path", place.path())
    });
}

pub(crate) static THINKING_MISSING: Rule = Rule {
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
    sources: &[
        "https://github.com/anomalyco/opencode/issues/3077",
        "https://github.com/mastra-ai/mastra/issues/7799",
        "https://github.com/Kilo-Org/kilocode/issues/5219",
    ],
    ..Rule::measured("anthropic-messages/thinking-missing", "ANT-TH-1", 13, "2025-08")
};

pub(crate) static THINKING_NOT_FIRST: Rule = Rule {
    summary: "With thinking enabled, a reply that has thinking starts with it.",
    why: "A reply was stored with text or a call before its thinking. Keep the blocks of a reply in the \
         order in which they came.",
    sentences: &[
        "{path}: If an assistant message contains any thinking blocks, the first block must be `thinking` \
         or `redacted_thinking`. Found `{found}`.",
    ],
    sources: &["https://github.com/anthropics/claude-code/issues/20705"],
    ..Rule::observed("anthropic-messages/thinking-not-first", "ANT-TH-6", 13, "2025-11")
};

pub(crate) static THINKING_WHEN_DISABLED: Rule = Rule {
    summary: "Without thinking, the last message has no thinking of the assistant.",
    why: "The history ends with a reply that has thinking, but the request disables thinking or \
         does not ask for it. Enable it, or drop the thinking blocks of that reply.",
    sentences: &[
        "{path}: When thinking is disabled, an `assistant` message in the final position cannot contain \
         `thinking`. To use thinking blocks, enable `thinking` in your request.",
    ],
    sources: &[
        "https://github.com/tailcallhq/forgecode/issues/1853",
        "https://github.com/tailcallhq/forgecode/issues/1195",
    ],
    ..Rule::observed("anthropic-messages/thinking-when-disabled", "ANT-TH-3", 13, "2025-08")
};

pub(crate) static SIGNATURE_INVALID: Rule = Rule {
    summary: "A thinking block has the signature that the provider gave it.",
    why: "The signature of a thinking block is empty, or another provider wrote the block, or it \
         was changed on the way. Send thinking blocks back exactly as they came, or drop them from \
         earlier replies.",
    sentences: &["{path}: Invalid `signature` in `thinking` block"],
    sources: &[
        "https://github.com/kaitranntt/ccs/issues/415",
        "https://github.com/anthropics/claude-code/issues/10627",
        "https://github.com/ding113/claude-code-hub/issues/518",
        "https://github.com/anthropics/anthropic-sdk-python/issues/1598",
    ],
    ..Rule::measured("anthropic-messages/signature-invalid", "ANT-TH-4", 13, "2025-10")
};

pub(crate) static THINKING_MODIFIED: Rule = Rule {
    summary: "The thinking of the latest reply comes back unchanged.",
    why: "A thinking block of the last reply was changed, copied, moved, or joined with one of \
         another reply, as happens when a retry continues the message of a failed attempt. Keep \
         each reply's blocks as they came, text and signature together, and drop a block that never \
         got its signature.",
    sentences: &[
        "{path}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. \
         These blocks must remain as they were in the original response.",
    ],
    sources: &[
        "https://github.com/anthropics/claude-code/issues/19539",
        "https://github.com/Yeachan-Heo/gajae-code/issues/4416",
        "https://github.com/code-yeongyu/oh-my-openagent/pull/4618",
        "https://github.com/anthropics/anthropic-sdk-python/issues/1598",
    ],
    ..Rule::measured("anthropic-messages/thinking-modified", "ANT-TH-2", 13, "2025-12")
};

pub(crate) static THINKING_BOUND_ELSEWHERE: Rule = Rule {
    summary: "For Claude 5.1 and later, everything before a thinking block stays as it was.",
    why: "The system prompt, the tools or an earlier message changed after the thinking was \
         created: a date in the prompt, a new tool, a summary instead of old messages. Only append. \
         Where that is impossible, drop the thinking blocks after the change, or ask for \
         `drop_block`. Accounts from before 31 August 2026 may be exempt.",
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
    sources: &[
        "https://github.com/anomalyco/opencode/issues/48637",
        "https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-block-binding.html",
        "https://github.com/NousResearch/hermes-agent/pull/106426",
        "https://github.com/kirodotdev/KiroCrew/pull/11513",
    ],
    ..Rule::measured("anthropic-messages/thinking-bound-elsewhere", "ANT-TH-5", 13, "2026-08")
};

pub(crate) static THINKING_LAST: Rule = Rule {
    summary: "With thinking on, no reply ends with thinking.",
    why: "A reply was stopped after its thinking and then stored, or its text and calls were \
         dropped. Drop the thinking too: nothing else is left of the reply.",
    sentences: &["{path}: The final block in an assistant message cannot be `thinking`."],
    sources: &[
        "https://github.com/tailcallhq/forgecode/issues/2107",
        "https://github.com/anthropics/claude-code/issues/11514",
        "https://github.com/NousResearch/hermes-agent/pull/13010",
    ],
    ..Rule::measured("anthropic-messages/thinking-last", "ANT-TH-8", 13, "2025-11")
};

/// Checks that no tool is forced while the model thinks.
///
/// For adaptive thinking, it depends on the model (<https://github.com/langchain-ai/langchain-aws/pull/1141>). The
/// documentation says in one version that a forced tool is rejected while thinking is on, in another that adaptive
/// thinking allows it.
fn check_forced_tool(body: Json, out: &mut Violations) {
    let choice = body.field("tool_choice").field("type");
    if !choice.is("any") && !choice.is("tool") {
        return;
    }
    let thinking = body.field("thinking").field("type");
    let model = body.field("model").as_str();
    let ability = Ability::ForcedToolWithAdaptiveThinking;
    let may_force =
        || model.and_then(|model| ability_of(Profile::newest(Dialect::AnthropicMessages), &model, ability));
    let violation = || Occurrence::at("/tool_choice");
    if thinking.is("enabled") {
        out.add(&THINKING_WITH_FORCED_TOOL, violation);
    } else if thinking.is("adaptive") {
        match may_force() {
            Some(true) => {}
            Some(false) => out.add(&THINKING_WITH_FORCED_TOOL, violation),
            None => out.warn(&THINKING_WITH_FORCED_TOOL, violation),
        }
    }
}

pub(crate) static THINKING_WITH_FORCED_TOOL: Rule = Rule {
    summary: "With thinking enabled, no tool is forced.",
    why: "The request enables thinking and forces a call with `tool_choice`, often for structured output. Let the model choose, or disable thinking for this request.",
    sentences: &["Thinking may not be enabled when tool_choice forces tool use."],
    sources: &[
        "https://github.com/mastra-ai/mastra/issues/7507",
        "https://github.com/can1357/oh-my-pi/issues/341",
        "https://github.com/BerriAI/litellm/pull/17129",
        "https://github.com/langchain-ai/langchain-aws/pull/1141",
    ],
    ..Rule::measured("anthropic-messages/thinking-with-forced-tool", "ANT-PARAM-1", 13, "2025-09")
};
