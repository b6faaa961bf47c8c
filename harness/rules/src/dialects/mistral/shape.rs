//! The first phase: the types of known fields, message by message, as worded by the library that reads the
//! body.
//!
//! Unknown keys and unknown kinds of content pass.

use crate::dialects::mistral::MESSAGES;
use crate::{Occurrence, Rule, Violations};
use std::borrow::Cow;

use super::{MistralCall, MistralMessage, MistralRole};
use crate::json::{Json, JsonType};

/// Checks that the body is an object with a conversation. `n_messages` is `None` if there is no list of
/// messages.
pub(super) fn check_body(body: Json, n_messages: Option<usize>, out: &mut Violations) {
    match (n_messages, body.get("messages")) {
        _ if !body.is_object() => wrong_type(out, String::new, Expected::Object),
        (None, None) => missing(out, &REQUEST_SHAPE, String::new),
        (None, Some(_)) => wrong_type(out, || "/messages".to_owned(), Expected::List),
        (Some(_), _) => {}
    }
}

/// Checks the fields of a message and its calls.
pub(super) fn check_message(said: MistralMessage<'_, '_>, out: &mut Violations) {
    let n = said.n;
    let at = |name: &str| format!("/messages/{n}/{name}");
    if !said.json.is_object() {
        return wrong_type(out, || format!("/messages/{n}"), Expected::Object);
    }
    let Some(role) = said.role else {
        return match said.written_role {
            Some(role) => out.add(&UNKNOWN_ROLE, || {
                let violation = Occurrence::at(at("role")).code("union_tag_invalid");
                violation.with("role", tag(role))
            }),
            None => out.add(&UNKNOWN_ROLE, || {
                Occurrence::at(format!("/messages/{n}")).form(NO_ROLE).code("union_tag_not_found")
            }),
        };
    };
    check_content(said, out);
    if role == MistralRole::Tool {
        for (name, value) in [("tool_call_id", said.tool_call_id), ("name", said.name)] {
            if value.is_some_and(|value| !value.is_null() && !value.is_str()) {
                wrong_type(out, || at(name), Expected::Text);
            }
        }
    }
    if role == MistralRole::Assistant
        && said.tool_calls.is_some_and(|list| !list.is_null() && !list.is_array())
    {
        wrong_type(out, || at("tool_calls"), Expected::List);
    }
    for (k, call) in said.calls().enumerate() {
        check_call(|| at(&format!("tool_calls/{k}")), call, out);
    }
}

/// The second error message of the rule about roles.
const NO_ROLE: usize = 1;

/// Formats a role. The contents of lists and objects are left out, because they can be long and their
/// order varies.
fn tag<'a>(role: Json<'_, 'a>) -> Cow<'a, str> {
    match role.kind() {
        JsonType::Array => "[…]".into(),
        JsonType::Object => "{…}".into(),
        _ => role.as_str().unwrap_or_else(|| role.raw().into()),
    }
}

fn check_content(said: MistralMessage<'_, '_>, out: &mut Violations) {
    let (n, may_be_missing) = (said.n, said.role == Some(MistralRole::Assistant));
    match said.content.map(|content| content.kind()) {
        None if !may_be_missing => missing(out, &CONTENT_NULL, || format!("/messages/{n}")),
        Some(JsonType::Null) if !may_be_missing => out.add(&CONTENT_NULL, || {
            let violation =
                Occurrence::at(format!("/messages/{n}/content")).form(WRONG_TYPE).code("string_type");
            violation.with("expected", "string")
        }),
        None | Some(JsonType::Null | JsonType::String | JsonType::Array) => {}
        Some(_) => wrong_type(out, || format!("/messages/{n}/content"), Expected::Text),
    }
}

/// Checks a call. A call without an id passes, because the validator reads its id as `null`.
fn check_call(pointer: impl Fn() -> String, call: MistralCall<'_, '_>, out: &mut Violations) {
    if !call.json.is_object() {
        return wrong_type(out, pointer, Expected::Object);
    }
    if call.id.is_some_and(|id| !id.is_str()) {
        wrong_type(out, || format!("{}/id", pointer()), Expected::Text);
    }
    let Some(function) = call.function else { return missing(out, &REQUEST_SHAPE, pointer) };
    let pointer = || format!("{}/function", pointer());
    if !function.is_object() {
        return wrong_type(out, pointer, Expected::Object);
    }
    let [name, arguments] = function.pick(["name", "arguments"]);
    match name {
        None => missing(out, &REQUEST_SHAPE, pointer),
        Some(name) if !name.is_str() => {
            wrong_type(out, || format!("{}/name", pointer()), Expected::Text);
        }
        Some(_) => {}
    }
    match arguments {
        None => missing(out, &REQUEST_SHAPE, pointer),
        Some(arguments) if !(arguments.is_str() || arguments.is_object() || arguments.is_null()) => {
            wrong_type(out, || format!("{}/arguments", pointer()), Expected::Text);
        }
        Some(_) => {}
    }
}

#[derive(Clone, Copy)]
enum Expected {
    Text,
    List,
    Object,
}

/// In the rules about types, this error message comes after the one about missing fields.
const WRONG_TYPE: usize = 1;

fn wrong_type(out: &mut Violations, pointer: impl FnOnce() -> String, expected: Expected) {
    let (word, code) = match expected {
        Expected::Text => ("string", "string_type"),
        Expected::List => ("list", "list_type"),
        Expected::Object => ("dictionary", "dict_type"),
    };
    out.add(&REQUEST_SHAPE, || Occurrence::at(pointer()).form(WRONG_TYPE).code(code).with("expected", word));
}

/// Reports a missing field at its parent.
fn missing(out: &mut Violations, rule: &'static super::Rule, parent: impl FnOnce() -> String) {
    out.add(rule, || Occurrence::at(parent()).code("missing"));
}

/// "Extra inputs are not permitted", in a list of details with status 422, shows that Pydantic reads the
/// body (<https://github.com/Gitlawb/openclaude/issues/739>). The types match the validator's messages.
pub(crate) static REQUEST_SHAPE: Rule = Rule {
    summary: "The known fields of the body, messages and calls are present and have the right types.",
    why: "A field that every message or call needs is missing or has another type. Send `messages` as a list of \
          objects, and give every call a `function` with a name and arguments.",
    sentences: &["Field required", "Input should be a valid {expected}"],
    status: 422,
    sources: &[MESSAGES, "https://github.com/Gitlawb/openclaude/issues/739"],
    ..Rule::measured("mistral/request-shape", "MIS-BODY-2", 1, "2024-01")
};

/// The validator has these four roles.
pub(crate) static UNKNOWN_ROLE: Rule = Rule {
    summary: "A role is `system`, `user`, `assistant` or `tool`.",
    why: "The message has a role of another provider, such as `developer` or `function`. Map it to one of the four.",
    sentences: &[
        "Input tag '{role}' found using 'role' does not match any of the expected tags: 'system', 'user', \
         'assistant', 'tool'",
        "Unable to extract tag using discriminator 'role'",
    ],
    status: 422,
    sources: &[MESSAGES],
    ..Rule::measured("mistral/unknown-role", "MIS-ROLE-1", 1, "2024-01")
};

/// According to the API reference, the content of user and tool messages can be null. The validator's
/// types do not allow it.
pub(crate) static CONTENT_NULL: Rule = Rule {
    summary: "A message that is not the assistant's has content.",
    why: "A message was stored without content. Drop it, or use an empty string.",
    sentences: &["Field required", "Input should be a valid {expected}"],
    status: 422,
    sources: &[MESSAGES],
    ..Rule::measured("mistral/content-null", "MIS-BODY-3", 1, "2024-01")
};
