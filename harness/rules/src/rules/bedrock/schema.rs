//! What is wrong with one message or one field: the constraints of the service's model, and emptiness.
//!
//! Unknown keys and unknown kinds of blocks pass. The service lists every broken constraint in one sentence; ours
//! names the first.

use std::borrow::Cow;

use super::super::Rule;
use super::super::violation::{Breach, Breaches};
use super::super::{is_plain_name, violation};
use super::table::*;
use super::{Message, Written};
use crate::json::{Json, Kind};

/// The longest id of a call, and the longest name of a tool.
const MAX_CHARS: usize = 64;

/// Checks that the body is an object whose messages are a list, and that the offered tools are well-formed.
pub(super) fn check_body(body: Json, n_messages: Option<usize>, out: &mut Breaches) {
    if !body.is_object() {
        return wrong_type(out, Place::root(), body, "a Structure");
    }
    let messages = body.field("messages");
    if n_messages.is_none() && !messages.is_null() {
        wrong_type(out, Place::root().field("messages"), messages, "a List");
    }
    let tools = body.field("toolConfig").field("tools");
    if tools.is_array() && tools.is_empty() {
        out.add(&TOOLS_EMPTY, || Breach::at("/toolConfig/tools"));
    }
    for (k, tool) in tools.items().enumerate() {
        let place = || Place::root().field("toolConfig").field("tools").item(k).field("toolSpec");
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
pub(super) fn check_message(message: Message<'_, '_, '_>, out: &mut Breaches) {
    let n = message.n;
    let place = || Place::root().field("messages").item(n);
    if !message.json.is_object() {
        return wrong_type(out, place(), message.json, "a Structure");
    }
    if message.role.is_none() {
        check_role(message.written_role, place, out);
    }
    match message.content.map(|content| (content.kind(), content)) {
        None | Some((Kind::Null, _)) => missing(out, place(), "content"),
        Some((Kind::Array, content)) if content.is_empty() => {
            out.add(&MESSAGE_EMPTY, || Breach::at(format!("/messages/{n}/content")).with("n", n));
        }
        Some((Kind::Array, _)) => {}
        Some((_, content)) => wrong_type(out, place().field("content"), content, "a List"),
    }
}

/// Refuses a role that is none.
fn check_role(role: Option<Json>, place: impl Fn() -> Place, out: &mut Breaches) {
    let Some(role) = role.filter(|role| !role.is_null()) else { return missing(out, place(), "role") };
    match role.as_str() {
        Some(other) => out.add(&UNKNOWN_ROLE, || place().field("role").breach().with("role", other)),
        None => wrong_type(out, place().field("role"), role, "a String"),
    }
}

/// Checks the fields of a block.
pub(super) fn check_block(n: usize, b: usize, block: &Written<'_, '_>, out: &mut Breaches) {
    let place = || Place::root().field("messages").item(n).field("content").item(b);
    if !block.json.is_object() {
        return wrong_type(out, place(), block.json, "a Structure");
    }
    if let Some(text) = block.text.filter(|text| !text.is_null()) {
        match text.is_str() {
            true => check_text(n, b, text, out),
            false => wrong_type(out, place().field("text"), text, "a String"),
        }
    }
    if let Some(call) = block.call.filter(|call| !call.is_null()) {
        check_call(call, block, || place().field("toolUse"), out);
    }
    if let Some(result) = block.result.filter(|result| !result.is_null()) {
        check_result(n, b, result, block, out);
    }
}

fn check_text(n: usize, b: usize, text: Json, out: &mut Breaches) {
    let breach = || Breach::at(format!("/messages/{n}/content/{b}/text")).with("n", n).with("b", b);
    if text.is_empty_str() {
        out.add(&TEXT_BLANK, breach);
    } else if text.is_blank() {
        // A recorded answer shows that a line feed alone was taken, beside another text.
        out.warn(&TEXT_BLANK, breach);
    }
}

fn check_call(call: Json, block: &Written<'_, '_>, place: impl Fn() -> Place, out: &mut Breaches) {
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

fn check_result(n: usize, b: usize, result: Json, block: &Written<'_, '_>, out: &mut Breaches) {
    let place = || Place::root().field("messages").item(n).field("content").item(b).field("toolResult");
    if !result.is_object() {
        return wrong_type(out, place(), result, "a Structure");
    }
    if let Some(id) = string(block.result_id, "toolUseId", place, out) {
        check_id(&id, || place().field("toolUseId"), out);
    }
    let Some(content) = block.result_content else { return missing(out, place(), "content") };
    match content.kind() {
        Kind::Null => missing(out, place(), "content"),
        Kind::Array if content.is_empty() && result.field("status").is("error") => {
            out.add(&TOOL_RESULT_ERROR_EMPTY, || {
                Breach::at(place().field("content").pointer).with("n", n).with("b", b)
            });
        }
        Kind::Array => {
            for (k, piece) in content.items().enumerate() {
                if let Some(json) = piece.get("json") {
                    object(json, || place().field("content").item(k).field("json"), out);
                }
            }
        }
        _ => wrong_type(out, place().field("content"), content, "a List"),
    }
}

/// "Member must satisfy regular expression pattern: \[a-zA-Z0-9_.:-\]+"
fn check_id(id: &str, place: impl FnOnce() -> Place, out: &mut Breaches) {
    let is_plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte));
    check_member(&TOOL_ID_PATTERN, id, is_plain, place, out);
}

/// "Member must satisfy regular expression pattern: \[a-zA-Z0-9_-\]+"
fn check_name(name: &str, place: impl FnOnce() -> Place, out: &mut Breaches) {
    check_member(&TOOL_NAME_PATTERN, name, name.is_empty() || is_plain_name(name), place, out);
}

/// The rules of ids and names have three sentences: one of the pattern, and one of either bound.
fn check_member(
    rule: &'static Rule,
    text: &str,
    is_plain: bool,
    place: impl FnOnce() -> Place,
    out: &mut Breaches,
) {
    let form = match text.chars().count() {
        _ if !is_plain => 0,
        0 => 1,
        1..=MAX_CHARS => return,
        _ => 2,
    };
    out.add(rule, || place().breach().form(form));
}

/// A place in the body, with the two names that the service has for it.
struct Place {
    pointer: String,
    /// As constraints name it, where items are counted from one: `messages.2.member.content.1.member.toolUse`.
    member: String,
    /// As sentences name it, where items are counted from zero: `messages.1.content.0.toolUse`.
    path: String,
}

impl Place {
    fn root() -> Place {
        Place { pointer: String::new(), member: String::new(), path: String::new() }
    }

    fn field(self, name: &str) -> Place {
        let join = |path: String| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        Place {
            pointer: format!("{}/{name}", self.pointer),
            member: join(self.member),
            path: join(self.path),
        }
    }

    fn item(self, index: usize) -> Place {
        Place {
            pointer: format!("{}/{index}", self.pointer),
            member: format!("{}.{}.member", self.member, index + 1),
            path: format!("{}.{index}", self.path),
        }
    }

    /// A broken constraint of this field.
    fn breach(self) -> violation::Breach {
        Breach::at(self.pointer).with("path", self.member)
    }
}

/// Requires a string field of a block, and returns it.
fn string<'a>(
    value: Option<Json<'_, 'a>>,
    name: &str,
    place: impl Fn() -> Place,
    out: &mut Breaches,
) -> Option<Cow<'a, str>> {
    match value.filter(|value| !value.is_null()) {
        Some(value) if value.is_str() => return value.as_str(),
        Some(other) => wrong_type(out, place().field(name), other, "a String"),
        None => missing(out, place(), name),
    }
    None
}

/// Requires a JSON object where the service's model allows any document.
fn object(value: Json, place: impl FnOnce() -> Place, out: &mut Breaches) {
    if !value.is_object() {
        out.add(&VALUE_NOT_OBJECT, || {
            let Place { pointer, path, .. } = place();
            Breach::at(pointer).with("path", path)
        });
    }
}

/// Reports a missing field at its parent, so that the pointer resolves.
fn missing(out: &mut Breaches, parent: Place, name: &str) {
    out.add(&REQUEST_SHAPE, || {
        let pointer = parent.pointer.clone();
        Breach::at(pointer).with("path", parent.field(name).member)
    });
}

/// "STRING_VALUE can not be converted to a List", as the service's JSON reader says of other operations too.
fn wrong_type(out: &mut Breaches, place: Place, got: Json, expected: &str) {
    let got = match got.kind() {
        Kind::Null => "NULL_VALUE",
        Kind::Bool => "BOOLEAN_VALUE",
        Kind::Number => "NUMBER_VALUE",
        Kind::String => "STRING_VALUE",
        Kind::Array => "START_ARRAY",
        Kind::Object => "START_OBJECT",
    };
    out.add(&REQUEST_SHAPE, || Breach::at(place.pointer).form(1).with("got", got).with("expected", expected));
}
