//! An item, read in one pass over its fields: the checks ask for the same few of them again and again.

use std::borrow::Cow;

use crate::json::Json;

/// One item, with the fields that most checks ask for.
#[derive(Clone, Copy)]
pub(super) struct Item<'t, 'a> {
    pub(super) n: usize,
    pub(super) json: Json<'t, 'a>,
    pub(super) kind: ItemKind,
    pub(super) role: Option<Json<'t, 'a>>,
    pub(super) content: Option<Json<'t, 'a>>,
    pub(super) call_id: Option<Json<'t, 'a>>,
    id: Option<Json<'t, 'a>>,
}

impl<'t, 'a> Item<'t, 'a> {
    pub(super) fn of(n: usize, json: Json<'t, 'a>) -> Item<'t, 'a> {
        let [kind, role, content, call_id, id] = json.pick(["type", "role", "content", "call_id", "id"]);
        Item { n, json, kind: ItemKind::of(kind, role, id), role, content, call_id, id }
    }

    /// Its id, if it has one; it may be empty.
    pub(super) fn id(&self) -> Option<Cow<'a, str>> {
        self.id?.as_str()
    }
}

/// What an item is, as far as the rules tell items apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    /// A message of the user or of the program. A message of an unknown role counts as one.
    Prompt,
    Said,
    /// A call that the client has to answer.
    Call(ToolKind),
    /// The answer to such a call.
    Output(ToolKind),
    Reasoning,
    /// The name of an item that the provider has.
    Reference,
    /// Anything else: what the provider did itself, and types that are not known.
    Other,
}

/// Who made a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolKind {
    /// It has a JSON Schema.
    Function,
    /// It takes any text.
    Custom,
}

impl ToolKind {
    /// Which sentence speaks of it, in the rules about calls.
    pub(super) fn form(self) -> usize {
        match self {
            ToolKind::Function => 0,
            ToolKind::Custom => 1,
        }
    }
}

impl ItemKind {
    fn of(kind: Option<Json>, role: Option<Json>, id: Option<Json>) -> ItemKind {
        let is_untyped = kind.is_none_or(Json::is_null);
        match kind.and_then(Json::as_str).as_deref() {
            Some("function_call") => ItemKind::Call(ToolKind::Function),
            Some("custom_tool_call") => ItemKind::Call(ToolKind::Custom),
            Some("function_call_output") => ItemKind::Output(ToolKind::Function),
            Some("custom_tool_call_output") => ItemKind::Output(ToolKind::Custom),
            Some("reasoning") => ItemKind::Reasoning,
            Some("item_reference") => ItemKind::Reference,
            // Only messages may leave their type out, and references theirs.
            None if is_untyped && role.is_none() && id.is_some_and(Json::is_str) => ItemKind::Reference,
            None | Some("message") if role.is_some_and(|role| role.is("assistant")) => ItemKind::Said,
            None | Some("message") => ItemKind::Prompt,
            Some(_) => ItemKind::Other,
        }
    }

    /// How the provider's ids of such items begin.
    pub(super) fn id_prefix(self) -> Option<&'static str> {
        match self {
            ItemKind::Said => Some("msg"),
            ItemKind::Call(ToolKind::Function) => Some("fc"),
            ItemKind::Call(ToolKind::Custom) => Some("ctc"),
            ItemKind::Reasoning => Some("rs"),
            ItemKind::Prompt | ItemKind::Output(_) | ItemKind::Reference | ItemKind::Other => None,
        }
    }
}
