//! Checks of single messages and fields: the constraints of the service model, and emptiness.
//!
//! Unknown keys and unknown kinds of blocks pass; a block of another API does not. The service lists every
//! broken constraint in one error message. Ours names only the first.

use std::borrow::Cow;

use super::{BlockFields, ConverseMessage};
use crate::dialects::is_plain_name;
use crate::json::{Json, JsonType};
use crate::{Occurrence, Rule, Violations};

/// Maximum length of a call id and of a tool name.
const MAX_CHARS: usize = 64;

/// Checks that the body is an object with a list of messages, and that the offered tools are well-formed.
pub(super) fn check_body(body: Json, n_messages: Option<usize>, out: &mut Violations) {
    if !body.is_object() {
        return wrong_type(out, FieldPath::root(), body, "a Structure");
    }
    let messages = body.field("messages");
    if n_messages.is_none() && !messages.is_null() {
        wrong_type(out, FieldPath::root().field("messages"), messages, "a List");
    }
    let tools = body.field("toolConfig").field("tools");
    if tools.is_array() && tools.is_empty() {
        out.add(&TOOLS_EMPTY, || Occurrence::at("/toolConfig/tools"));
    }
    for (k, tool) in tools.items().enumerate() {
        let place = || FieldPath::root().field("toolConfig").field("tools").item(k).field("toolSpec");
        let spec = tool.field("toolSpec");
        if let Some(name) = spec.field("name").as_str() {
            check_name(&name, || place().field("name"), out);
        }
        let schema = spec.field("inputSchema");
        if let Some(json) = schema.get("json") {
            object(json, || place().field("inputSchema").field("json"), out);
        }
    }
}

/// Checks the fields of a message, but not its blocks.
pub(super) fn check_message(message: ConverseMessage<'_, '_, '_>, out: &mut Violations) {
    let n = message.n;
    let place = || FieldPath::root().field("messages").item(n);
    if !message.json.is_object() {
        return wrong_type(out, place(), message.json, "a Structure");
    }
    if message.role.is_none() {
        check_role(message.written_role, place, out);
    }
    match message.content.map(|content| (content.kind(), content)) {
        None | Some((JsonType::Null, _)) => missing(out, place(), "content"),
        Some((JsonType::Array, content)) if content.is_empty() => {
            out.add(&MESSAGE_EMPTY, || Occurrence::at(format!("/messages/{n}/content")).with("n", n));
        }
        Some((JsonType::Array, _)) => {}
        Some((_, content)) => wrong_type(out, place().field("content"), content, "a List"),
    }
}

/// Reports an unknown role.
fn check_role(role: Option<Json>, place: impl Fn() -> FieldPath, out: &mut Violations) {
    let Some(role) = role.filter(|role| !role.is_null()) else { return missing(out, place(), "role") };
    match role.as_str() {
        Some(other) => out.add(&UNKNOWN_ROLE, || place().field("role").violation().with("role", other)),
        None => wrong_type(out, place().field("role"), role, "a String"),
    }
}

pub(super) fn check_block(n: usize, b: usize, block: &BlockFields<'_, '_>, out: &mut Violations) {
    let place = || FieldPath::root().field("messages").item(n).field("content").item(b);
    if !block.json.is_object() {
        return wrong_type(out, place(), block.json, "a Structure");
    }
    if let Some(text) = block.text.filter(|text| !text.is_null() && !text.is_str()) {
        wrong_type(out, place().field("text"), text, "a String")
    }
    if let Some(call) = block.call.filter(|call| !call.is_null()) {
        check_call(call, block, || place().field("toolUse"), out);
    }
    if let Some(result) = block.result.filter(|result| !result.is_null()) {
        check_result(n, b, result, block, out);
    }
    if block.is_keyless() {
        out.add(&BLOCK_WITHOUT_KEY, || Occurrence::at(place().pointer).with("path", place().path));
    }
}

fn check_call(call: Json, block: &BlockFields<'_, '_>, place: impl Fn() -> FieldPath, out: &mut Violations) {
    if !call.is_object() {
        return wrong_type(out, place(), call, "a Structure");
    }
    if let Some(id) = string(block.call_id, "toolUseId", &place, out) {
        check_id(&id, || place().field("toolUseId"), out);
    }
    if let Some(name) = string(block.call_name, "name", &place, out) {
        check_name(&name, || place().field("name"), out);
    }
    match block.call_input {
        None => missing(out, place(), "input"),
        Some(input) => object(input, || place().field("input"), out),
    }
}

fn check_result(n: usize, b: usize, result: Json, block: &BlockFields<'_, '_>, out: &mut Violations) {
    let place = || FieldPath::root().field("messages").item(n).field("content").item(b).field("toolResult");
    if !result.is_object() {
        return wrong_type(out, place(), result, "a Structure");
    }
    if let Some(id) = string(block.result_id, "toolUseId", place, out) {
        check_id(&id, || place().field("toolUseId"), out);
    }
    let Some(content) = block.result_content else { return missing(out, place(), "content") };
    match content.kind() {
        JsonType::Null => missing(out, place(), "content"),
        JsonType::Array
            if content.is_empty() && block.result_status.is_some_and(|status| status.is("error")) =>
        {
            out.add(&TOOL_RESULT_ERROR_EMPTY, || {
                Occurrence::at(place().field("content").pointer).with("n", n).with("b", b)
            });
        }
        JsonType::Array => {
            for (k, piece) in content.items().enumerate() {
                if let Some(json) = piece.get("json") {
                    object(json, || place().field("content").item(k).field("json"), out);
                }
            }
        }
        _ => wrong_type(out, place().field("content"), content, "a List"),
    }
}

/// Checks the characters of an id: "Member must satisfy regular expression pattern: \[a-zA-Z0-9_.:-\]+"
fn check_id(id: &str, place: impl FnOnce() -> FieldPath, out: &mut Violations) {
    let is_plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte));
    check_member(&TOOL_ID_PATTERN, id, is_plain, place, out);
}

/// Checks the characters of a name: "Member must satisfy regular expression pattern: \[a-zA-Z0-9_-\]+"
fn check_name(name: &str, place: impl FnOnce() -> FieldPath, out: &mut Violations) {
    check_member(&TOOL_NAME_PATTERN, name, name.is_empty() || is_plain_name(name), place, out);
}

/// Rules about ids and names have three error messages: one for the pattern, and one for each limit of the
/// length.
fn check_member(
    rule: &'static Rule,
    text: &str,
    is_plain: bool,
    place: impl FnOnce() -> FieldPath,
    out: &mut Violations,
) {
    let form = match text.chars().count() {
        _ if !is_plain => 0,
        0 => 1,
        1..=MAX_CHARS => return,
        _ => 2,
    };
    out.add(rule, || place().violation().form(form));
}

/// A location in the body, under the two names that the service uses.
struct FieldPath {
    pointer: String,
    /// The name in constraints, which count items from one: `messages.2.member.content.1.member.toolUse`.
    member: String,
    /// The name in other error messages, which count items from zero: `messages.1.content.0.toolUse`.
    path: String,
}

impl FieldPath {
    fn root() -> FieldPath {
        FieldPath { pointer: String::new(), member: String::new(), path: String::new() }
    }

    fn field(self, name: &str) -> FieldPath {
        let join = |path: String| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        FieldPath {
            pointer: format!("{}/{name}", self.pointer),
            member: join(self.member),
            path: join(self.path),
        }
    }

    fn item(self, index: usize) -> FieldPath {
        FieldPath {
            pointer: format!("{}/{index}", self.pointer),
            member: format!("{}.{}.member", self.member, index + 1),
            path: format!("{}.{index}", self.path),
        }
    }

    fn violation(self) -> Occurrence {
        Occurrence::at(self.pointer).with("path", self.member)
    }
}

/// Requires a string field of a block, and returns it.
fn string<'a>(
    value: Option<Json<'_, 'a>>,
    name: &str,
    place: impl Fn() -> FieldPath,
    out: &mut Violations,
) -> Option<Cow<'a, str>> {
    match value.filter(|value| !value.is_null()) {
        Some(value) if value.is_str() => return value.as_str(),
        Some(other) => wrong_type(out, place().field(name), other, "a String"),
        None => missing(out, place(), name),
    }
    None
}

/// Requires a JSON object where the service model allows any document.
fn object(value: Json, place: impl FnOnce() -> FieldPath, out: &mut Violations) {
    if !value.is_object() {
        out.add(&VALUE_NOT_OBJECT, || {
            let FieldPath { pointer, path, .. } = place();
            Occurrence::at(pointer).with("path", path)
        });
    }
}

/// Reports a missing field at its parent, so that the pointer resolves.
fn missing(out: &mut Violations, parent: FieldPath, name: &str) {
    out.add(&REQUEST_SHAPE, || {
        let pointer = parent.pointer.clone();
        Occurrence::at(pointer).with("path", parent.field(name).member)
    });
}

/// Reports "STRING_VALUE can not be converted to a List". The service's JSON reader uses this error
/// message for other operations too.
fn wrong_type(out: &mut Violations, place: FieldPath, got: Json, expected: &str) {
    let got = match got.kind() {
        JsonType::Null => "NULL_VALUE",
        JsonType::Bool => "BOOLEAN_VALUE",
        JsonType::Number => "NUMBER_VALUE",
        JsonType::String => "STRING_VALUE",
        JsonType::Array => "START_ARRAY",
        JsonType::Object => "START_OBJECT",
    };
    out.add(&REQUEST_SHAPE, || {
        Occurrence::at(place.pointer).form(1).with("got", got).with("expected", expected)
    });
}

pub(crate) static REQUEST_SHAPE: Rule = Rule {
    summary: "The known fields of the body, messages and blocks are present and have the right types.",
    why: "A field that every message or block needs is missing or has another type. Send `messages` \
         as a list of objects with a `role` and a `content` that is a list of blocks, not a plain \
         string.",
    sentences: &[
        "1 validation error detected: Value null at '{path}' failed to satisfy constraint: Member \
         must not be null",
        "{got} can not be converted to {expected}",
    ],
    sources: &[
        "https://github.com/maximhq/bifrost/pull/6732",
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html",
    ],
    ..Rule::observed("bedrock-converse/request-shape", "BDR-BODY-2", 1, "2024-06")
};

/// The list of keys is from 2026; their order is the provider's
/// (<https://github.com/envoyproxy/ai-gateway/pull/1717>).
pub(crate) static BLOCK_WITHOUT_KEY: Rule = Rule {
    summary: "A block is named by its key, such as `text` or `toolUse`.",
    why: "The block is empty, or it has the `type` of another API and no key of this one. The \
         thread began with another provider, or a block was stored without its content. Translate \
         it, or leave it out.",
    sentences: &[
        "The ContentBlock object at {path} must set one of the following keys: text, image, toolUse, toolResult, \
         document, video, cachePoint, reasoningContent, citationsContent, searchResult.",
    ],
    sources: &[
        "https://github.com/openclaw/openclaw/issues/58128",
        "https://github.com/envoyproxy/ai-gateway/pull/1717",
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html",
    ],
    ..Rule::observed("bedrock-converse/block-without-key", "BDR-TYPE-1", 1, "2026-01")
};

pub(crate) static UNKNOWN_ROLE: Rule = Rule {
    summary: "A role is `user` or `assistant`.",
    why: "The message has a role of another provider, such as `system` or `tool`. System prompts go \
         into the field `system`, and results of tools are blocks of a user message.",
    sentences: &["1 validation error detected: Value '{role}' at '{path}' failed to satisfy constraint: \
         Member must satisfy enum value set: [user, assistant]"],
    sources: &["https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html"],
    ..Rule::inferred("bedrock-converse/unknown-role", "BDR-ROLE-3", 1, "2024-06")
};

pub(crate) static TOOL_ID_PATTERN: Rule = Rule {
    summary: "Ids of calls and results match `[a-zA-Z0-9_.:-]+` and have 1 to 64 characters.",
    why: "The id comes from another provider or a gateway, or is empty. Rename the id in the call \
         and in its result alike.",
    sentences: &[
        "1 validation error detected: Value at '{path}' failed to satisfy constraint: Member must \
         satisfy regular expression pattern: [a-zA-Z0-9_.:-]+",
        "1 validation error detected: Value at '{path}' failed to satisfy constraint: Member must \
         have length greater than or equal to 1",
        "1 validation error detected: Value at '{path}' failed to satisfy constraint: Member must \
         have length less than or equal to 64",
    ],
    sources: &[
        "https://github.com/tontinton/maki/issues/38",
        "https://github.com/run-llama/llama_index/pull/22775",
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html",
    ],
    ..Rule::measured("bedrock-converse/tool-id-pattern", "BDR-ID-1", 1, "2024-06")
};

pub(crate) static TOOL_NAME_PATTERN: Rule = Rule {
    summary: "Names of tools match `[a-zA-Z0-9_-]+` and have 1 to 64 characters.",
    why: "The model invented a name, or the name comes from a provider that allows more characters. \
         Rename the tool where it is offered and in the calls.",
    sentences: &[
        "1 validation error detected: Value at '{path}' failed to satisfy constraint: Member must \
         satisfy regular expression pattern: [a-zA-Z0-9_-]+",
        "1 validation error detected: Value at '{path}' failed to satisfy constraint: Member must \
         have length greater than or equal to 1",
        "1 validation error detected: Value at '{path}' failed to satisfy constraint: Member must \
         have length less than or equal to 64",
    ],
    sources: &[
        "https://github.com/aws-samples/remote-swe-agents/pull/457",
        "https://github.com/tontinton/maki/issues/38",
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html",
    ],
    ..Rule::measured("bedrock-converse/tool-name-pattern", "BDR-NAME-1", 1, "2024-06")
};

pub(crate) static TOOLS_EMPTY: Rule = Rule {
    summary: "A `toolConfig` offers at least one tool.",
    why: "The list of tools is empty. Leave `toolConfig` out, or, where the history has calls, keep \
         the tools that it calls.",
    sentences: &["1 validation error detected: Value at 'toolConfig.tools' failed to satisfy constraint: \
         Member must have length greater than or equal to 1"],
    sources: &[
        "https://github.com/genkit-ai/aws-bedrock-js-plugin/issues/43",
        "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolConfiguration.html",
    ],
    ..Rule::observed("bedrock-converse/tools-empty", "BDR-TOOLS-2", 1, "2025-02")
};

pub(crate) static VALUE_NOT_OBJECT: Rule = Rule {
    summary: "The input of a call, a result in JSON and the schema of a tool are JSON objects.",
    why: "The value is text, null or a list. Arguments are often stored as the text that the model \
         wrote: parse them. Wrap a list or a text in an object, or send the result as `text`.",
    sentences: &[
        "The format of the value at {path} is invalid. Provide a json object for the field and try again.",
    ],
    sources: &[
        "https://github.com/aws/aws-sdk-js-v3/issues/7330",
        "https://github.com/aws/aws-sdk-net/issues/3377",
    ],
    ..Rule::observed("bedrock-converse/value-not-object", "BDR-INP-1", 2, "2024-07")
};

pub(crate) static MESSAGE_EMPTY: Rule = Rule {
    summary: "A message has content.",
    why: "A message without blocks was stored, as happens when a reply is stopped before its first \
         token, or when blank texts were dropped. Drop the message too.",
    sentences: &["The content field in the Message object at messages.{n} is empty. Add a ContentBlock \
         object to the content field and try again."],
    sources: &[
        "https://github.com/earendil-works/pi/pull/3443",
        "https://github.com/archestra-ai/archestra/pull/4220",
    ],
    ..Rule::observed("bedrock-converse/message-empty", "BDR-MSG-1", 2, "2024-10")
};

pub(crate) static TEXT_BLANK: Rule = Rule {
    summary: "A text is not blank.",
    why: "A text block holds nothing, often because a reply began with a call and the client kept a \
         text for it. Drop the block.",
    sentences: &["The text field in the ContentBlock object at messages.{n}.content.{b} is blank. Add text \
         to the text field, and try again."],
    sources: &[
        "https://github.com/OpenHands/OpenHands/issues/5339",
        "https://github.com/OpenHands/OpenHands/issues/5722",
        "https://github.com/aws-samples/bedrock-engineer/issues/8",
    ],
    ..Rule::measured("bedrock-converse/text-blank", "BDR-TXT-1", 2, "2024-11")
};

pub(crate) static TOOL_RESULT_ERROR_EMPTY: Rule = Rule {
    summary: "A result with the status `error` says what went wrong.",
    why: "A tool failed without a message, and the result was stored with empty content. Put a text \
         into it, if only that the tool failed.",
    sentences: &[
        "The content field at messages.{n}.content.{b}.toolResult cannot be empty when status value \
         is error.",
    ],
    sources: &["https://github.com/aws-samples/sample-multi-agent-orchestration-chat-on-agentcore/issues/15"],
    ..Rule::observed("bedrock-converse/tool-result-error-empty", "BDR-TR-2", 2, "2026-06")
};
