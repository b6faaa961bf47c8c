//! The first phase: the types of known fields, message by message.
//!
//! Unknown keys, unknown kinds of content parts and unknown kinds of calls pass. Parts of other dialects do not.

use super::field::{Field, missing, wrong_type};
use super::foreign::is_foreign_to_chat;
use super::switches::{OpenaiChatSwitches, Roles};
use super::{ChatMessage, ChatRole};
use crate::dialects::is_plain_name;
use crate::json::{Json, JsonType};
use crate::{Occurrence, Rule, Violations};

/// Checks that the body is an object with a conversation. `n_messages` is `None` if there is no list of
/// messages.
pub(super) fn check_body(body: Json, n_messages: Option<usize>, out: &mut Violations) {
    match (n_messages, body.get("messages")) {
        _ if !body.is_object() => wrong_type(out, &REQUEST_SHAPE, Field::new("", ""), "an object", body),
        (None, None) => missing(out, &REQUEST_SHAPE, Field::new("", "messages")),
        (None, Some(other)) => {
            let field = Field::new("/messages", "messages");
            wrong_type(out, &REQUEST_SHAPE, field, "an array of objects", other);
        }
        (Some(0), _) => refuse_empty(out, &MESSAGES_EMPTY, Field::new("/messages", "messages"), Empty::Array),
        (Some(_), _) => {}
    }
    if let Some(tools) = body.get("tools").filter(|tools| !tools.is_array() && !tools.is_null()) {
        wrong_type(out, &REQUEST_SHAPE, Field::new("/tools", "tools"), "an array of objects", tools);
    }
}

/// Checks the fields of a message and its calls.
pub(super) fn check_message(switches: &OpenaiChatSwitches, said: ChatMessage<'_, '_>, out: &mut Violations) {
    let n = said.n;
    if !said.json.is_object() {
        let field = Field { pointer: format!("/messages/{n}"), path: format!("messages[{n}]") };
        return wrong_type(out, &REQUEST_SHAPE, field, "an object", said.json);
    }
    check_role(switches.roles, said, out);
    check_content(said, out);
    match (said.role, said.tool_calls) {
        (Some(ChatRole::Assistant), Some(calls)) if calls.is_array() && calls.is_empty() => {
            refuse_empty(out, &TOOL_CALLS_EMPTY, in_message(n, "tool_calls"), Empty::Array);
        }
        (Some(ChatRole::Assistant), Some(other)) if !other.is_array() && !other.is_null() => {
            wrong_type(out, &REQUEST_SHAPE, in_message(n, "tool_calls"), "an array of objects", other);
        }
        (Some(ChatRole::Tool), _) => check_tool_call_id(said, out),
        (Some(ChatRole::Function), _) if said.json.field("name").is_null() => {
            out.add(&TOOL_CALL_ID_REQUIRED, || {
                Occurrence::at(at(n)).form(NO_NAME).param(format!("messages.[{n}].name")).with("n", n)
            });
        }
        _ => {}
    }
    for (k, call) in said.calls().enumerate() {
        check_call(switches, n, k, call, out);
    }
}

fn check_role(roles: Roles, said: ChatMessage<'_, '_>, out: &mut Violations) {
    let n = said.n;
    let is_known = match roles {
        Roles::Six => said.role.is_some(),
        Roles::Deepseek => said.written_role.is_some_and(|role| DEEPSEEK_ROLES.iter().any(|it| role.is(it))),
    };
    let written = match said.written_role {
        _ if is_known => return,
        None => {
            let field = Field { pointer: at(n), path: format!("messages[{n}].role") };
            return missing(out, &REQUEST_SHAPE, field);
        }
        Some(written) => written,
    };
    match written.as_str() {
        Some(role) => out.add(&UNKNOWN_ROLE, || {
            in_message(n, "role").violation().code("invalid_value").with("role", role).with("n", n)
        }),
        None => wrong_type(out, &REQUEST_SHAPE, in_message(n, "role"), "a string", written),
    }
}

/// The roles that DeepSeek's error message lists.
const DEEPSEEK_ROLES: [&str; 5] = ["system", "user", "assistant", "tool", "latest_reminder"];

fn check_content(said: ChatMessage<'_, '_>, out: &mut Violations) {
    // Missing content is checked last.
    let Some(content) = said.content else { return };
    let n = said.n;
    match content.kind() {
        JsonType::Null | JsonType::String => {}
        JsonType::Array => {
            if content.is_empty() {
                check_empty_list(said, out);
            }
            for (k, part) in content.items().enumerate() {
                check_part(|| in_message(n, "content").item(k), part, out);
            }
        }
        _ => {
            let expected = "one of a string or array of objects";
            wrong_type(out, &REQUEST_SHAPE, in_message(n, "content"), expected, content);
        }
    }
}

/// A reply with calls and an empty list was rejected. A system message with one was accepted in 2024
/// (<https://github.com/openai/openai-python/issues/1812>), so other messages only get a warning.
fn check_empty_list(said: ChatMessage<'_, '_>, out: &mut Violations) {
    let violation = || in_message(said.n, "content").violation().code("empty_array").with("n", said.n);
    if said.calls().next().is_some() {
        out.add(&CONTENT_LIST_EMPTY, violation);
    } else {
        out.warn(&CONTENT_LIST_EMPTY, violation);
    }
}

fn check_part(field: impl Fn() -> Field, part: Json, out: &mut Violations) {
    if !part.is_object() {
        return wrong_type(out, &REQUEST_SHAPE, field(), "an object", part);
    }
    let Some(kind) = part.get("type") else {
        return out.add(&CONTENT_PART_TYPE, || {
            field().lacking("type").violation().form(NO_TYPE).code("missing_required_parameter")
        });
    };
    // Shortcut: nearly every part is text.
    if kind.is("text") {
        return;
    }
    if let Some(kind) = kind.as_str().filter(|kind| is_foreign_to_chat(kind)) {
        out.add(&CONTENT_PART_TYPE, || {
            field().child("type").violation().code("invalid_value").with("type", kind)
        });
    }
}

/// The second error message of the rule about the types of parts.
const NO_TYPE: usize = 1;

fn check_tool_call_id(said: ChatMessage<'_, '_>, out: &mut Violations) {
    let n = said.n;
    match said.tool_call_id {
        Some(id) if id.is_str() => {}
        Some(id) if !id.is_null() => {
            wrong_type(out, &TOOL_CALL_ID_REQUIRED, in_message(n, "tool_call_id"), "a string", id);
        }
        _ => out.add(&TOOL_CALL_ID_REQUIRED, || {
            Occurrence::at(at(n)).param(format!("messages.[{n}].tool_call_id")).with("n", n)
        }),
    }
}

/// The error message for a function message without a name.
const NO_NAME: usize = 2;

fn check_call(switches: &OpenaiChatSwitches, n: usize, k: usize, call: Json, out: &mut Violations) {
    let field = || in_message(n, "tool_calls").item(k);
    if !call.is_object() {
        return wrong_type(out, &TOOL_CALL_SHAPE, field(), "an object", call);
    }
    let [id, kind, function] = call.pick(["id", "type", "function"]);
    if let Some(id) = string(id, "id", field, out).and_then(Json::as_str) {
        let max = switches.max_call_id_chars;
        // A text never has more characters than bytes.
        if id.len() > max && id.chars().count() > max {
            out.add(&CALL_ID_TOO_LONG, || {
                let violation = field().child("id").violation().code("string_above_max_length");
                violation.with("max", max).with("length", id.chars().count())
            });
        }
    }
    if kind.is_some_and(|kind| !kind.is("function")) {
        return;
    }
    match function {
        None => missing(out, &TOOL_CALL_SHAPE, field().lacking("function")),
        Some(function) if function.is_object() => check_function(function, || field().child("function"), out),
        Some(other) => wrong_type(out, &TOOL_CALL_SHAPE, field().child("function"), "an object", other),
    }
}

/// Checks the function of a call. The arguments need not be JSON, because they are the text that the model
/// wrote.
fn check_function(function: Json, field: impl Fn() -> Field, out: &mut Violations) {
    let [name, arguments] = function.pick(["name", "arguments"]);
    string(arguments, "arguments", &field, out);
    let Some(name) = string(name, "name", &field, out).and_then(Json::as_str) else { return };
    if is_plain_name(&name) {
        return;
    }
    if name.is_empty() {
        return refuse_empty(out, &FUNCTION_NAME_PATTERN, field().child("name"), Empty::String);
    }
    let violation = || field().child("name").violation().code("invalid_value");
    // For some models, the error message has the pattern '^[a-zA-Z0-9_\.-]+$', so a dot on its own does
    // not prove a rejection.
    if is_plain_name(&name.replace('.', "_")) {
        out.warn(&FUNCTION_NAME_PATTERN, violation)
    } else {
        out.add(&FUNCTION_NAME_PATTERN, violation)
    }
}

fn at(n: usize) -> String {
    format!("/messages/{n}")
}

fn in_message(n: usize, name: &str) -> Field {
    Field { pointer: format!("/messages/{n}/{name}"), path: format!("messages[{n}].{name}") }
}

/// Requires a string field in a call, and returns it.
fn string<'t, 'a>(
    value: Option<Json<'t, 'a>>,
    name: &str,
    parent: impl Fn() -> Field,
    out: &mut Violations,
) -> Option<Json<'t, 'a>> {
    match value {
        Some(value) if value.is_str() => return Some(value),
        Some(other) => wrong_type(out, &TOOL_CALL_SHAPE, parent().child(name), "a string", other),
        None => missing(out, &TOOL_CALL_SHAPE, parent().lacking(name)),
    }
    None
}

#[derive(Clone, Copy)]
enum Empty {
    Array,
    String,
}

/// Reports an empty value with the last error message of the rule.
fn refuse_empty(out: &mut Violations, rule: &'static Rule, field: Field, what: Empty) {
    let code = match what {
        Empty::Array => "empty_array",
        Empty::String => "empty_string",
    };
    out.add(rule, || field.violation().form(rule.sentences.len() - 1).code(code));
}

pub(crate) static REQUEST_SHAPE: Rule = Rule {
    summary: "The known fields of the body and of messages are present and have the right types.",
    why: "A field that every message needs is missing or has another type. Send `messages` as a list of \
         objects with a `role` and a `content` that is a string or a list of parts.",
    sentences: &[
        "Missing required parameter: '{path}'.",
        "Invalid type for '{path}': expected {expected}, but got {got} instead.",
    ],
    sources: &[
        "https://github.com/pydantic/pydantic-ai/issues/2653",
        "https://github.com/microsoft/graphrag/issues/672",
    ],
    ..Rule::observed("openai-chat/request-shape", "OAI-BODY-2", 1, "2024-07")
};

pub(crate) static MESSAGES_EMPTY: Rule = Rule {
    summary: "There is at least one message.",
    why: "The list of messages is empty, often because trimming removed everything. Keep or add a user \
         message.",
    sentences: &[
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array \
         instead.",
    ],
    sources: &["https://github.com/CopilotKit/CopilotKit/issues/529"],
    ..Rule::measured("openai-chat/messages-empty", "OAI-MSG-1", 1, "2024-06")
};

pub(crate) static UNKNOWN_ROLE: Rule = Rule {
    summary: "A role is one that the API knows.",
    why: "The message has a role of another provider, such as `model`, or `developer` at DeepSeek. Map it to \
         `system`, `assistant`, `user` or `tool`.",
    sentences: &[
        "Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', \
         'tool', and 'developer'.",
    ],
    sources: &["https://github.com/sashabaranov/go-openai/issues/679"],
    ..Rule::observed("openai-chat/unknown-role", "OAI-ROLE-1", 1, "2024-07")
};

pub(crate) static CONTENT_PART_TYPE: Rule = Rule {
    summary: "A part of a message has a type of this API.",
    why: "The message was written for another API, most often Anthropic's or Responses, or is a tool's own list of \
         objects. Send text as `text`, calls in `tool_calls`, and what a tool returned as one text.",
    sentences: &[
        "Invalid value: '{type}'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', and \
         'file'.",
        "Missing required parameter: '{path}'.",
    ],
    sources: &[
        "https://github.com/aallam/openai-kotlin/issues/320",
        "https://github.com/neuron-core/neuron-ai/issues/292",
        "https://github.com/langchain-ai/langgraphjs/issues/370",
        "https://github.com/langchain-ai/langgraphjs/issues/506",
    ],
    ..Rule::observed("openai-chat/content-part-type", "OAI-PART-1", 1, "2024-04")
};

pub(crate) static CONTENT_LIST_EMPTY: Rule = Rule {
    summary: "A reply with calls has no empty list of parts.",
    why: "The parts of a reply were turned into calls, and an empty list was left as its content. Send null or an empty \
         string.",
    sentences: &[
        "Invalid 'messages[{n}].content': empty array. Expected an array with minimum length 1, but got an empty array \
         instead.",
    ],
    sources: &[
        "https://github.com/langchain-ai/langchainjs/pull/11419",
        "https://github.com/n8n-io/n8n/pull/38526",
    ],
    ..Rule::observed("openai-chat/content-list-empty", "OAI-MSG-3", 1, "2026-08")
};

pub(crate) static TOOL_CALLS_EMPTY: Rule = Rule {
    summary: "An assistant message has no empty list of calls.",
    why: "A reply without calls was stored with an empty `tool_calls`. Leave the field out.",
    sentences: &[
        "Invalid '{path}': empty array. Expected an array with minimum length 1, but got an empty array \
         instead.",
    ],
    sources: &[
        "https://github.com/openai/openai-python/issues/2061",
        "https://github.com/openai/openai-node/pull/1341",
        "https://github.com/home-assistant/core/pull/118577",
    ],
    ..Rule::measured("openai-chat/tool-calls-empty", "OAI-TC-2", 1, "2024-06")
};

pub(crate) static TOOL_CALL_SHAPE: Rule = Rule {
    summary: "A function call has an id, a name and its arguments as text.",
    why: "The call was stored before it was complete, or its arguments were stored as an object. Finish \
         the call, and keep the arguments as the text that the model wrote.",
    sentences: &[
        "Missing required parameter: '{path}'.",
        "Invalid type for '{path}': expected {expected}, but got {got} instead.",
    ],
    sources: &["https://github.com/continuedev/continue/issues/11645"],
    ..Rule::inferred("openai-chat/tool-call-shape", "OAI-TC-4", 1, "2024-07")
};

pub(crate) static CALL_ID_TOO_LONG: Rule = Rule {
    summary: "The id of a call is not too long.",
    why: "The id was made by another provider or a gateway and is longer than this API takes. Shorten it \
         in the call and in its result alike.",
    sentences: &[
        "Invalid '{path}': string too long. Expected a string with maximum length {max}, but got a string \
         with length {length} instead.",
    ],
    sources: &[
        "https://github.com/camel-ai/camel/issues/2215",
        "https://github.com/anomalyco/opencode/issues/12653",
        "https://github.com/vercel/ai/issues/8132",
    ],
    ..Rule::measured("openai-chat/call-id-too-long", "OAI-ID-1", 1, "2024-01")
};

pub(crate) static FUNCTION_NAME_PATTERN: Rule = Rule {
    summary: "The name of a called function matches `^[a-zA-Z0-9_-]+$`.",
    why: "The model invented a name, or the name comes from a provider that allows more characters. Rename \
         the function in the call.",
    sentences: &[
        "Invalid '{path}': string does not match pattern. Expected a string that matches the pattern \
         '^[a-zA-Z0-9_-]+$'.",
        "Invalid '{path}': empty string. Expected a string with minimum length 1, but got an empty string instead.",
    ],
    sources: &[
        "https://github.com/mcp-use/mcp-use/pull/94",
        "https://github.com/continuedev/continue/issues/11645",
        "https://github.com/danishjsheikh/swagger-mcp/issues/13",
    ],
    ..Rule::observed("openai-chat/function-name-pattern", "OAI-NAME-1", 1, "2024-06")
};

pub(crate) static TOOL_CALL_ID_REQUIRED: Rule = Rule {
    summary: "A tool message names the call that it answers, and a function message its function.",
    why: "The tool message has no `tool_call_id`, so it cannot be matched to its call. Copy the id \
         of the call into it.",
    sentences: &[
        "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
        "Invalid type for '{path}': expected {expected}, but got {got} instead.",
        "Missing parameter 'name': messages with role 'function' must have a 'name'.",
    ],
    sources: &[
        "https://github.com/langchain-ai/langchain/issues/22600",
        "https://github.com/run-llama/multi-agent-concierge/pull/16",
    ],
    ..Rule::observed("openai-chat/tool-call-id-required", "OAI-TM-4", 1, "2024-02")
};
