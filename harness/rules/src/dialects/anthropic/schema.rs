//! The first phase: the types of known fields, message by message.
//!
//! Unknown block types pass: new ones appear every month, and a wrong rejection would be worse than a
//! miss. Unknown keys are reported only if a rejection for them was seen; others may belong to a beta that
//! the client has enabled with a header.

use super::switches::{AnthropicSwitches, SystemMessages, ToolNames};
use super::tags;
use crate::dialects::anthropic::cache_control::CACHE_CONTROL_ON_EMPTY_TEXT;
use crate::dialects::is_plain_name;
use crate::{Occurrence, Rule, Violations};
use hashbrown::HashSet;

use super::block::{AnthropicRole, BlockKind, ContentBlock, Field, MessageParts, Text};
use crate::json::Json;

/// Checks that the body is an object with a conversation. `n_messages` is `None` if there is no list of
/// messages.
pub(super) fn check_body(body: Json, n_messages: Option<usize>, out: &mut Violations) {
    let mut refuse = |pointer: &str, complaint: Complaint| {
        let path = if pointer == "/tools" { "tools" } else { "messages" };
        out.add(&REQUEST_SHAPE, || Occurrence::at(pointer).form(complaint as usize).with("path", path));
    };
    if body.get("tools").is_some_and(|tools| !tools.is_array() && !tools.is_null()) {
        refuse("/tools", Complaint::NotList);
    }
    match n_messages {
        _ if !body.is_object() => refuse("", Complaint::BodyNotDictionary),
        None if body.get("messages").is_none() => refuse("", Complaint::Missing),
        None => refuse("/messages", Complaint::NotList),
        Some(0) => out.add(&MESSAGES_EMPTY, || Occurrence::at("/messages")),
        Some(_) => {}
    }
    for key in EXTRA_KEYS.into_iter().filter(|key| body.get(key).is_some()) {
        out.add(&EXTRA_KEY, || Occurrence::at(format!("/{key}")).with("path", key));
    }
}

/// A problem with a known field, in the order of the field rules' error messages.
#[derive(Debug, Clone, Copy)]
pub(super) enum Complaint {
    Missing,
    NotString,
    NotList,
    NotDictionary,
    /// This error message has no path.
    BodyNotDictionary,
}

/// Body keys that no version of the API has: the first is OpenAI's, the second comes from a client.
const EXTRA_KEYS: [&str; 2] = ["response_format", "extra_body"];

pub(super) fn check_message(
    switches: &AnthropicSwitches,
    n: usize,
    role: AnthropicRole,
    message: &MessageParts,
    out: &mut Violations,
) {
    let place = BlockSpot { message: n as u32, index: None, tag: "" };
    if !message.json.is_object() {
        return place.complain(out, &REQUEST_SHAPE, "", Complaint::NotDictionary);
    }
    if !matches!(role, AnthropicRole::User | AnthropicRole::Assistant) {
        check_role(switches, place, message.role, out);
    }
    match message.content {
        // A system message may change the effort and say nothing
        // (<https://platform.claude.com/docs/en/build-with-claude/effort-per-message>).
        None if message.has_output_config && role == AnthropicRole::System => {}
        None => place.missing(out, &REQUEST_SHAPE, "content"),
        Some(content) if content.is_array() || content.is_str() => {}
        Some(_) => place.complain(out, &REQUEST_SHAPE, "content", Complaint::NotList),
    }
    if let Some(key) = message.extra {
        place.refuse(out, &EXTRA_KEY, key);
    }
}

/// Checks the fields of a block in a list.
pub(super) fn check_block(switches: &AnthropicSwitches, block: &ContentBlock, out: &mut Violations) {
    let spot = |tag| BlockSpot { message: block.place.message, index: block.place.index(), tag };
    if !block.json.is_object() {
        return spot("").complain(out, &REQUEST_SHAPE, "", Complaint::NotDictionary);
    }
    match block.kind {
        BlockKind::Text(Text::Empty)
            if block.get(Field::CacheControl).is_some_and(|mark| !mark.is_null()) =>
        {
            out.add(&CACHE_CONTROL_ON_EMPTY_TEXT, || {
                Occurrence::at(spot("").pointer("cache_control")).with("path", spot("text").path(""))
            });
        }
        BlockKind::ToolUse => check_tool_use(switches, spot("tool_use"), block, out),
        BlockKind::ToolResult => {
            let spot = spot("tool_result");
            if let Some(id) =
                spot.string(out, &TOOL_RESULT_ID_REQUIRED, block.get(Field::ToolUseId), "tool_use_id")
            {
                check_id(spot, id, "tool_use_id", out);
            }
            tags::check_result(spot, block, out);
        }
        BlockKind::Thinking => {
            let spot = spot("thinking");
            spot.string(out, &THINKING_FIELD_REQUIRED, block.get(Field::Signature), "signature");
            spot.string(out, &THINKING_FIELD_REQUIRED, block.get(Field::Thinking), "thinking");
        }
        BlockKind::ServerUse => check_server_id(spot("server_tool_use"), block.get(Field::Id), "id", out),
        BlockKind::ServerResult => {
            let tag = block.str(Field::Type).unwrap_or_default();
            if tag != "mcp_tool_result" {
                check_server_id(spot(&tag), block.get(Field::ToolUseId), "tool_use_id", out);
            }
        }
        BlockKind::Other if block.get(Field::Type).is_some_and(|tag| tag.is("text")) => {
            spot("text").string(out, &REQUEST_SHAPE, block.get(Field::Text), "text");
        }
        BlockKind::Other => tags::check_block(spot(""), block, out),
        _ => {}
    }
}

/// Checks that the names of the offered tools differ.
pub(super) fn check_tools(body: Json, out: &mut Violations) {
    let mut names = HashSet::new();
    for (index, tool) in body.field("tools").items().enumerate() {
        let Some(name) = tool.field("name").as_str() else { continue };
        if !names.insert(name) {
            out.add(&TOOL_NAMES_NOT_UNIQUE, || Occurrence::at(format!("/tools/{index}/name")));
        }
    }
}

fn check_role(switches: &AnthropicSwitches, place: BlockSpot, role: Option<Json>, out: &mut Violations) {
    let Some(role) = role else { return place.missing(out, &REQUEST_SHAPE, "role") };
    if switches.system_messages == SystemMessages::MidConversation && role.is("system") {
        return;
    }
    let Some(name) = role.as_str() else {
        return place.complain(out, &REQUEST_SHAPE, "role", Complaint::NotString);
    };
    let hint = match name.as_ref() {
        "system" => {
            "The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role."
        }
        _ => "Allowed roles are \"user\" or \"assistant\"",
    };
    out.add(&UNKNOWN_ROLE, || {
        let violation = Occurrence::at(place.pointer("role")).with("role", name).with("hint", hint);
        violation.with("n", place.message)
    });
}

fn check_tool_use(switches: &AnthropicSwitches, spot: BlockSpot, block: &ContentBlock, out: &mut Violations) {
    if let Some(id) = spot.string(out, &TOOL_USE_FIELD_REQUIRED, block.get(Field::Id), "id") {
        check_id(spot, id, "id", out);
    }
    match block.get(Field::Input) {
        None => spot.missing(out, &TOOL_USE_FIELD_REQUIRED, "input"),
        Some(input) if input.is_object() => {}
        Some(_) => spot.refuse(out, &TOOL_INPUT_NOT_OBJECT, "input"),
    }
    if block.get(Field::Text).is_some() {
        spot.refuse(out, &EXTRA_KEY, "text");
    }
    let Some(name) =
        spot.string(out, &TOOL_USE_FIELD_REQUIRED, block.get(Field::Name), "name").and_then(Json::as_str)
    else {
        return;
    };
    check_name(switches.tool_names, spot, &name, out);
}

fn check_name(allowed: ToolNames, spot: BlockSpot, name: &str, out: &mut Violations) {
    let max = allowed.max_chars;
    let form = if name.len() > max && name.chars().count() > max {
        1
    } else if name.is_empty() {
        2
    } else if allowed.are_plain && !is_plain_name(name) {
        0
    } else {
        return;
    };
    out.add(&TOOL_NAME_PATTERN, || {
        Occurrence::at(spot.pointer("name")).form(form).with("path", spot.path("name")).with("max", max)
    });
}

fn check_id(spot: BlockSpot, id: Json, field: &str, out: &mut Violations) {
    if !id.as_str().is_some_and(|id| is_plain_name(&id)) {
        spot.refuse(out, &TOOL_ID_PATTERN, field);
    }
}

fn check_server_id(spot: BlockSpot, id: Option<Json>, field: &str, out: &mut Violations) {
    let Some(id) = id.and_then(Json::as_str) else { return };
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let letters = id.strip_prefix("srvtoolu_").filter(|letters| letters.bytes().all(is_letter));
    if letters.is_none_or(str::is_empty) {
        spot.refuse(out, &SERVER_TOOL_ID_PATTERN, field);
    }
}

/// An object with checked fields: its location, and the tag that the provider puts before field names.
#[derive(Clone, Copy)]
pub(super) struct BlockSpot<'s> {
    message: u32,
    index: Option<u32>,
    /// The block's type, as in `messages.1.content.0.tool_use.id`. Empty for a message.
    tag: &'s str,
}

impl BlockSpot<'_> {
    fn string<'t, 'a>(
        self,
        out: &mut Violations,
        rule: &'static Rule,
        value: Option<Json<'t, 'a>>,
        field: &str,
    ) -> Option<Json<'t, 'a>> {
        match value {
            Some(value) if value.is_str() => return Some(value),
            Some(_) => self.complain(out, rule, field, Complaint::NotString),
            None => self.missing(out, rule, field),
        }
        None
    }

    /// Reports a missing field at its parent, so that the pointer resolves.
    fn missing(self, out: &mut Violations, rule: &'static Rule, field: &str) {
        out.add(rule, || {
            Occurrence::at(self.pointer("")).form(Complaint::Missing as usize).with("path", self.path(field))
        });
    }

    /// Reports a field with a wrong value. An empty field name means the object itself.
    pub(super) fn refuse(self, out: &mut Violations, rule: &'static Rule, field: &str) {
        out.add(rule, || Occurrence::at(self.pointer(field)).with("path", self.path(field)));
    }

    /// Like `refuse`, for a rule with one error message per complaint.
    pub(super) fn complain(
        self,
        out: &mut Violations,
        rule: &'static Rule,
        field: &str,
        complaint: Complaint,
    ) {
        out.add(rule, || {
            Occurrence::at(self.pointer(field)).form(complaint as usize).with("path", self.path(field))
        });
    }

    pub(super) fn pointer(self, field: &str) -> String {
        let slash = if field.is_empty() { "" } else { "/" };
        match self.index {
            None => format!("/messages/{}{slash}{field}", self.message),
            Some(b) => format!("/messages/{}/content/{b}{slash}{field}", self.message),
        }
    }

    pub(super) fn path(self, field: &str) -> String {
        let mut path = match self.index {
            None => format!("messages.{}", self.message),
            Some(b) => format!("messages.{}.content.{b}", self.message),
        };
        for part in [self.tag, field].into_iter().filter(|part| !part.is_empty()) {
            path.push('.');
            path.push_str(part);
        }
        path
    }
}

pub(crate) static REQUEST_SHAPE: Rule = Rule {
    summary: "The known fields of the body, messages, texts and results are present and have the \
             right types.",
    why: "A field that every message or block needs is missing or has another type. Send `messages` as a \
         list of objects with a `role` and a `content` that is a string or a list of blocks, each with its `type`; \
         the `content` of a result is a string or such a list, not the value that the tool returned.",
    sentences: &[
        "{path}: Field required",
        "{path}: Input should be a valid string",
        "{path}: Input should be a valid list",
        "{path}: Input should be a valid dictionary",
        "Input should be a valid dictionary",
    ],
    sources: &[
        "pip:anthropic 2.12.0 types/message_create_params.py",
        "https://github.com/HKUDS/nanobot/issues/3993",
        "https://github.com/strands-agents/sdk-python/issues/2001",
    ],
    ..Rule::inferred("anthropic-messages/request-shape", "ANT-BODY-2", 1, "2024-05")
};

pub(crate) static UNKNOWN_ROLE: Rule = Rule {
    summary: "A role is `user` or `assistant`; newer models also take `system` in mid-conversation.",
    why: "The message has a role that this API does not know, often `tool` from another provider. Tool \
         results are blocks in a user message here, and the system prompt is a field of its own.",
    sentences: &["messages: Unexpected role \"{role}\". {hint}"],
    sources: &[
        "https://github.com/Maol-1997/cursor-claude-connector/issues/3",
        "https://github.com/ianarawjo/ChainForge/issues/271",
    ],
    ..Rule::measured("anthropic-messages/unknown-role", "ANT-ROLE-2", 1, "2024-05")
};

pub(crate) static TOOL_USE_FIELD_REQUIRED: Rule = Rule {
    summary: "A `tool_use` block has an id, a name and an input.",
    why: "The call was stored before it was complete, as happens when a stream is cut. Finish the call \
         from the stream, or drop it together with its result.",
    sentences: &["{path}: Field required", "{path}: Input should be a valid string"],
    sources: &["pip:anthropic 2.12.0 types/message_create_params.py"],
    ..Rule::inferred("anthropic-messages/tool-use-field-required", "ANT-TU-5", 1, "2024-12")
};

pub(crate) static TOOL_ID_PATTERN: Rule = Rule {
    summary: "Ids of calls and results match `^[a-zA-Z0-9_-]+$`.",
    why: "The id comes from another provider, such as `functions.bash:0`, or is empty. Rename the id in \
         the call and in its result alike.",
    sentences: &["{path}: String should match pattern '^[a-zA-Z0-9_-]+$'"],
    sources: &[
        "https://github.com/CommandCodeAI/command-code/issues/323",
        "https://github.com/BlockRunAI/ClawRouter/issues/17",
        "https://github.com/anomalyco/opencode/issues/1279",
    ],
    ..Rule::measured("anthropic-messages/tool-id-pattern", "ANT-ID-1", 1, "2024-12")
};

pub(crate) static TOOL_NAME_PATTERN: Rule = Rule {
    summary: "The name of a called tool has from 1 to 200 characters; in 2025 it was plain, with up to 64.",
    why: "The model invented a tool name, or the name comes from a provider that allows more. \
         Rename the tool in the call; the result does not repeat the name.",
    sentences: &[
        "{path}: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'",
        "{path}: String should have at most {max} characters",
        "{path}: String should have at least 1 character",
    ],
    sources: &[
        "https://github.com/anthropics/claude-code/issues/2673",
        "https://github.com/anthropics/claude-code/issues/94799",
        "https://github.com/shibeshduw/anthropic-generated/blob/main/client/api/schema/request-tool-use-block.ts",
    ],
    ..Rule::observed("anthropic-messages/tool-name-pattern", "ANT-NAME-1", 1, "2025-01")
};

pub(crate) static TOOL_INPUT_NOT_OBJECT: Rule = Rule {
    summary: "The input of a call is a JSON object.",
    why: "The arguments were stored as text, as null or as a list, often because the stream ended inside \
         them. Parse them into an object, or use an empty object and an error result.",
    sentences: &["{path}: Input should be a valid dictionary"],
    sources: &[
        "https://github.com/anthropics/anthropic-sdk-typescript/issues/648",
        "https://github.com/anthropics/claude-code/issues/6695",
        "https://github.com/prism-php/prism/issues/659",
    ],
    ..Rule::measured("anthropic-messages/tool-input-not-object", "ANT-INP-1", 1, "2024-12")
};

pub(crate) static TOOL_RESULT_ID_REQUIRED: Rule = Rule {
    summary: "A `tool_result` block names the call that it answers.",
    why: "The result has no `tool_use_id`, so it cannot be matched to its call. Copy the id of the \
         call into the result.",
    sentences: &["{path}: Field required", "{path}: Input should be a valid string"],
    sources: &["https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls"],
    ..Rule::measured("anthropic-messages/tool-result-id-required", "ANT-TR-4", 1, "2026-08")
};

pub(crate) static THINKING_FIELD_REQUIRED: Rule = Rule {
    summary: "A `thinking` block has its text and its signature.",
    why: "A thinking block was stored without its signature or text, often because the stream was cut \
         before the signature came. Send the block back as it was received, or drop it.",
    sentences: &["{path}: Field required", "{path}: Input should be a valid string"],
    sources: &["https://docs.claude.com/en/docs/build-with-claude/extended-thinking"],
    ..Rule::observed("anthropic-messages/thinking-field-required", "ANT-TH-7", 1, "2025-08")
};

pub(crate) static TOOL_NAMES_NOT_UNIQUE: Rule = Rule {
    summary: "The offered tools have different names.",
    why: "Two entries of `tools` have the same name. Drop one of them, or prefix the names by their origin.",
    sentences: &["tools: Tool names must be unique."],
    sources: &["https://github.com/anthropics/claude-code/issues/10687"],
    ..Rule::observed("anthropic-messages/tool-names-not-unique", "ANT-TOOLS-1", 1, "2025-10")
};

pub(crate) static MESSAGES_EMPTY: Rule = Rule {
    summary: "There is at least one message.",
    why: "The list of messages is empty, often because trimming removed everything or only a system prompt \
         was given. Keep or add a user message.",
    sentences: &["messages: at least one message is required"],
    sources: &["https://github.com/langchain-ai/langchain/pull/31696"],
    ..Rule::secondary("anthropic-messages/messages-empty", "ANT-MSG-3", 1, "2024-05")
};

pub(crate) static SERVER_TOOL_ID_PATTERN: Rule = Rule {
    summary: "Ids of server tools match `^srvtoolu_[a-zA-Z0-9_]+$`, in the call and in its result.",
    why: "The id of a server tool comes from another provider, or a gateway made it up. Keep the id that the API gave, or turn the pair of blocks into text.",
    sentences: &["{path}: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'"],
    sources: &[
        "https://github.com/ding113/claude-code-hub/issues/470",
        "https://github.com/BerriAI/litellm/pull/31672",
    ],
    ..Rule::observed("anthropic-messages/server-tool-id-pattern", "ANT-SRV-3", 1, "2025-12")
};

pub(crate) static EXTRA_KEY: Rule = Rule {
    summary: "Messages, calls and the body have no key of another API.",
    why: "A field of another API or of the client itself was sent along, such as the id under which a message is stored. Send only the fields that the API documents.",
    sentences: &["{path}: Extra inputs are not permitted"],
    sources: &[
        "https://github.com/microsoft/autogen/issues/3034",
        "https://github.com/ErlichLiu/DeepClaude/issues/79",
        "https://github.com/anthropics/claude-code/issues/4378",
        "https://github.com/amrit110/oli/issues/7",
        "https://github.com/Aider-AI/aider/issues/3367",
    ],
    ..Rule::observed("anthropic-messages/extra-key", "ANT-BODY-3", 2, "2024-06")
};
