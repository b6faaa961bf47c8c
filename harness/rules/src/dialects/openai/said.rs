//! A message, read in one pass over its fields, because the checks read the same few fields repeatedly.

use crate::json::{Items, Json};

/// A message with the fields that most checks read.
#[derive(Clone, Copy)]
pub(super) struct ChatMessage<'t, 'a> {
    pub(super) n: usize,
    pub(super) json: Json<'t, 'a>,
    /// The role. `None` if it is missing or unknown, which the schema check reports.
    pub(super) role: Option<ChatRole>,
    pub(super) written_role: Option<Json<'t, 'a>>,
    pub(super) content: Option<Json<'t, 'a>>,
    pub(super) tool_calls: Option<Json<'t, 'a>>,
    pub(super) tool_call_id: Option<Json<'t, 'a>>,
}

/// The role of a message, which decides what it may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChatRole {
    System,
    User,
    Assistant,
    Tool,
    /// The predecessor of `tool`. Its rules are no longer known.
    Function,
}

impl<'t, 'a> ChatMessage<'t, 'a> {
    pub(super) fn of(n: usize, json: Json<'t, 'a>) -> ChatMessage<'t, 'a> {
        let [written_role, content, tool_calls, tool_call_id] =
            json.pick(["role", "content", "tool_calls", "tool_call_id"]);
        let role = written_role.and_then(ChatRole::of);
        ChatMessage { n, json, role, written_role, content, tool_calls, tool_call_id }
    }

    /// Returns the calls. Only assistant messages have any; `tool_calls` in a user message is ignored.
    pub(super) fn calls(&self) -> Items<'t, 'a> {
        match (self.role, self.tool_calls) {
            (Some(ChatRole::Assistant), Some(calls)) => calls.items(),
            _ => Items::default(),
        }
    }

    pub(super) fn lacks_content(&self) -> bool {
        self.content.is_none_or(Json::is_null)
    }
}

impl ChatRole {
    fn of(written: Json) -> Option<ChatRole> {
        match written.as_str()?.as_ref() {
            "system" | "developer" => Some(ChatRole::System),
            "user" => Some(ChatRole::User),
            "assistant" => Some(ChatRole::Assistant),
            "tool" => Some(ChatRole::Tool),
            "function" => Some(ChatRole::Function),
            _ => None,
        }
    }
}
