//! The first phase: the types of known fields, message by message.
//!
//! Unknown keys, unknown kinds of content parts and unknown kinds of calls pass.

use super::super::profile::OpenaiChatSwitches;
use super::super::violation::{Breach, Breaches};
use super::super::{Rule, is_plain_name, type_with_article};
use super::table::*;
use super::{Role, Said};
use crate::json::{Json, Kind};

/// Checks that the body is an object with a conversation. `n_messages` is nothing if there is no list of messages.
pub(super) fn check_body(body: Json, n_messages: Option<usize>, out: &mut Breaches) {
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
}

/// Checks the fields of a message and of its calls.
pub(super) fn check_message(switches: &OpenaiChatSwitches, said: Said<'_, '_>, out: &mut Breaches) {
    let n = said.n;
    if !said.json.is_object() {
        let field = Field { pointer: format!("/messages/{n}"), path: format!("messages[{n}]") };
        return wrong_type(out, &REQUEST_SHAPE, field, "an object", said.json);
    }
    check_role(said, out);
    check_content(said, out);
    match (said.role, said.tool_calls) {
        (Some(Role::Assistant), Some(calls)) if calls.is_array() && calls.is_empty() => {
            refuse_empty(out, &TOOL_CALLS_EMPTY, in_message(n, "tool_calls"), Empty::Array);
        }
        (Some(Role::Assistant), Some(other)) if !other.is_array() && !other.is_null() => {
            wrong_type(out, &REQUEST_SHAPE, in_message(n, "tool_calls"), "an array of objects", other);
        }
        (Some(Role::Tool), _) => check_tool_call_id(said, out),
        _ => {}
    }
    for (k, call) in said.calls().enumerate() {
        check_call(switches, n, k, call, out);
    }
}

fn check_role(said: Said<'_, '_>, out: &mut Breaches) {
    let n = said.n;
    let written = match said.written_role {
        _ if said.role.is_some() => return,
        None => {
            let field = Field { pointer: at(n), path: format!("messages[{n}].role") };
            return missing(out, &REQUEST_SHAPE, field);
        }
        Some(written) => written,
    };
    match written.as_str() {
        Some(role) => {
            out.add(&UNKNOWN_ROLE, || in_message(n, "role").breach().code("invalid_value").with("role", role))
        }
        None => wrong_type(out, &REQUEST_SHAPE, in_message(n, "role"), "a string", written),
    }
}

fn check_content(said: Said<'_, '_>, out: &mut Breaches) {
    // Missing content is checked last.
    let Some(content) = said.content else { return };
    let n = said.n;
    match content.kind() {
        Kind::Null | Kind::String => {}
        Kind::Array => {
            for (k, part) in content.items().enumerate().filter(|(_, part)| !part.is_object()) {
                wrong_type(out, &REQUEST_SHAPE, in_message(n, "content").item(k), "an object", part);
            }
        }
        _ => {
            let expected = "one of a string or array of objects";
            wrong_type(out, &REQUEST_SHAPE, in_message(n, "content"), expected, content);
        }
    }
}

fn check_tool_call_id(said: Said<'_, '_>, out: &mut Breaches) {
    let n = said.n;
    match said.tool_call_id {
        Some(id) if id.is_str() => {}
        Some(id) if !id.is_null() => {
            wrong_type(out, &TOOL_CALL_ID_REQUIRED, in_message(n, "tool_call_id"), "a string", id);
        }
        _ => out.add(&TOOL_CALL_ID_REQUIRED, || {
            Breach::at(at(n)).param(format!("messages.[{n}].tool_call_id")).with("n", n)
        }),
    }
}

fn check_call(switches: &OpenaiChatSwitches, n: usize, k: usize, call: Json, out: &mut Breaches) {
    let field = || in_message(n, "tool_calls").item(k);
    if !call.is_object() {
        return wrong_type(out, &TOOL_CALL_SHAPE, field(), "an object", call);
    }
    let [id, kind, function] = call.pick(["id", "type", "function"]);
    if let Some(id) = string(id, "id", field, out).and_then(Json::as_str) {
        let max = switches.max_call_id_chars;
        // A text has at most as many characters as bytes.
        if id.len() > max && id.chars().count() > max {
            out.add(&CALL_ID_TOO_LONG, || {
                let breach = field().child("id").breach().code("string_above_max_length");
                breach.with("max", max).with("length", id.chars().count())
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

/// The arguments need not be JSON: they are the text that the model wrote.
fn check_function(function: Json, field: impl Fn() -> Field, out: &mut Breaches) {
    let [name, arguments] = function.pick(["name", "arguments"]);
    string(arguments, "arguments", &field, out);
    let Some(name) = string(name, "name", &field, out).and_then(Json::as_str) else { return };
    if is_plain_name(&name) {
        return;
    }
    if name.is_empty() {
        return refuse_empty(out, &FUNCTION_NAME_PATTERN, field().child("name"), Empty::String);
    }
    let breach = || field().child("name").breach().code("invalid_value");
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

    /// A breach of this field.
    fn breach(self) -> Breach {
        Breach::at(self.pointer).param(self.path.clone()).with("path", self.path)
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

/// Requires that a field of a call is a string, and returns it.
fn string<'t, 'a>(
    value: Option<Json<'t, 'a>>,
    name: &str,
    parent: impl Fn() -> Field,
    out: &mut Breaches,
) -> Option<Json<'t, 'a>> {
    match value {
        Some(value) if value.is_str() => return Some(value),
        Some(other) => wrong_type(out, &TOOL_CALL_SHAPE, parent().child(name), "a string", other),
        None => missing(out, &TOOL_CALL_SHAPE, parent().lacking(name)),
    }
    None
}

fn missing(out: &mut Breaches, rule: &'static Rule, field: Field) {
    out.add(rule, || field.breach().code("missing_required_parameter"));
}

/// The rules about types have this sentence after the one about what is missing.
const WRONG_TYPE: usize = 1;

fn wrong_type(out: &mut Breaches, rule: &'static Rule, field: Field, expected: &str, got: Json) {
    let got = type_with_article(got);
    out.add(rule, || {
        let breach = field.breach().form(WRONG_TYPE).code("invalid_type");
        breach.with("expected", expected).with("got", got)
    });
}

/// What may not be empty.
#[derive(Clone, Copy)]
enum Empty {
    Array,
    String,
}

/// Refuses something empty; the rule says so in its last sentence.
fn refuse_empty(out: &mut Breaches, rule: &'static Rule, field: Field, what: Empty) {
    let (name, code) = match what {
        Empty::Array => ("array", "empty_array"),
        Empty::String => ("string", "empty_string"),
    };
    let article = if name == "array" { "an" } else { "a" };
    out.add(rule, || {
        let breach = field.breach().form(rule.sentences.len() - 1).code(code);
        breach
            .with("empty", format!("empty {name}"))
            .with("expected", format!("{article} {name} with minimum length 1"))
            .with("got", format!("an empty {name}"))
    });
}
