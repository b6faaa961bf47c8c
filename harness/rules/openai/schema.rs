//! The first phase: the types of known fields, message by message.
//!
//! Unknown keys, unknown kinds of content parts and unknown kinds of calls pass.

use super::super::profile::OpenaiChatSwitches;
use super::super::violation::{Breach, Breaches};
use super::super::{Rule, is_plain_name, type_with_article};
use super::table::*;
use super::{Role, calls};
use crate::json::{Json, Object};

/// The messages of a body; `None` if there are none to judge.
pub(super) fn messages<'a>(body: &'a Json<'a>, out: &mut Breaches) -> Option<&'a [Json<'a>]> {
    let Json::Object(body) = body else {
        wrong_type(out, &REQUEST_SHAPE, Field::new("", ""), "an object", body);
        return None;
    };
    match body.get("messages") {
        None => missing(out, &REQUEST_SHAPE, Field::new("", "messages")),
        Some(Json::Array(messages)) if messages.is_empty() => {
            let field = Field::new("/messages", "messages");
            refuse(
                out,
                &MESSAGES_EMPTY,
                field,
                "empty array",
                "an array with minimum length 1",
                "an empty array",
            );
        }
        Some(Json::Array(messages)) => return Some(messages),
        Some(other) => {
            wrong_type(
                out,
                &REQUEST_SHAPE,
                Field::new("/messages", "messages"),
                "an array of objects",
                other,
            );
        }
    }
    None
}

/// Checks the fields of every message and of its calls.
pub(super) fn check_messages(switches: &OpenaiChatSwitches, messages: &[Json], out: &mut Breaches) {
    for (n, message) in messages.iter().enumerate() {
        let Json::Object(fields) = message else {
            let field = Field { pointer: format!("/messages/{n}"), path: format!("messages[{n}]") };
            wrong_type(out, &REQUEST_SHAPE, field, "an object", message);
            continue;
        };
        check_role(n, fields, out);
        check_content(n, fields, out);
        match (Role::of(message), fields.get("tool_calls")) {
            (Some(Role::Assistant), Some(Json::Array(calls))) if calls.is_empty() => {
                let field = in_message(n, "tool_calls");
                refuse(
                    out,
                    &TOOL_CALLS_EMPTY,
                    field,
                    "empty array",
                    "an array with minimum length 1",
                    "an empty array",
                );
            }
            (Some(Role::Assistant), Some(other)) if !other.is_array() && !other.is_null() => {
                wrong_type(out, &REQUEST_SHAPE, in_message(n, "tool_calls"), "an array of objects", other);
            }
            (Some(Role::Tool), _) => check_tool_call_id(n, fields, out),
            _ => {}
        }
        for (k, call) in calls(message).iter().enumerate() {
            check_call(switches, n, k, call, out);
        }
    }
}

fn check_role(n: usize, message: &Object, out: &mut Breaches) {
    let role = match message.get("role") {
        None => {
            return missing(
                out,
                &REQUEST_SHAPE,
                Field { pointer: at(n), path: format!("messages[{n}].role") },
            );
        }
        Some(Json::String(role)) => role,
        Some(other) => return wrong_type(out, &REQUEST_SHAPE, in_message(n, "role"), "a string", other),
    };
    if !matches!(role.as_ref(), "system" | "developer" | "user" | "assistant" | "tool" | "function") {
        out.add(&UNKNOWN_ROLE, || {
            let Field { pointer, path } = in_message(n, "role");
            let message = format!(
                "Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', \
                 and 'developer'."
            );
            Breach::at(pointer, message).param(path).code("invalid_value")
        });
    }
}

fn check_content(n: usize, message: &Object, out: &mut Breaches) {
    match message.get("content") {
        // Missing content is checked last.
        None | Some(Json::Null | Json::String(_)) => {}
        Some(Json::Array(parts)) => {
            for (k, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_object()) {
                wrong_type(out, &REQUEST_SHAPE, in_message(n, "content").item(k), "an object", part);
            }
        }
        Some(other) => {
            let expected = "one of a string or array of objects";
            wrong_type(out, &REQUEST_SHAPE, in_message(n, "content"), expected, other);
        }
    }
}

fn check_tool_call_id(n: usize, message: &Object, out: &mut Breaches) {
    match message.get("tool_call_id") {
        Some(Json::String(_)) => {}
        None | Some(Json::Null) => out.add(&TOOL_CALL_ID_REQUIRED, || {
            Breach::at(
                at(n),
                "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'."
                    .to_owned(),
            )
            .param(format!("messages.[{n}].tool_call_id"))
        }),
        Some(other) => {
            wrong_type(out, &TOOL_CALL_ID_REQUIRED, in_message(n, "tool_call_id"), "a string", other)
        }
    }
}

fn check_call(switches: &OpenaiChatSwitches, n: usize, k: usize, call: &Json, out: &mut Breaches) {
    let field = in_message(n, "tool_calls").item(k);
    if !call.is_object() {
        return wrong_type(out, &TOOL_CALL_SHAPE, field, "an object", call);
    }
    if let Some(id) = string(call, "id", &field, out) {
        let (length, max) = (id.chars().count(), switches.max_call_id_chars);
        if length > max {
            out.add(&CALL_ID_TOO_LONG, || {
                let Field { pointer, path } = field.child("id");
                let message = format!(
                    "Invalid '{path}': string too long. Expected a string with maximum length {max}, but got a \
                     string with length {length} instead."
                );
                Breach::at(pointer, message).param(path).code("string_above_max_length")
            });
        }
    }
    if call.get("type").is_some_and(|kind| kind.as_str() != Some("function")) {
        return;
    }
    match call.get("function") {
        None => missing(out, &TOOL_CALL_SHAPE, field.lacking("function")),
        Some(function @ Json::Object(_)) => check_function(function, &field.child("function"), out),
        Some(other) => wrong_type(out, &TOOL_CALL_SHAPE, field.child("function"), "an object", other),
    }
}

/// The arguments need not be JSON: they are the text that the model wrote.
fn check_function(function: &Json, field: &Field, out: &mut Breaches) {
    string(function, "arguments", field, out);
    let Some(name) = string(function, "name", field, out) else { return };
    if is_plain_name(name) {
        return;
    }
    if name.is_empty() {
        let (expected, got) = ("a string with minimum length 1", "an empty string");
        return refuse(out, &FUNCTION_NAME_PATTERN, field.child("name"), "empty string", expected, got);
    }
    let breach = || {
        let Field { pointer, path } = field.child("name");
        let message = format!(
            "Invalid '{path}': string does not match pattern. Expected a string that matches the pattern \
             '^[a-zA-Z0-9_-]+$'."
        );
        Breach::at(pointer, message).param(path).code("invalid_value")
    };
    // Some models name the pattern '^[a-zA-Z0-9_\.-]+$', so a dot alone does not prove a refusal.
    match is_plain_name(&name.replace('.', "_")) {
        true => out.warn(&FUNCTION_NAME_PATTERN, breach),
        false => out.add(&FUNCTION_NAME_PATTERN, breach),
    }
}

/// A place in the body: where it is, and how OpenAI's sentences name it.
struct Field {
    pointer: String,
    path: String,
}

impl Field {
    fn new(pointer: &str, path: &str) -> Field {
        Field { pointer: pointer.to_owned(), path: path.to_owned() }
    }

    fn child(&self, name: &str) -> Field {
        Field { pointer: format!("{}/{name}", self.pointer), path: format!("{}.{name}", self.path) }
    }

    fn item(&self, index: usize) -> Field {
        Field { pointer: format!("{}/{index}", self.pointer), path: format!("{}[{index}]", self.path) }
    }

    /// A child that is not there: it is reported at its parent, so that the pointer resolves.
    fn lacking(&self, name: &str) -> Field {
        Field { pointer: self.pointer.clone(), path: format!("{}.{name}", self.path) }
    }
}

fn at(n: usize) -> String {
    format!("/messages/{n}")
}

fn in_message(n: usize, name: &str) -> Field {
    Field { pointer: format!("/messages/{n}/{name}"), path: format!("messages[{n}].{name}") }
}

/// Requires a string field of a call, and returns it.
fn string<'a>(object: &'a Json<'a>, name: &str, parent: &Field, out: &mut Breaches) -> Option<&'a str> {
    match object.get(name) {
        Some(Json::String(text)) => return Some(text),
        Some(other) => wrong_type(out, &TOOL_CALL_SHAPE, parent.child(name), "a string", other),
        None => missing(out, &TOOL_CALL_SHAPE, parent.lacking(name)),
    }
    None
}

fn missing(out: &mut Breaches, rule: &'static Rule, Field { pointer, path }: Field) {
    out.add(rule, || {
        Breach::at(pointer, format!("Missing required parameter: '{path}'."))
            .param(path)
            .code("missing_required_parameter")
    });
}

fn wrong_type(
    out: &mut Breaches,
    rule: &'static Rule,
    Field { pointer, path }: Field,
    expected: &str,
    got: &Json,
) {
    let got = type_with_article(got);
    out.add(rule, || {
        let message = format!("Invalid type for '{path}': expected {expected}, but got {got} instead.");
        Breach::at(pointer, message).param(path).code("invalid_type")
    });
}

/// Refuses something empty. The code is its name with an underscore: `empty_array`, `empty_string`.
fn refuse(
    out: &mut Breaches,
    rule: &'static Rule,
    Field { pointer, path }: Field,
    empty: &str,
    expected: &str,
    got: &str,
) {
    let code = match empty {
        "empty array" => "empty_array",
        _ => "empty_string",
    };
    out.add(rule, || {
        Breach::at(pointer, format!("Invalid '{path}': {empty}. Expected {expected}, but got {got} instead."))
            .param(path)
            .code(code)
    });
}
