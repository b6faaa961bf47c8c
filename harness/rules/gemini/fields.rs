//! The fields of contents and parts, under both of their names.

use crate::json::{Items, Json, Kind};

/// A field that the JSON API knows by two names: as documented, and as the protocol buffers spell it. With the name
/// under which it stands.
pub(super) fn either<'t, 'a>(
    json: Json<'t, 'a>,
    camel: &'static str,
    snake: &'static str,
) -> Option<(&'static str, Json<'t, 'a>)> {
    let under = |name| json.get(name).filter(|value| !value.is_null()).map(|value| (name, value));
    under(camel).or_else(|| under(snake))
}

/// The call in a part.
pub(super) fn call<'t, 'a>(part: Json<'t, 'a>) -> Option<(&'static str, Json<'t, 'a>)> {
    either(part, "functionCall", "function_call")
}

/// The response in a part.
pub(super) fn response<'t, 'a>(part: Json<'t, 'a>) -> Option<(&'static str, Json<'t, 'a>)> {
    either(part, "functionResponse", "function_response")
}

/// The parts of a content, with their pointers. One part may stand without a list, as in Vertex AI's own examples
/// (<https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference>).
pub(super) fn parts<'t, 'a>(n: usize, content: Json<'t, 'a>) -> impl Iterator<Item = Part<'t, 'a>> {
    let parts = content.field("parts");
    let single = (parts.kind() == Kind::Object).then_some(Part { n, place: None, value: parts });
    let several: Items<'t, 'a> = parts.items();
    several.enumerate().map(move |(b, value)| Part { n, place: Some(b), value }).chain(single)
}

/// A part of a content.
#[derive(Clone, Copy)]
pub(super) struct Part<'t, 'a> {
    /// The index of the content.
    n: usize,
    /// The index of the part; nothing if it stands without a list.
    place: Option<usize>,
    pub(super) value: Json<'t, 'a>,
}

impl Part<'_, '_> {
    /// Where it is.
    pub(super) fn pointer(self) -> String {
        match self.place {
            Some(b) => format!("/contents/{}/parts/{b}", self.n),
            None => format!("/contents/{}/parts", self.n),
        }
    }

    /// How the provider names it.
    pub(super) fn path(self) -> String {
        format!("contents[{}].parts[{}]", self.n, self.place.unwrap_or(0))
    }
}

/// Who says a content. The case does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The user, which is also meant where nobody is named.
    User,
    Model,
    /// The former role of responses.
    Function,
}

impl Role {
    /// The role of a content; nothing if it is none that the provider knows.
    pub(super) fn of(content: Json) -> Option<Role> {
        let role = content.field("role");
        match role.as_str() {
            None if role.is_null() => Some(Role::User),
            None => None,
            Some(name) if name.is_empty() || name.eq_ignore_ascii_case("user") => Some(Role::User),
            Some(name) if name.eq_ignore_ascii_case("model") => Some(Role::Model),
            Some(name) if name.eq_ignore_ascii_case("function") => Some(Role::Function),
            Some(_) => None,
        }
    }
}
