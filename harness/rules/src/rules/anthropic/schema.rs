//! The first phase: the types of known fields, message by message.
//!
//! Unknown block types pass, and so does a block without a type: new ones appear every month, and a wrong rejection
//! would cost more than the miss. Of unknown keys only those are refused that somebody was seen to be refused for;
//! others may belong to a beta that the client has asked for in a header.

use hashbrown::HashSet;

use super::super::Rule;
use super::super::is_plain_name;
use super::super::profile::{AnthropicSwitches, SystemMessages};
use super::super::violation::{Breach, Breaches};
use super::block::{Block, Field, Kind, Message, Role, Text};
use super::table::*;
use crate::json::Json;

/// Checks that the body is an object with a conversation. `n_messages` is nothing if there is no list of messages.
pub(super) fn check_body(body: Json, n_messages: Option<usize>, out: &mut Breaches) {
    let mut refuse = |pointer: &str, form: usize, path: &str, complaint: &str| {
        out.add(&REQUEST_SHAPE, || {
            Breach::at(pointer).form(form).with("path", path).with("complaint", complaint)
        });
    };
    match n_messages {
        _ if !body.is_object() => refuse("", 1, "", "Input should be a valid dictionary"),
        None if body.get("messages").is_none() => refuse("", 0, "messages", "Field required"),
        None => refuse("/messages", 0, "messages", "Input should be a valid list"),
        Some(0) => out.add(&MESSAGES_EMPTY, || Breach::at("/messages")),
        Some(_) => {}
    }
    for key in EXTRA_KEYS.into_iter().filter(|key| body.get(key).is_some()) {
        out.add(&EXTRA_KEY, || Breach::at(format!("/{key}")).with("path", key));
    }
}

/// Keys of a body that no version of the API knows: the first is OpenAI's, the second a client's own.
const EXTRA_KEYS: [&str; 2] = ["response_format", "extra_body"];

/// Checks the fields of a message.
pub(super) fn check_message(
    switches: &AnthropicSwitches,
    n: usize,
    role: Role,
    message: &Message,
    out: &mut Breaches,
) {
    let place = Spot { message: n as u32, index: None, tag: "" };
    if !message.json.is_object() {
        return place.refuse(out, &REQUEST_SHAPE, "", "Input should be a valid dictionary");
    }
    if !matches!(role, Role::User | Role::Assistant) {
        check_role(switches, place, message.role, out);
    }
    match message.content {
        None => place.missing(out, &REQUEST_SHAPE, "content"),
        Some(content) if content.is_array() || content.is_str() => {}
        Some(_) => place.refuse(out, &REQUEST_SHAPE, "content", "Input should be a valid list"),
    }
    if let Some(key) = message.extra {
        place.refuse(out, &EXTRA_KEY, key, "");
    }
}

/// Checks the fields of a block in a list.
pub(super) fn check_block(switches: &AnthropicSwitches, block: &Block, out: &mut Breaches) {
    let spot = |tag| Spot { message: block.place.message, index: block.place.index(), tag };
    if !block.json.is_object() {
        return spot("").refuse(out, &REQUEST_SHAPE, "", "Input should be a valid dictionary");
    }
    match block.kind {
        Kind::Text(Text::Empty) if block.get(Field::CacheControl).is_some_and(|mark| !mark.is_null()) => {
            out.add(&CACHE_CONTROL_ON_EMPTY_TEXT, || {
                Breach::at(spot("").pointer("cache_control")).with("path", spot("text").path(""))
            });
        }
        Kind::ToolUse => check_tool_use(switches, spot("tool_use"), block, out),
        Kind::ToolResult => {
            let spot = spot("tool_result");
            if let Some(id) =
                spot.string(out, &TOOL_RESULT_ID_REQUIRED, block.get(Field::ToolUseId), "tool_use_id")
            {
                check_id(spot, id, "tool_use_id", out);
            }
        }
        Kind::Thinking => {
            let spot = spot("thinking");
            spot.string(out, &THINKING_FIELD_REQUIRED, block.get(Field::Signature), "signature");
            spot.string(out, &THINKING_FIELD_REQUIRED, block.get(Field::Thinking), "thinking");
        }
        Kind::ServerUse => check_server_id(spot("server_tool_use"), block.get(Field::Id), "id", out),
        Kind::ServerResult => {
            let tag = block.str(Field::Type).unwrap_or_default();
            if tag != "mcp_tool_result" {
                check_server_id(spot(&tag), block.get(Field::ToolUseId), "tool_use_id", out);
            }
        }
        Kind::Other if block.get(Field::Type).is_some_and(|tag| tag.is("text")) => {
            spot("text").string(out, &REQUEST_SHAPE, block.get(Field::Text), "text");
        }
        _ => {}
    }
}

/// Checks that the names of the offered tools differ.
pub(super) fn check_tools(body: Json, out: &mut Breaches) {
    let mut names = HashSet::new();
    for (index, tool) in body.field("tools").items().enumerate() {
        let Some(name) = tool.field("name").as_str() else { continue };
        if !names.insert(name) {
            out.add(&TOOL_NAMES_NOT_UNIQUE, || Breach::at(format!("/tools/{index}/name")));
        }
    }
}

fn check_role(switches: &AnthropicSwitches, place: Spot, role: Option<Json>, out: &mut Breaches) {
    let Some(role) = role else { return place.missing(out, &REQUEST_SHAPE, "role") };
    if switches.system_messages == SystemMessages::MidConversation && role.is("system") {
        return;
    }
    let Some(name) = role.as_str() else {
        return place.refuse(out, &REQUEST_SHAPE, "role", "Input should be a valid string");
    };
    let hint = match name.as_ref() {
        "system" => {
            "The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role."
        }
        _ => "Allowed roles are \"user\" or \"assistant\"",
    };
    out.add(&UNKNOWN_ROLE, || Breach::at(place.pointer("role")).with("role", name).with("hint", hint));
}

fn check_tool_use(switches: &AnthropicSwitches, spot: Spot, block: &Block, out: &mut Breaches) {
    if let Some(id) = spot.string(out, &TOOL_USE_FIELD_REQUIRED, block.get(Field::Id), "id") {
        check_id(spot, id, "id", out);
    }
    match block.get(Field::Input) {
        None => spot.missing(out, &TOOL_USE_FIELD_REQUIRED, "input"),
        Some(input) if input.is_object() => {}
        Some(_) => spot.refuse(out, &TOOL_INPUT_NOT_OBJECT, "input", "Input should be a valid dictionary"),
    }
    if block.get(Field::Text).is_some() {
        spot.refuse(out, &EXTRA_KEY, "text", "");
    }
    let Some(name) =
        spot.string(out, &TOOL_USE_FIELD_REQUIRED, block.get(Field::Name), "name").and_then(Json::as_str)
    else {
        return;
    };
    let max = switches.max_tool_name_chars;
    if name.len() > max && name.chars().count() > max {
        out.add(&TOOL_NAME_PATTERN, || {
            Breach::at(spot.pointer("name")).form(1).with("path", spot.path("name")).with("max", max)
        });
    } else if !is_plain_name(&name) {
        spot.refuse(out, &TOOL_NAME_PATTERN, "name", "");
    }
}

fn check_id(spot: Spot, id: Json, field: &str, out: &mut Breaches) {
    if !id.as_str().is_some_and(|id| is_plain_name(&id)) {
        spot.refuse(out, &TOOL_ID_PATTERN, field, "");
    }
}

fn check_server_id(spot: Spot, id: Option<Json>, field: &str, out: &mut Breaches) {
    let Some(id) = id.and_then(Json::as_str) else { return };
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let letters = id.strip_prefix("srvtoolu_").filter(|letters| letters.bytes().all(is_letter));
    if letters.is_none_or(str::is_empty) {
        spot.refuse(out, &SERVER_TOOL_ID_PATTERN, field, "");
    }
}

/// The object whose fields are checked: where it stands, and the tag that the provider puts before a field of it.
#[derive(Clone, Copy)]
struct Spot<'s> {
    message: u32,
    index: Option<u32>,
    /// The block's type, as in `messages.1.content.0.tool_use.id`; empty for a message.
    tag: &'s str,
}

impl Spot<'_> {
    /// Requires a string field, and returns it.
    fn string<'t, 'a>(
        self,
        out: &mut Breaches,
        rule: &'static Rule,
        value: Option<Json<'t, 'a>>,
        field: &str,
    ) -> Option<Json<'t, 'a>> {
        match value {
            Some(value) if value.is_str() => return Some(value),
            Some(_) => self.refuse(out, rule, field, "Input should be a valid string"),
            None => self.missing(out, rule, field),
        }
        None
    }

    /// Reports a missing field at its parent, so that the pointer resolves.
    fn missing(self, out: &mut Breaches, rule: &'static Rule, field: &str) {
        out.add(rule, || {
            Breach::at(self.pointer("")).with("path", self.path(field)).with("complaint", "Field required")
        });
    }

    /// Reports a field with a wrong value; an empty field name means the object itself.
    fn refuse(self, out: &mut Breaches, rule: &'static Rule, field: &str, complaint: &str) {
        out.add(rule, || {
            Breach::at(self.pointer(field)).with("path", self.path(field)).with("complaint", complaint)
        });
    }

    fn pointer(self, field: &str) -> String {
        let slash = if field.is_empty() { "" } else { "/" };
        match self.index {
            None => format!("/messages/{}{slash}{field}", self.message),
            Some(b) => format!("/messages/{}/content/{b}{slash}{field}", self.message),
        }
    }

    fn path(self, field: &str) -> String {
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
