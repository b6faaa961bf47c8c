//! A message and its calls, each read in one pass over its fields, because the checks read the same few
//! fields repeatedly.

use std::borrow::Cow;

use crate::json::Json;

/// A message with the fields that the checks read.
#[derive(Clone, Copy)]
pub(super) struct MistralMessage<'t, 'a> {
    pub(super) n: usize,
    pub(super) json: Json<'t, 'a>,
    /// The role. `None` if it is missing or unknown, which the schema check reports.
    pub(super) role: Option<MistralRole>,
    pub(super) written_role: Option<Json<'t, 'a>>,
    pub(super) content: Option<Json<'t, 'a>>,
    pub(super) tool_calls: Option<Json<'t, 'a>>,
    pub(super) tool_call_id: Option<Json<'t, 'a>>,
    pub(super) name: Option<Json<'t, 'a>>,
    prefix: Option<Json<'t, 'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MistralRole {
    System,
    User,
    Assistant,
    Tool,
}

#[derive(Clone, Copy)]
pub(super) struct MistralCall<'t, 'a> {
    pub(super) json: Json<'t, 'a>,
    pub(super) id: Option<Json<'t, 'a>>,
    pub(super) function: Option<Json<'t, 'a>>,
}

impl<'t, 'a> MistralMessage<'t, 'a> {
    pub(super) fn of(n: usize, json: Json<'t, 'a>) -> MistralMessage<'t, 'a> {
        let [written_role, content, tool_calls, tool_call_id, name, prefix] =
            json.pick(["role", "content", "tool_calls", "tool_call_id", "name", "prefix"]);
        let role = written_role.and_then(MistralRole::of);
        MistralMessage { n, json, role, written_role, content, tool_calls, tool_call_id, name, prefix }
    }

    /// Returns the calls. Only assistant messages have any.
    pub(super) fn calls(&self) -> impl Iterator<Item = MistralCall<'t, 'a>> {
        let calls = self.tool_calls.filter(|_| self.role == Some(MistralRole::Assistant));
        calls.map(Json::items).unwrap_or_default().map(MistralCall::of)
    }

    /// Returns whether the reply continues this message, which must be the last.
    pub(super) fn is_prefix(&self) -> bool {
        self.prefix.and_then(Json::as_bool) == Some(true)
    }
}

impl MistralRole {
    fn of(written: Json) -> Option<MistralRole> {
        match written.as_str()?.as_ref() {
            "system" => Some(MistralRole::System),
            "user" => Some(MistralRole::User),
            "assistant" => Some(MistralRole::Assistant),
            "tool" => Some(MistralRole::Tool),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            MistralRole::System => "system",
            MistralRole::User => "user",
            MistralRole::Assistant => "assistant",
            MistralRole::Tool => "tool",
        }
    }
}

impl<'t, 'a> MistralCall<'t, 'a> {
    fn of(json: Json<'t, 'a>) -> MistralCall<'t, 'a> {
        let [id, function] = json.pick(["id", "function"]);
        MistralCall { json, id, function }
    }

    /// Returns the id. As in the validator, a missing id becomes `null`.
    pub(super) fn called(&self) -> Cow<'a, str> {
        self.id.and_then(Json::as_str).unwrap_or("null".into())
    }
}
