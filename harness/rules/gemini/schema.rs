//! The first phases: the types of known fields, and what may not be missing or empty.
//!
//! Google's parser refuses keys that it does not know, but which it knows differs from backend to backend and from month
//! to month, so unknown keys pass here.

use std::collections::HashMap;

use serde_json::Value;

use super::super::Rule;
use super::super::violation::{Breach, Breaches};
use super::fields::{Part, Role, call, either, parts, response};
use super::table::*;
use crate::json::{Json, Kind};

/// Checks the fields of the body. `n_contents` is nothing if there is no list of contents.
pub(super) fn check_body(body: Json, n_contents: Option<usize>, out: &mut Breaches) {
    let contents = body.field("contents");
    match (n_contents, contents.kind()) {
        _ if !body.is_object() => {
            out.add(&REQUEST_SHAPE, || Breach::at("").form(NOT_AN_OBJECT));
        }
        (Some(0), _) => out.add(&CONTENTS_EMPTY, || Breach::at("/contents")),
        // One content may stand without a list; its turns say nothing.
        (Some(_), _) | (None, Kind::Object) => {}
        (None, Kind::Null) => out.add(&CONTENTS_EMPTY, || {
            Breach::at(if body.get("contents").is_some() { "/contents" } else { "" })
        }),
        (None, _) => wrong_type(out, &REQUEST_SHAPE, "/contents", "contents", CONTENT, contents),
    }
    check_declarations(body, out);
}

/// The sentence of [`REQUEST_SHAPE`] about a body that is JSON but no object.
const NOT_AN_OBJECT: usize = 1;

const CONTENT: &str = "google.ai.generativelanguage.v1beta.Content";
const PART: &str = "google.ai.generativelanguage.v1beta.Part";
const STRUCT: &str = "google.protobuf.Struct";

/// Checks the fields of a content.
pub(super) fn check_content(n: usize, content: Json, out: &mut Breaches) {
    let pointer = format!("/contents/{n}");
    if !content.is_object() {
        return wrong_type(out, &REQUEST_SHAPE, &pointer, &format!("contents[{n}]"), CONTENT, content);
    }
    let role = content.field("role");
    if Role::of(content).is_none() {
        match role.as_str() {
            Some(_) => out.add(&UNKNOWN_ROLE, || Breach::at(format!("{pointer}/role"))),
            None => {
                let (pointer, path) = (format!("{pointer}/role"), format!("contents[{n}].role"));
                wrong_type(out, &REQUEST_SHAPE, &pointer, &path, "TYPE_STRING", role);
            }
        }
    }
    let written = content.field("parts");
    match written.kind() {
        Kind::Null | Kind::Array if written.is_empty() => out.add(&PARTS_EMPTY, || {
            let is_written = content.get("parts").is_some();
            Breach::at(if is_written { format!("{pointer}/parts") } else { pointer.clone() }).with("n", n)
        }),
        Kind::Array | Kind::Object => {}
        _ => {
            let (pointer, path) = (format!("{pointer}/parts"), format!("contents[{n}].parts"));
            wrong_type(out, &REQUEST_SHAPE, &pointer, &path, PART, written);
        }
    }
    parts(n, content).for_each(|part| check_part(part, out));
}

/// Whether all fields of an object are null. Of a field that is repeated the last one counts.
fn says_nothing(value: Json) -> bool {
    let mut says = HashMap::new();
    for (name, value) in value.fields() {
        says.insert(name.as_str(), !value.is_null());
    }
    !says.into_values().any(|says| says)
}

fn check_part(part: Part, out: &mut Breaches) {
    let value = part.value;
    if !value.is_object() {
        return wrong_type(out, &REQUEST_SHAPE, &part.pointer(), &part.path(), PART, value);
    }
    if says_nothing(value) {
        out.add(&PART_EMPTY, || Breach::at(part.pointer()).with("path", part.path()));
    }
    if value.field("text").is_empty_str() {
        out.add(&TEXT_EMPTY, || Breach::at(format!("{}/text", part.pointer())));
    }
    if let Some((name, call)) = call(value) {
        let place = Place {
            pointer: format!("{}/{name}", part.pointer()),
            path: format!("{}.function_call", part.path()),
        };
        place.check(call, "args", &ARGS_NOT_OBJECT, out);
    }
    if let Some((name, response)) = response(value) {
        let path = format!("{}.function_response", part.path());
        let place = Place { pointer: format!("{}/{name}", part.pointer()), path };
        place.check(response, "response", &RESPONSE_NOT_OBJECT, out);
    }
}

/// A call or a response: where it is, and how the provider names it.
struct Place {
    pointer: String,
    path: String,
}

impl Place {
    /// Checks the name, and that what it carries under `data` is an object.
    fn check(&self, value: Json, data: &str, rule: &'static Rule, out: &mut Breaches) {
        if !value.is_object() {
            let (pointer, path) = (&self.pointer, &self.path);
            return wrong_type(out, &REQUEST_SHAPE, pointer, path, PART, value);
        }
        let name = value.field("name");
        if name.is_null() || name.is_empty_str() {
            let at = if value.get("name").is_some() { "/name" } else { "" };
            out.add(&FUNCTION_NAME_EMPTY, || {
                Breach::at(format!("{}{at}", self.pointer)).with("path", &self.path)
            });
        } else if !name.is_str() {
            let (pointer, path) = (format!("{}/name", self.pointer), format!("{}.name", self.path));
            wrong_type(out, &REQUEST_SHAPE, &pointer, &path, "TYPE_STRING", name);
        }
        let carried = value.field(data);
        if !carried.is_object() && !carried.is_null() {
            let (pointer, path) = (format!("{}/{data}", self.pointer), format!("{}.{data}", self.path));
            wrong_type(out, rule, &pointer, &path, STRUCT, carried);
        }
    }
}

/// Letters of a declared name. Refusals of 2025 quote 64, the API's descriptions of 2026 say 128
/// (<https://pub.dev/documentation/googleapis/17.0.0/aiplatform_v1/GoogleCloudAiplatformV1FunctionDeclaration/name.html>),
/// so what is between the two is contested.
const MAX_NAME_LETTERS: usize = 128;
const MAX_NAME_LETTERS_ONCE: usize = 64;

/// Checks the names of the declared functions.
fn check_declarations(body: Json, out: &mut Breaches) {
    for (t, tool) in body.field("tools").items().enumerate() {
        let declared = either(tool, "functionDeclarations", "function_declarations");
        let Some((field, declarations)) = declared else { continue };
        for (k, declaration) in declarations.items().enumerate() {
            let Some(name) = declaration.field("name").as_str() else { continue };
            let breach = || Breach::at(format!("/tools/{t}/{field}/{k}/name")).with("t", t).with("k", k);
            if !is_function_name(&name) {
                out.add(&DECLARATION_NAME_PATTERN, breach);
            } else if name.len() > MAX_NAME_LETTERS_ONCE {
                out.warn(&DECLARATION_NAME_PATTERN, breach);
            }
        }
    }
}

fn is_function_name(name: &str) -> bool {
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let may_stand = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
    begins && name.len() <= MAX_NAME_LETTERS && name.bytes().all(may_stand)
}

fn wrong_type(out: &mut Breaches, rule: &'static Rule, pointer: &str, path: &str, expected: &str, got: Json) {
    out.add(rule, || {
        let kind = if expected.contains('.') {
            format!("type.googleapis.com/{expected}")
        } else {
            expected.to_owned()
        };
        Breach::at(pointer).with("path", path).with("type", kind).with("value", quoted(got))
    });
}

/// Letters of a text that a sentence quotes. The provider quotes a value whole, which would make the sentence about a
/// hostile body as long as the body; of what holds other values only the brackets are quoted.
const MAX_QUOTED: usize = 100;

fn quoted(value: Json) -> String {
    match value.kind() {
        Kind::Array if !value.is_empty() => "[…]".to_owned(),
        Kind::Object if !value.is_empty() => "{…}".to_owned(),
        Kind::String => {
            let text = value.as_str().unwrap_or_default();
            Value::from(&text[..text.floor_char_boundary(MAX_QUOTED)]).to_string()
        }
        _ => value.to_value().to_string(),
    }
}
