//! The first phases: the types of known fields, and what may not be missing or empty.
//!
//! Google's parser refuses keys that it does not know, but which it knows differs from backend to backend and from month
//! to month, so unknown keys pass here.

use hashbrown::HashMap;

use serde_json::Value;

use super::super::Rule;
use super::super::violation::{Breach, Breaches};
use super::fields::{Content, Part, Place, either};
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
        (None, _) => {
            let at = || ("/contents".to_owned(), "contents".to_owned());
            wrong_type(out, &REQUEST_SHAPE, at, CONTENT, contents);
        }
    }
    check_declarations(body, out);
}

/// The sentence of [`REQUEST_SHAPE`] about a body that is JSON but no object.
const NOT_AN_OBJECT: usize = 1;

const CONTENT: &str = "google.ai.generativelanguage.v1beta.Content";
const PART: &str = "google.ai.generativelanguage.v1beta.Part";
const STRUCT: &str = "google.protobuf.Struct";

/// Checks the fields of a content, but not its parts.
pub(super) fn check_content(content: Content<'_, '_>, out: &mut Breaches) {
    let n = content.n;
    let at =
        |field: &str| (format!("/contents/{n}{field}"), format!("contents[{n}]{}", field.replace('/', ".")));
    if !content.json.is_object() {
        return wrong_type(out, &REQUEST_SHAPE, || at(""), CONTENT, content.json);
    }
    match content.written_role {
        Some(role) if content.role.is_none() && role.is_str() => {
            out.add(&UNKNOWN_ROLE, || Breach::at(at("/role").0));
        }
        Some(role) if content.role.is_none() => {
            wrong_type(out, &REQUEST_SHAPE, || at("/role"), "TYPE_STRING", role);
        }
        _ => {}
    }
    match content.written_parts {
        None => out.add(&PARTS_EMPTY, || Breach::at(at("").0).with("n", n)),
        Some(parts) => match parts.kind() {
            Kind::Null | Kind::Array if parts.is_empty() => {
                out.add(&PARTS_EMPTY, || Breach::at(at("/parts").0).with("n", n));
            }
            Kind::Array | Kind::Object => {}
            _ => wrong_type(out, &REQUEST_SHAPE, || at("/parts"), PART, parts),
        },
    }
}

/// Whether all fields of an object are null. Of a field that is repeated the last one counts.
fn says_nothing(value: Json) -> bool {
    // The last field of all is never taken back.
    if value.fields().last().is_some_and(|(_, last)| !last.is_null()) {
        return false;
    }
    let mut says = HashMap::new();
    for (name, value) in value.fields() {
        says.insert(name.as_str(), !value.is_null());
    }
    !says.into_values().any(|says| says)
}

/// Checks the fields of a part.
pub(super) fn check_part(part: &Part<'_, '_>, out: &mut Breaches) {
    let (value, place) = (part.value, part.place);
    if !value.is_object() {
        return wrong_type(out, &REQUEST_SHAPE, || (place.pointer(), place.path()), PART, value);
    }
    if says_nothing(value) {
        out.add(&PART_EMPTY, || Breach::at(place.pointer()).with("path", place.path()));
    }
    if part.text.is_some_and(Json::is_empty_str) {
        out.add(&TEXT_EMPTY, || Breach::at(format!("{}/text", place.pointer())));
    }
    if let Some((field, call)) = part.call {
        Carrier { place, field, path: "function_call" }.check(call, "args", &ARGS_NOT_OBJECT, out);
    }
    if let Some((field, response)) = part.response {
        let carrier = Carrier { place, field, path: "function_response" };
        carrier.check(response, "response", &RESPONSE_NOT_OBJECT, out);
    }
}

/// A call or a response in a part: the field, and how the provider names it.
struct Carrier {
    place: Place,
    field: &'static str,
    path: &'static str,
}

impl Carrier {
    /// Checks the name, and that what it carries under `data` is an object.
    fn check(&self, value: Json, data: &str, rule: &'static Rule, out: &mut Breaches) {
        if !value.is_object() {
            let at = || (self.pointer(), self.path());
            return wrong_type(out, &REQUEST_SHAPE, at, PART, value);
        }
        let at = |field: &str| (format!("{}/{field}", self.pointer()), format!("{}.{field}", self.path()));
        let [name, carried] = value.pick(["name", data]);
        match name {
            Some(name) if name.is_str() && !name.is_empty_str() => {}
            Some(name) if !name.is_str() && !name.is_null() => {
                wrong_type(out, &REQUEST_SHAPE, || at("name"), "TYPE_STRING", name);
            }
            _ => out.add(&FUNCTION_NAME_EMPTY, || {
                let pointer = if name.is_some() { at("name").0 } else { self.pointer() };
                Breach::at(pointer).with("path", self.path())
            }),
        }
        match carried {
            Some(carried) if !carried.is_object() && !carried.is_null() => {
                wrong_type(out, rule, || at(data), STRUCT, carried);
            }
            _ => {}
        }
    }

    fn pointer(&self) -> String {
        format!("{}/{}", self.place.pointer(), self.field)
    }

    fn path(&self) -> String {
        format!("{}.{}", self.place.path(), self.path)
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

/// `at` gives the pointer to a field, and how the provider names it.
fn wrong_type(
    out: &mut Breaches,
    rule: &'static Rule,
    at: impl FnOnce() -> (String, String),
    expected: &str,
    got: Json,
) {
    out.add(rule, || {
        let (pointer, path) = at();
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
