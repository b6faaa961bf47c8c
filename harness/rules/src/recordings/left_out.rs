//! The parts of a request that its text leaves out: variables in a program, an ellipsis in an example, the messages
//! around an excerpt.
//!
//! A request with such a part is judged, but nothing that depends on the part is reported.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::family::Family;
use crate::histories::Placement;
use crate::{Dialect, Violation};

/// Stands for an unknown value, and for the name of unknown fields. No text has this character.
pub(crate) const UNKNOWN: &str = "\u{f0000}";

/// Stands for an unknown text in the judged request.
const SOME_TEXT: &str = "…";

/// The parts of a request that its text leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    places: Vec<Place>,
    /// The messages of the text, if others were added before or after them.
    own: Option<Range<usize>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    pointer: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A text, the arguments of a call, or a field that no other message depends on.
    Value,
    /// The content of a message, which may be a text or blocks.
    Content,
    /// Messages, blocks, calls, ids or roles.
    Structure,
}

impl LeftOut {
    /// Removes the unknown values from a request, or gives them a neutral form.
    pub(crate) fn of(request: &mut Value) -> LeftOut {
        let mut left_out = LeftOut::default();
        left_out.clean(request, &mut String::new(), false);
        left_out
    }

    /// The messages around those of the text, which are in this range.
    pub(crate) fn around(own: Range<usize>) -> LeftOut {
        LeftOut { own: Some(own), ..LeftOut::default() }
    }

    /// The messages around those of the text, and the unknown values in them.
    pub(crate) fn of_both(around: LeftOut, inside: LeftOut) -> LeftOut {
        LeftOut { own: around.own, ..inside }
    }

    /// True if the request has messages that the text does not show.
    pub fn is_excerpt(&self) -> bool {
        self.own.is_some()
    }

    /// The number of unknown values.
    pub(crate) fn n_values(&self) -> usize {
        self.places.len()
    }

    /// True if the text leaves nothing out.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty() && self.own.is_none()
    }

    fn clean(&mut self, value: &mut Value, pointer: &mut String, is_in_block: bool) {
        let length = pointer.len();
        match value {
            Value::Object(fields) => self.fields(fields, pointer, is_in_block),
            Value::Array(items) => {
                if items.iter().any(is_unknown) {
                    items.retain(|item| !is_unknown(item));
                    self.add(pointer, Kind::Structure);
                }
                for (index, item) in items.iter_mut().enumerate() {
                    pointer.push_str(&format!("/{index}"));
                    self.clean(item, pointer, is_in_block);
                    pointer.truncate(length);
                }
            }
            // A part of a longer text, such as the arguments of a call that was written again.
            Value::String(text) if text.contains(UNKNOWN) => *text = text.replace(UNKNOWN, SOME_TEXT),
            Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
        }
    }

    fn fields(&mut self, fields: &mut Map<String, Value>, pointer: &mut String, is_in_block: bool) {
        let length = pointer.len();
        if fields.remove(UNKNOWN).is_some() {
            // Unknown fields of a call or a result do not decide which of them belong together.
            let is_known = is_in_block || has_id(fields);
            self.add(pointer, if is_known { Kind::Value } else { Kind::Structure });
        }
        let names: Vec<String> = fields.keys().cloned().collect();
        for name in names {
            pointer.push('/');
            pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
            let is_unknown = fields.get(&name).is_some_and(is_unknown);
            if is_unknown {
                let (kind, known) = kind_of(&name);
                self.add(pointer, kind);
                match known {
                    Some(known) => drop(fields.insert(name, known)),
                    None => drop(fields.remove(&name)),
                }
            } else if let Some(value) = fields.get_mut(&name) {
                let is_block = |name: &str| BLOCKS.contains(&name);
                self.clean(value, pointer, is_in_block || is_block(&name));
            }
            pointer.truncate(length);
        }
    }

    fn add(&mut self, pointer: &str, kind: Kind) {
        self.places.push(Place { pointer: pointer.to_owned(), kind });
    }

    /// Returns whether a violation counts, although parts of the request are left out. `list` is the field with the
    /// messages, and `is_list` is true if the request is only this list.
    pub(crate) fn lets(&self, violation: &Violation, dialect: Dialect, is_list: bool) -> bool {
        if self.is_empty() {
            return true;
        }
        let list = format!("/{}", dialect.definition().list);
        let at = if is_list {
            violation.pointer.strip_prefix(&list).unwrap_or(&violation.pointer)
        } else {
            &violation.pointer
        };
        let in_list = violation.pointer.strip_prefix(&list).and_then(|rest| rest.strip_prefix('/'));
        let message = in_list.and_then(|rest| rest.split('/').next()?.parse::<usize>().ok());
        if let Some(own) = &self.own
            && !message.is_some_and(|message| own.contains(&message))
        {
            return false;
        }
        if self.places.is_empty() {
            return true;
        }
        let has_calls_in_users = matches!(dialect.codec().placement, Placement::InMessage { .. });
        let is_structure = |place: &Place| match place.kind {
            Kind::Structure => true,
            Kind::Content => has_calls_in_users,
            Kind::Value => false,
        };
        let family = Family::of(violation.rule.short_name());
        let depends = |place: &Place| match (is_structure(place), family) {
            (true, _) if family.is_none_or(depends_on_others) => true,
            (false, Some(family)) if is_of_places(family) => false,
            _ => is_under(at, &place.pointer) || is_under(&place.pointer, at),
        };
        let depends_on_fields = family.is_none_or(|family| {
            matches!(family, Family::ToolsAbsent | Family::ThinkingSettings | Family::LostReference)
        });
        !depends_on_fields && !self.places.iter().any(depends)
    }
}

/// The fields with the data of one block.
const BLOCKS: [&str; 8] = [
    "toolResult",
    "toolUse",
    "functionCall",
    "functionResponse",
    "function_call",
    "function_response",
    "function",
    "input",
];

/// Returns whether an object is a call or a result with its id.
fn has_id(fields: &Map<String, Value>) -> bool {
    let is_said = |name: &&str| fields.get(*name).is_some_and(|id| id.is_string() && !is_unknown(id));
    let is_result = ["tool_call_id", "tool_use_id", "call_id"].iter().any(is_said);
    is_result || is_said(&"id") && !fields.contains_key("role")
}

fn is_unknown(value: &Value) -> bool {
    value.as_str() == Some(UNKNOWN)
}

/// How much depends on the unknown value of a field, and the value in its place. A field without one is removed.
fn kind_of(name: &str) -> (Kind, Option<Value>) {
    let lower = name.to_ascii_lowercase();
    match lower.as_str() {
        "text" | "thinking" | "reasoning_content" | "output" | "response" | "name" => {
            (Kind::Value, Some(SOME_TEXT.into()))
        }
        "arguments" => (Kind::Value, Some("{}".into())),
        "input" | "args" => (Kind::Value, Some(Value::Object(Map::new()))),
        "content" => (Kind::Content, Some(SOME_TEXT.into())),
        "parts" | "messages" | "contents" | "tool_calls" | "role" | "type" => (Kind::Structure, None),
        // The name of the field shows the dialect.
        id if id == "id" || id.ends_with("_id") || id.ends_with("useid") => {
            (Kind::Structure, Some("left_out".into()))
        }
        _ => (Kind::Value, None),
    }
}

/// Returns whether rules of a family compare a message with others.
fn depends_on_others(family: Family) -> bool {
    !matches!(
        family,
        Family::ResultContent
            | Family::IdForm
            | Family::ToolName
            | Family::Arguments
            | Family::Empty
            | Family::SystemMessage
            | Family::CacheControl
            | Family::Picture
            | Family::Shape
            | Family::Body
    )
}

/// Returns whether rules of a family look only at the places, the roles and the ids of calls and results.
fn is_of_places(family: Family) -> bool {
    matches!(
        family,
        Family::UnansweredCall
            | Family::OrphanResult
            | Family::RepeatedResult
            | Family::MisplacedResult
            | Family::RepeatedId
            | Family::MessageOrder
            | Family::EndsWithReply
    )
}

/// Returns whether a pointer leads to a value, or into it.
fn is_under(pointer: &str, outer: &str) -> bool {
    pointer.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_values_get_a_neutral_form_and_their_place_is_kept() {
        let mut request = json!({
            "model": UNKNOWN,
            "messages": [
                { "role": "user", "content": UNKNOWN },
                UNKNOWN,
                { "role": "user", "content": [{ "toolResult": { UNKNOWN: UNKNOWN, "toolUseId": UNKNOWN } }] },
            ],
        });
        let left_out = LeftOut::of(&mut request);
        assert_eq!(
            request,
            json!({ "messages": [
                { "role": "user", "content": "…" },
                { "role": "user", "content": [{ "toolResult": { "toolUseId": "left_out" } }] },
            ] })
        );
        let places: Vec<&str> = left_out.places.iter().map(|place| place.pointer.as_str()).collect();
        assert_eq!(
            places,
            [
                "/model",
                "/messages",
                "/messages/0/content",
                "/messages/1/content/0/toolResult",
                "/messages/1/content/0/toolResult/toolUseId",
            ]
        );
    }
}
