//! The second phase, first half: emptiness, system messages, and which role may have which block.

use super::block::{AnthropicRole, BlockKind, BlockPosition, ContentBlock, Text};
use super::role_turn::{RoleTurn, SeenBlock};
use super::switches::{AnthropicSwitches, SystemMessages};
use crate::json::Json;
use crate::{MAX_VIOLATIONS, ModelVersion, Occurrence, Rule, Violations};

/// Checks a block on its own and against its role.
pub(super) fn check_block(role: AnthropicRole, block: &ContentBlock, out: &mut Violations) {
    let n = block.place.message;
    let violation = || Occurrence::at(block.place.pointer()).with("n", n);
    match (role, block.kind) {
        (AnthropicRole::System, kind) => check_system_block(n, kind, block, out),
        (AnthropicRole::User, BlockKind::ToolUse) => out.add(&TOOL_USE_OUTSIDE_ASSISTANT, violation),
        (AnthropicRole::Assistant, BlockKind::ToolResult) => out.add(&TOOL_RESULT_OUTSIDE_USER, violation),
        (_, BlockKind::Text(Text::Empty)) => out.add(&TEXT_EMPTY, violation),
        _ => {}
    }
}

/// The blank texts in a message, up to the maximum number reported.
///
/// In measurements, the provider accepted a blank text next to another block and rejected it on its own
/// (<https://github.com/LibreChat-AI/agents/pull/124>). Models write a blank text before a call, and such
/// replies are accepted when they are sent back.
#[derive(Debug, Default)]
pub(super) struct BlankTexts {
    places: Vec<BlockPosition>,
    /// True if the message has any other block.
    says_more: bool,
}

impl BlankTexts {
    pub(super) fn block(&mut self, block: &ContentBlock) {
        match block.kind {
            BlockKind::Text(Text::Blank) if self.places.len() < MAX_VIOLATIONS => {
                self.places.push(block.place);
            }
            BlockKind::Text(Text::Blank) => {}
            _ => self.says_more = true,
        }
    }

    /// Reports the blank texts of a complete message.
    pub(super) fn check(&self, role: AnthropicRole, out: &mut Violations) {
        if role == AnthropicRole::System {
            return;
        }
        for place in &self.places {
            let violation = || Occurrence::at(place.pointer()).with("n", place.message);
            // Clients replace an empty string with a space to get it accepted, so a blank plain string is
            // contested.
            if self.says_more || !place.is_written_out() {
                out.warn(&TEXT_BLANK, violation);
            } else {
                out.add(&TEXT_BLANK, violation);
            }
        }
    }
}

/// The index of the first system message in the conversation.
#[derive(Debug, Default)]
pub(super) struct SystemMessage(Option<usize>);

/// The first Claude version that accepts system messages. All versions were tried; 4.8 and 5 accepted them
/// (<https://github.com/BerriAI/litellm/pull/33807>).
const FIRST_WITH_SYSTEM_MESSAGES: ModelVersion = ModelVersion { major: 4, minor: 8 };

/// The only model without a version in its name that rejects system messages
/// (<https://github.com/UKGovernmentBEIS/inspect_ai/pull/4221>).
const PREVIEW: &str = "mythos-preview";

/// Returns whether sources disagree on a model. Claude Sonnet 5 rejected system messages in July 2026
/// (<https://github.com/elgorro/aiquila/issues/413>), and has accepted them since October at the latest
/// (<https://github.com/langchain-ai/langchainjs/releases/tag/@langchain%2Fanthropic@1.5.13>).
fn is_contested(model: &str, version: ModelVersion) -> bool {
    model.contains("sonnet") && version == ModelVersion { major: 5, minor: 0 }
}

impl SystemMessage {
    pub(super) fn message(&mut self, n: usize, role: AnthropicRole) {
        if role == AnthropicRole::System {
            self.0.get_or_insert(n);
        }
    }

    /// Checks that the requested model accepts system messages. A model without a source passes.
    pub(super) fn check(&self, switches: &AnthropicSwitches, body: Json, out: &mut Violations) {
        let Some(n) = self.0.filter(|_| switches.system_messages == SystemMessages::MidConversation) else {
            return;
        };
        let Some(model) = body.field("model").as_str() else { return };
        let violation = || Occurrence::at(format!("/messages/{n}/role"));
        match ModelVersion::of_claude(&model) {
            Some(version) if version < FIRST_WITH_SYSTEM_MESSAGES => {
                out.add(&SYSTEM_MESSAGE_MODEL, violation)
            }
            Some(version) if is_contested(&model, version) => out.warn(&SYSTEM_MESSAGE_MODEL, violation),
            None if model.contains(PREVIEW) => out.add(&SYSTEM_MESSAGE_MODEL, violation),
            _ => {}
        }
    }
}

pub(super) fn check_system_message(n: usize, n_blocks: usize, out: &mut Violations) {
    if n_blocks == 0 {
        at_message(out, &SYSTEM_MESSAGE_CONTENT, n);
    }
}

/// Checks that a turn is not empty, that the first turn is the user's, and that system messages are in a
/// valid position.
pub(super) fn check_turn(
    turn: &RoleTurn,
    before: Option<&RoleTurn>,
    next: Option<AnthropicRole>,
    out: &mut Violations,
) {
    let n = turn.first;
    match turn.role {
        // Emptiness applies to merged messages: `[user: [], user: "ping"]` is accepted.
        AnthropicRole::User if turn.ends.is_none() => at_message(out, &USER_MESSAGE_EMPTY, n),
        AnthropicRole::Assistant if turn.ends.is_none() && next.is_some() => {
            at_message(out, &ASSISTANT_MESSAGE_EMPTY, n);
        }
        AnthropicRole::System => check_system_turn(n, before, next, out),
        _ => {}
    }
    if turn.role == AnthropicRole::Assistant && before.is_none() {
        at_message(out, &FIRST_MESSAGE_NOT_USER, n);
    }
}

fn check_system_turn(n: usize, before: Option<&RoleTurn>, next: Option<AnthropicRole>, out: &mut Violations) {
    if n == 0 {
        at_message(out, &SYSTEM_MESSAGE_FIRST, n);
    } else if before.is_some_and(|turn| !may_precede_system(turn)) {
        at_message(out, &SYSTEM_MESSAGE_NOT_AFTER_USER, n);
    }
    if next.is_some_and(|role| role != AnthropicRole::Assistant) {
        at_message(out, &SYSTEM_MESSAGE_NOT_BEFORE_ASSISTANT, n);
    }
}

fn may_precede_system(turn: &RoleTurn) -> bool {
    match turn.role {
        AnthropicRole::User | AnthropicRole::Unknown => true,
        AnthropicRole::Assistant => {
            matches!(
                turn.last_block(),
                Some(SeenBlock { kind: BlockKind::ServerResult | BlockKind::Other, .. })
            )
        }
        AnthropicRole::System | AnthropicRole::Directive => false,
    }
}

fn check_system_block(n: u32, kind: BlockKind, block: &ContentBlock, out: &mut Violations) {
    let form = match kind {
        BlockKind::Text(Text::Empty | Text::Blank) => 1,
        BlockKind::Text(_) | BlockKind::Other => return,
        _ => 2,
    };
    out.add(&SYSTEM_MESSAGE_CONTENT, || Occurrence::at(block.place.pointer()).form(form).with("n", n));
}

fn at_message(out: &mut Violations, rule: &'static Rule, n: usize) {
    out.add(rule, || Occurrence::at(format!("/messages/{n}")).with("n", n));
}

pub(crate) static TEXT_EMPTY: Rule = Rule {
    summary: "A text block is not empty.",
    why: "A text block is the empty string; the API itself can send one in a reply that starts with \
         a call. Drop empty text blocks before the history is sent back.",
    sentences: &["messages: text content blocks must be non-empty"],
    sources: &[
        "https://github.com/anthropics/claude-code/issues/59812",
        "https://github.com/anthropics/claude-code/issues/49171",
        "https://github.com/BiFangKNT/mtga/pull/68",
    ],
    ..Rule::measured("anthropic-messages/text-empty", "ANT-TXT-1", 3, "2025-06")
};

pub(crate) static TEXT_BLANK: Rule = Rule {
    summary: "A message has more than white space.",
    why: "A message has only blank texts. Drop them, or replace them with a word. A blank text next \
         to another block is accepted.",
    sentences: &["messages: text content blocks must contain non-whitespace text"],
    sources: &[
        "https://github.com/anthropics/claude-code/issues/23440",
        "https://github.com/langchain-ai/langchain/pull/35504",
        "https://github.com/LibreChat-AI/agents/pull/124",
        "https://github.com/home-assistant/core/issues/175637",
    ],
    ..Rule::measured("anthropic-messages/text-blank", "ANT-TXT-2", 3, "2026-02")
};

pub(crate) static USER_MESSAGE_EMPTY: Rule = Rule {
    summary: "A user turn has content.",
    why: "A user message is empty and no neighbour of the same role has content. Drop the message, or say \
         in a word what was there.",
    sentences: &["messages.{n}: user messages must have non-empty content"],
    sources: &[
        "https://github.com/NousResearch/hermes-agent/pull/3149",
        "https://github.com/langchain-ai/langchain/issues/35081",
    ],
    ..Rule::measured("anthropic-messages/user-message-empty", "ANT-MSG-2", 4, "2026-08")
};

pub(crate) static ASSISTANT_MESSAGE_EMPTY: Rule = Rule {
    summary: "An assistant turn has content, unless it is the last.",
    why: "A reply without content was stored, as happens when the user stops before the first token. Drop \
         the empty message.",
    sentences: &[
        "messages.{n}: all messages must have non-empty content except for the optional final assistant \
         message",
    ],
    sources: &[
        "https://github.com/anthropics/claude-code/issues/3196",
        "https://github.com/ding113/claude-code-hub/issues/432",
    ],
    ..Rule::measured("anthropic-messages/assistant-message-empty", "ANT-MSG-1", 4, "2025-07")
};

pub(crate) static FIRST_MESSAGE_NOT_USER: Rule = Rule {
    summary: "The user speaks first.",
    why: "The history begins with an assistant message, often because trimming cut the user message before \
         it. The API no longer refuses this, but gateways and older endpoints do; cut before a user \
         message.",
    sentences: &["messages: first message must use the \"user\" role"],
    sources: &[
        "https://github.com/anthropics/anthropic-sdk-typescript/issues/622",
        "https://github.com/langchain4j/langchain4j/issues/940",
    ],
    ..Rule::secondary("anthropic-messages/first-message-not-user", "ANT-MSG-3b", 4, "2024-05")
};

pub(crate) static SYSTEM_MESSAGE_FIRST: Rule = Rule {
    summary: "No system message comes first.",
    why: "The system prompt was sent as the first message. Move it to the top-level `system` field.",
    sentences: &["messages.{n}: use the top-level 'system' parameter for the initial system prompt; the \
         directive-only form (content: [] with output_config) is accepted at any position"],
    sources: &[
        "https://github.com/LeenHawk/gproxy/issues/209",
        "https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages",
    ],
    ..Rule::measured("anthropic-messages/system-message-first", "ANT-SYS-1", 5, "2026-07")
};

pub(crate) static SYSTEM_MESSAGE_NOT_AFTER_USER: Rule = Rule {
    summary: "A system message follows a user message.",
    why: "A system message comes after an assistant message, or between a call and its result. Put \
         it after the user message that it accompanies.",
    sentences: &[
        "role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool \
         result",
    ],
    sources: &[
        "https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages",
        "https://github.com/langchain4j/langchain4j/issues/5603",
    ],
    ..Rule::observed("anthropic-messages/system-message-not-after-user", "ANT-SYS-3", 5, "2026-08")
};

pub(crate) static SYSTEM_MESSAGE_NOT_BEFORE_ASSISTANT: Rule = Rule {
    summary: "A system message comes before an assistant message, or last.",
    why: "A user message follows a system message. Join the two user messages and put the system message \
         after them.",
    sentences: &["messages.{n}: role 'system' must precede an 'assistant' message or end the array; the \
         directive-only form (content: [] with output_config) is accepted at any position"],
    sources: &[
        "https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages",
        "https://github.com/pydantic/pydantic-ai/issues/5706",
    ],
    ..Rule::measured("anthropic-messages/system-message-not-before-assistant", "ANT-SYS-2", 5, "2026-08")
};

/// Every model rejects a system message at the beginning, with the error message about its position
/// (<https://github.com/BerriAI/litellm/pull/33807>).
pub(crate) static SYSTEM_MESSAGE_MODEL: Rule = Rule {
    summary: "Only Claude Opus 4.8 and later models accept a system message.",
    why: "The thread has system messages in the middle, which an older model does not accept, often \
         because the model was changed in mid-thread. Send them as user messages, or keep the newer \
         model.",
    sentences: &["role 'system' is not supported on this model"],
    sources: &[
        "https://github.com/anthropics/claude-code/issues/61412",
        "https://github.com/BerriAI/litellm/pull/33807",
        "https://github.com/BerriAI/litellm/pull/32831",
        "https://github.com/UKGovernmentBEIS/inspect_ai/pull/4221",
        "https://docs.rs/gproxy-transform/2.6.1/src/gproxy_transform/transform/common/claude_mid_conv_system.rs.html",
    ],
    ..Rule::measured("anthropic-messages/system-message-model", "ANT-SYS-5", 5, "2026-05")
};

pub(crate) static SYSTEM_MESSAGE_CONTENT: Rule = Rule {
    summary: "A system message has text or tool changes, and is not empty.",
    why: "A system message is empty or blank, or has a block of another kind. Send it as text, or drop it.",
    sentences: &[
        "messages.{n}: system content must contain at least one block",
        "messages.{n}: system text blocks must contain non-whitespace text",
        "messages.{n}: role 'system' supports text, tool_addition and tool_removal blocks only",
    ],
    sources: &["https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages"],
    ..Rule::observed("anthropic-messages/system-message-content", "ANT-SYS-4", 6, "2026-08")
};

pub(crate) static TOOL_USE_OUTSIDE_ASSISTANT: Rule = Rule {
    summary: "A `tool_use` block is in an assistant message.",
    why: "A call was stored under the wrong role. Move it into the assistant message that made it.",
    sentences: &["messages.{n}: `tool_use` blocks can only be in `assistant` messages"],
    sources: &["https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls"],
    ..Rule::observed("anthropic-messages/tool-use-outside-assistant", "ANT-TU-4", 7, "2025-11")
};

pub(crate) static TOOL_RESULT_OUTSIDE_USER: Rule = Rule {
    summary: "A `tool_result` block is in a user message.",
    why: "A result was stored under the wrong role, often in the same message as its call. Move it into a \
         user message directly after the call.",
    sentences: &["messages.{n}: `tool_result` blocks can only be in `user` messages"],
    sources: &["https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls"],
    ..Rule::measured("anthropic-messages/tool-result-outside-user", "ANT-TR-3", 7, "2025-11")
};
