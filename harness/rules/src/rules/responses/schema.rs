//! The first phase: the types of known fields, item by item.
//!
//! Unknown keys, unknown types of items and unknown parts pass.

use super::super::profile::ResponsesSwitches;
use super::super::violation::{Breach, Breaches};
use super::super::{Rule, is_plain_name, type_with_article};
use super::table::*;
use super::{Item, Kind, Tool, at};
use crate::json::{self, Json};

/// What a request may go on from instead of saying anything.
const INSTEAD_OF_INPUT: [&str; 3] = ["previous_response_id", "conversation", "prompt"];

/// Checks the fields around the items. `n_items` is nothing if there is no list of items.
pub(super) fn check_body(body: Json, n_items: Option<usize>, out: &mut Breaches) {
    let top = |name: &str| Field { pointer: format!("/{name}"), path: name.to_owned() };
    match (n_items, body.get("input")) {
        _ if !body.is_object() => {
            let whole = Field { pointer: String::new(), path: String::new() };
            return wrong_type(out, &REQUEST_SHAPE, whole, "an object", body);
        }
        (Some(_), _) => {}
        (None, Some(input)) if input.is_str() => {}
        (None, Some(input)) if !input.is_null() => {
            wrong_type(out, &REQUEST_SHAPE, top("input"), "one of an array of objects or string", input);
        }
        (None, _) if INSTEAD_OF_INPUT.iter().any(|name| !body.field(name).is_null()) => {}
        (None, _) => {
            missing(out, &REQUEST_SHAPE, Field { pointer: String::new(), path: "input".to_owned() });
        }
    }
    let previous = body.field("previous_response_id");
    match previous.as_str() {
        Some(id) => check_id(&id, "resp", || top("previous_response_id"), out),
        None if previous.is_null() => {}
        None => wrong_type(out, &REQUEST_SHAPE, top("previous_response_id"), "a string", previous),
    }
}

/// Checks the fields of an item.
pub(super) fn check_item(switches: &ResponsesSwitches, item: Item<'_, '_>, out: &mut Breaches) {
    let (n, json) = (item.n, item.json);
    if !json.is_object() {
        let field = Field { pointer: at(n), path: format!("input[{n}]") };
        return wrong_type(out, &REQUEST_SHAPE, field, "an input item", json);
    }
    match item.kind {
        Kind::Prompt | Kind::Said => check_message(item, out),
        Kind::Call(tool) => {
            check_call_id(switches, item, out);
            let said = if tool == Tool::Function { "arguments" } else { "input" };
            let [name, arguments] = json.pick(["name", said]);
            check_name(n, tool, name, out);
            string(n, arguments, said, out);
        }
        Kind::Output(_) => {
            check_call_id(switches, item, out);
            match json.get("output") {
                None => missing(out, &ITEM_FIELD_REQUIRED, lacking(n, "output")),
                Some(output) if output.is_str() || output.is_array() => {}
                Some(output) => {
                    let expected = "one of an array of objects or string";
                    wrong_type(out, &ITEM_FIELD_REQUIRED, in_item(n, "output"), expected, output);
                }
            }
        }
        Kind::Reasoning => match json.get("summary") {
            Some(summary) if summary.is_array() => {}
            Some(other) => {
                wrong_type(out, &ITEM_FIELD_REQUIRED, in_item(n, "summary"), "an array of objects", other)
            }
            None => missing(out, &ITEM_FIELD_REQUIRED, lacking(n, "summary")),
        },
        Kind::Reference | Kind::Other => {}
    }
    if let Some(prefix) = item.kind.id_prefix()
        && let Some(id) = item.id()
    {
        check_id(&id, prefix, || in_item(n, "id"), out);
        check_length(switches, &ITEM_ID_TOO_LONG, &id, || in_item(n, "id"), out);
    }
}

fn check_message(item: Item<'_, '_>, out: &mut Breaches) {
    let n = item.n;
    match (item.role, item.role.and_then(Json::as_str).as_deref()) {
        (_, Some("user" | "assistant" | "system" | "developer")) => {}
        (_, Some(role)) => out.add(&UNKNOWN_ROLE, || {
            let breach = Breach::at(format!("{}/role", at(n))).param(format!("input[{n}]"));
            breach.code("invalid_value").with("role", role)
        }),
        (Some(role), None) if !role.is_null() => {
            wrong_type(out, &REQUEST_SHAPE, in_item(n, "role"), "a string", role);
        }
        (_, None) => missing(out, &REQUEST_SHAPE, lacking(n, "role")),
    }
    match item.content {
        None => missing(out, &REQUEST_SHAPE, lacking(n, "content")),
        Some(content) => match content.kind() {
            json::Kind::String => {}
            json::Kind::Array => check_parts(n, item.kind, content, out),
            _ => {
                let expected = "one of an array of objects or string";
                wrong_type(out, &REQUEST_SHAPE, in_item(n, "content"), expected, content);
            }
        },
    }
}

/// Parts that only the input of a user has, and parts of Chat Completions. All others may be known to the provider.
fn check_parts(n: usize, kind: Kind, content: Json, out: &mut Breaches) {
    for (k, part) in content.items().enumerate() {
        let form = match part.field("type").as_str().as_deref() {
            _ if !part.is_object() => {
                let field = Field {
                    pointer: format!("{}/content/{k}", at(n)),
                    path: format!("input[{n}].content[{k}]"),
                };
                wrong_type(out, &REQUEST_SHAPE, field, "an object", part);
                continue;
            }
            Some("input_text" | "input_image" | "input_file" | "text" | "image_url")
                if kind == Kind::Said =>
            {
                0
            }
            Some("text" | "image_url") => 1,
            _ => continue,
        };
        out.add(&CONTENT_PART_TYPE, || {
            Breach::at(format!("{}/content/{k}/type", at(n)))
                .form(form)
                .param(format!("input[{n}].content[{k}]"))
                .code("invalid_value")
                .with("type", part.field("type").as_str().unwrap_or_default())
        });
    }
}

fn check_call_id(switches: &ResponsesSwitches, item: Item<'_, '_>, out: &mut Breaches) {
    let n = item.n;
    let Some(id) = string(n, item.call_id, "call_id", out).and_then(Json::as_str) else { return };
    match id.is_empty() {
        true => refuse_empty(out, &CALL_ID_LENGTH, in_item(n, "call_id")),
        false => check_length(switches, &CALL_ID_LENGTH, &id, || in_item(n, "call_id"), out),
    }
}

fn check_name(n: usize, tool: Tool, name: Option<Json>, out: &mut Breaches) {
    match string(n, name, "name", out).and_then(Json::as_str) {
        Some(name) if name.is_empty() => refuse_empty(out, &FUNCTION_NAME_PATTERN, in_item(n, "name")),
        Some(name) if tool == Tool::Function && !is_plain_name(&name) => {
            out.add(&FUNCTION_NAME_PATTERN, || in_item(n, "name").breach().code("invalid_value"));
        }
        _ => {}
    }
}

fn check_id(id: &str, prefix: &str, field: impl Fn() -> Field, out: &mut Breaches) {
    let form = match () {
        () if !is_plain_name(id) => 1,
        () if !id.starts_with(prefix) => 0,
        () => return,
    };
    out.add(&ITEM_ID_FORM, || {
        field().breach().form(form).code("invalid_value").with("id", id).with("prefix", prefix)
    });
}

fn check_length(
    switches: &ResponsesSwitches,
    rule: &'static Rule,
    id: &str,
    field: impl Fn() -> Field,
    out: &mut Breaches,
) {
    let max = switches.max_id_chars;
    // A text has at most as many characters as bytes.
    if id.len() > max && id.chars().count() > max {
        let length = id.chars().count();
        out.add(rule, || {
            field().breach().code("string_above_max_length").with("max", max).with("length", length)
        });
    }
}

/// A place in the body: where it is, and how OpenAI's sentences name it.
struct Field {
    pointer: String,
    path: String,
}

impl Field {
    fn breach(self) -> Breach {
        Breach::at(self.pointer).param(self.path.clone()).with("path", self.path)
    }
}

fn in_item(n: usize, name: &str) -> Field {
    Field { pointer: format!("{}/{name}", at(n)), path: format!("input[{n}].{name}") }
}

/// A field that is not there: it is reported at the item, so that the pointer resolves.
fn lacking(n: usize, name: &str) -> Field {
    Field { pointer: at(n), path: format!("input[{n}].{name}") }
}

/// Requires that a field of an item is a string, and returns it.
fn string<'t, 'a>(
    n: usize,
    value: Option<Json<'t, 'a>>,
    name: &str,
    out: &mut Breaches,
) -> Option<Json<'t, 'a>> {
    match value {
        Some(value) if value.is_str() => return Some(value),
        Some(other) => wrong_type(out, &ITEM_FIELD_REQUIRED, in_item(n, name), "a string", other),
        None => missing(out, &ITEM_FIELD_REQUIRED, lacking(n, name)),
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

/// The rules about ids and names have this sentence about the empty one.
const EMPTY: usize = 1;

fn refuse_empty(out: &mut Breaches, rule: &'static Rule, field: Field) {
    out.add(rule, || field.breach().form(EMPTY).code("empty_string"));
}
