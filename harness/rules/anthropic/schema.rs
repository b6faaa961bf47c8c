//! The first phase: the types of known fields, message by message.
//!
//! Unknown keys and unknown block types pass, and so does a block without a type: new ones appear every month,
//! and a wrong rejection would cost more than the miss.

use std::collections::HashSet;

use super::super::Rule;
use super::super::is_plain_name;
use super::super::profile::{AnthropicSwitches, SystemMessages};
use super::super::violation::{Breach, Breaches};
use super::table::*;
use crate::json::{Json, Object};

/// The messages of a body; `None` if there are none to judge.
pub(super) fn messages<'a>(body: &'a Json<'a>, out: &mut Breaches) -> Option<&'a [Json<'a>]> {
    let refuse = |out: &mut Breaches, pointer: &str, message: &str| {
        out.add(&REQUEST_SHAPE, || Breach::at(pointer.to_owned(), message.to_owned()));
    };
    let Json::Object(body) = body else {
        refuse(out, "", "Input should be a valid dictionary");
        return None;
    };
    match body.get("messages") {
        None => refuse(out, "", "messages: Field required"),
        Some(Json::Array(messages)) if messages.is_empty() => out.add(&MESSAGES_EMPTY, || {
            Breach::at("/messages".to_owned(), "messages: at least one message is required".to_owned())
        }),
        Some(Json::Array(messages)) => return Some(messages),
        Some(_) => refuse(out, "/messages", "messages: Input should be a valid list"),
    }
    None
}

/// Checks the fields of every message and of its blocks.
pub(super) fn check_messages(switches: &AnthropicSwitches, messages: &[Json], out: &mut Breaches) {
    for (n, message) in messages.iter().enumerate() {
        let place = Place { pointer: Pointer::Message(n), tag: "" };
        let Json::Object(message) = message else {
            place.refuse(out, &REQUEST_SHAPE, "", "Input should be a valid dictionary");
            continue;
        };
        check_role(switches, n, message, out);
        match message.get("content") {
            None => place.missing(out, &REQUEST_SHAPE, "content"),
            Some(Json::String(_)) => {}
            Some(Json::Array(blocks)) => {
                for (b, block) in blocks.iter().enumerate() {
                    check_block(switches, Pointer::Block(n, b), block, out);
                }
            }
            Some(_) => place.refuse(out, &REQUEST_SHAPE, "content", "Input should be a valid list"),
        }
    }
}

/// Checks that the names of the offered tools differ.
pub(super) fn check_tools(body: &Json, out: &mut Breaches) {
    let Some(Json::Array(tools)) = body.get("tools") else { return };
    let mut names = HashSet::new();
    for (index, tool) in tools.iter().enumerate() {
        let Some(name) = tool.get("name").and_then(Json::as_str) else { continue };
        if !names.insert(name) {
            out.add(&TOOL_NAMES_NOT_UNIQUE, || {
                Breach::at(format!("/tools/{index}/name"), "tools: Tool names must be unique.".to_owned())
            });
        }
    }
}

fn check_role(switches: &AnthropicSwitches, n: usize, message: &Object, out: &mut Breaches) {
    let place = Place { pointer: Pointer::Message(n), tag: "" };
    let role = match message.get("role") {
        None => return place.missing(out, &REQUEST_SHAPE, "role"),
        Some(Json::String(role)) => role.as_ref(),
        Some(_) => return place.refuse(out, &REQUEST_SHAPE, "role", "Input should be a valid string"),
    };
    let hint = match (role, switches.system_messages) {
        ("user" | "assistant", _) | ("system", SystemMessages::MidConversation) => return,
        ("system", SystemMessages::Refused) => {
            "The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role."
        }
        _ => "Allowed roles are \"user\" or \"assistant\"",
    };
    out.add(&UNKNOWN_ROLE, || {
        Breach::at(format!("/messages/{n}/role"), format!("messages: Unexpected role \"{role}\". {hint}"))
    });
}

fn check_block(switches: &AnthropicSwitches, pointer: Pointer, block: &Json, out: &mut Breaches) {
    let Json::Object(block) = block else {
        let place = Place { pointer, tag: "" };
        return place.refuse(out, &REQUEST_SHAPE, "", "Input should be a valid dictionary");
    };
    match block.get("type").and_then(Json::as_str) {
        Some("text") => {
            Place { pointer, tag: "text" }.string(out, &REQUEST_SHAPE, block, "text");
        }
        Some("tool_use") => check_tool_use(switches, Place { pointer, tag: "tool_use" }, block, out),
        Some("tool_result") => {
            let place = Place { pointer, tag: "tool_result" };
            if let Some(id) = place.string(out, &TOOL_RESULT_ID_REQUIRED, block, "tool_use_id") {
                check_id(place, id, "tool_use_id", out);
            }
        }
        Some("thinking") => {
            let place = Place { pointer, tag: "thinking" };
            place.string(out, &THINKING_FIELD_REQUIRED, block, "signature");
            place.string(out, &THINKING_FIELD_REQUIRED, block, "thinking");
        }
        _ => {}
    }
}

fn check_tool_use(switches: &AnthropicSwitches, place: Place, block: &Object, out: &mut Breaches) {
    if let Some(id) = place.string(out, &TOOL_USE_FIELD_REQUIRED, block, "id") {
        check_id(place, id, "id", out);
    }
    match block.get("input") {
        None => place.missing(out, &TOOL_USE_FIELD_REQUIRED, "input"),
        Some(Json::Object(_)) => {}
        Some(_) => place.refuse(out, &TOOL_INPUT_NOT_OBJECT, "input", "Input should be a valid dictionary"),
    }
    let Some(name) = place.string(out, &TOOL_USE_FIELD_REQUIRED, block, "name") else { return };
    let max = switches.max_tool_name_chars;
    if name.chars().count() > max {
        place.refuse(
            out,
            &TOOL_NAME_PATTERN,
            "name",
            &format!("String should have at most {max} characters"),
        );
    } else if !is_plain_name(name) {
        place.refuse(out, &TOOL_NAME_PATTERN, "name", "String should match pattern '^[a-zA-Z0-9_-]{1,64}$'");
    }
}

fn check_id(place: Place, id: &str, field: &str, out: &mut Breaches) {
    if !is_plain_name(id) {
        place.refuse(out, &TOOL_ID_PATTERN, field, "String should match pattern '^[a-zA-Z0-9_-]+$'");
    }
}

/// Where in the messages we are.
#[derive(Clone, Copy)]
enum Pointer {
    Message(usize),
    Block(usize, usize),
}

/// The object whose fields are checked: its pointer, and the tag that the provider puts before a field of it.
#[derive(Clone, Copy)]
struct Place {
    pointer: Pointer,
    /// The block's type, as in `messages.1.content.0.tool_use.id`; empty for a message.
    tag: &'static str,
}

impl Place {
    /// Requires a string field, and returns it.
    fn string<'a>(
        self,
        out: &mut Breaches,
        rule: &'static Rule,
        object: &'a Object<'a>,
        field: &str,
    ) -> Option<&'a str> {
        match object.get(field) {
            Some(Json::String(text)) => return Some(text),
            Some(_) => self.refuse(out, rule, field, "Input should be a valid string"),
            None => self.missing(out, rule, field),
        }
        None
    }

    /// Reports a missing field at its parent, so that the pointer resolves.
    fn missing(self, out: &mut Breaches, rule: &'static Rule, field: &str) {
        out.add(rule, || Breach::at(self.pointer(""), format!("{}: Field required", self.path(field))));
    }

    /// Reports a field with a wrong value; an empty field name means the object itself.
    fn refuse(self, out: &mut Breaches, rule: &'static Rule, field: &str, complaint: &str) {
        out.add(rule, || Breach::at(self.pointer(field), format!("{}: {complaint}", self.path(field))));
    }

    fn pointer(self, field: &str) -> String {
        let slash = if field.is_empty() { "" } else { "/" };
        match self.pointer {
            Pointer::Message(n) => format!("/messages/{n}{slash}{field}"),
            Pointer::Block(n, b) => format!("/messages/{n}/content/{b}{slash}{field}"),
        }
    }

    fn path(self, field: &str) -> String {
        let mut path = match self.pointer {
            Pointer::Message(n) => format!("messages.{n}"),
            Pointer::Block(n, b) => format!("messages.{n}.content.{b}"),
        };
        for part in [self.tag, field].into_iter().filter(|part| !part.is_empty()) {
            path.push('.');
            path.push_str(part);
        }
        path
    }
}
