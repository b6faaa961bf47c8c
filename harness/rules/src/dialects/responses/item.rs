//! An item, read in one pass over its fields, because the checks read the same few fields repeatedly.

use std::borrow::Cow;

use crate::json::Json;

/// An item with the fields that most checks read.
#[derive(Clone, Copy)]
pub(super) struct Item<'t, 'a> {
    pub(super) n: usize,
    pub(super) json: Json<'t, 'a>,
    pub(super) kind: ItemKind,
    /// The field `type`.
    pub(super) written_kind: Option<Json<'t, 'a>>,
    pub(super) role: Option<Json<'t, 'a>>,
    pub(super) content: Option<Json<'t, 'a>>,
    pub(super) call_id: Option<Json<'t, 'a>>,
    id: Option<Json<'t, 'a>>,
    written_async: Option<Json<'t, 'a>>,
}

impl<'t, 'a> Item<'t, 'a> {
    pub(super) fn of(n: usize, json: Json<'t, 'a>) -> Item<'t, 'a> {
        let [written_kind, role, content, call_id, id, written_async] =
            json.pick(["type", "role", "content", "call_id", "id", "async"]);
        let kind = ItemKind::of(json, written_kind, role, id);
        Item { n, json, kind, written_kind, role, content, call_id, id, written_async }
    }

    /// Returns whether the model does not wait for the output of this call. The output may come in any
    /// later request, or never.
    ///
    /// "Async execution applies to function and custom tools that your application runs. It doesn't apply
    /// to hosted built-in tools." (<https://developers.openai.com/api/docs/guides/async-tool-calling>)
    pub(super) fn is_async(&self) -> bool {
        let is_of_client = matches!(self.kind, ItemKind::Call(tool) if tool.is_defined_by_client());
        is_of_client && self.written_async.and_then(Json::as_bool) == Some(true)
    }

    /// Returns the id that matches a call with its output.
    pub(super) fn pairing_id(&self) -> Option<Cow<'a, str>> {
        self.call_id.and_then(Json::as_str)
    }

    /// Returns the prefix of the provider's ids for such items. A message of any role has one, as the threads about
    /// `review_rollout_user` and about messages of hooks show. They all show a `type`, so a message of the user without
    /// one passes.
    pub(super) fn id_prefix(&self) -> Option<&'static str> {
        match self.kind {
            ItemKind::Said => Some("msg"),
            ItemKind::Prompt => self.written_kind.is_some_and(Json::is_str).then_some("msg"),
            ItemKind::Call(ToolKind::Function) => Some("fc"),
            ItemKind::Call(ToolKind::Custom) => Some("ctc"),
            ItemKind::Reasoning => Some("rs"),
            // Other prefixes are not published.
            ItemKind::Call(_)
            | ItemKind::Output(_)
            | ItemKind::Reference
            | ItemKind::Compaction
            | ItemKind::Other => None,
        }
    }

    /// Returns the item's id, which may be empty.
    pub(super) fn id(&self) -> Option<Cow<'a, str>> {
        self.id?.as_str()
    }
}

/// The kind of an item, as far as the rules need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    /// A message from the user or the program, or with an unknown role.
    Prompt,
    Said,
    /// A call that the client must answer.
    Call(ToolKind),
    /// The output of such a call.
    Output(ToolKind),
    Reasoning,
    /// A reference to an item that the provider has stored.
    Reference,
    /// An encrypted summary of earlier items
    /// (<https://developers.openai.com/api/docs/guides/compaction>).
    Compaction,
    /// Anything else: the provider's own actions, and unknown types.
    Other,
}

/// The kind of a client tool, in the order of the error messages about calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolKind {
    /// A tool with a JSON Schema.
    Function,
    /// A tool that accepts any text.
    Custom,
    Shell,
    ApplyPatch,
    Computer,
    /// The predecessor of `Shell`.
    LocalShell,
    /// A search for tools that the client runs itself.
    ToolSearch,
}

impl ToolKind {
    /// Returns the index of its error message in the rules about calls.
    pub(super) fn form(self) -> usize {
        self as usize
    }

    /// Returns whether the client has defined and named the tool. All other tools are predefined by
    /// the provider.
    pub(super) fn is_defined_by_client(self) -> bool {
        matches!(self, ToolKind::Function | ToolKind::Custom)
    }
}

impl ItemKind {
    fn of(json: Json, kind: Option<Json>, role: Option<Json>, id: Option<Json>) -> ItemKind {
        let is_untyped = kind.is_none_or(Json::is_null);
        match kind.and_then(Json::as_str).as_deref() {
            Some("function_call") => ItemKind::Call(ToolKind::Function),
            Some("custom_tool_call") => ItemKind::Call(ToolKind::Custom),
            Some("function_call_output") => ItemKind::Output(ToolKind::Function),
            Some("custom_tool_call_output") => ItemKind::Output(ToolKind::Custom),
            Some("shell_call") if is_hosted_shell(json) => ItemKind::Other,
            Some("shell_call") => ItemKind::Call(ToolKind::Shell),
            Some("shell_call_output") => ItemKind::Output(ToolKind::Shell),
            Some("apply_patch_call") => ItemKind::Call(ToolKind::ApplyPatch),
            Some("apply_patch_call_output") => ItemKind::Output(ToolKind::ApplyPatch),
            Some("computer_call") => ItemKind::Call(ToolKind::Computer),
            Some("computer_call_output") => ItemKind::Output(ToolKind::Computer),
            Some("local_shell_call") => ItemKind::Call(ToolKind::LocalShell),
            Some("local_shell_call_output") => ItemKind::Output(ToolKind::LocalShell),
            Some("tool_search_call" | "tool_search_output") if json.field("execution").is("server") => {
                ItemKind::Other
            }
            Some("tool_search_call") => ItemKind::Call(ToolKind::ToolSearch),
            Some("tool_search_output") => ItemKind::Output(ToolKind::ToolSearch),
            Some("compaction" | "compaction_summary") => ItemKind::Compaction,
            Some("reasoning") => ItemKind::Reasoning,
            Some("item_reference") => ItemKind::Reference,
            // Only messages and references may omit their type.
            None if is_untyped && role.is_none() && id.is_some_and(Json::is_str) => ItemKind::Reference,
            None | Some("message") if role.is_some_and(|role| role.is("assistant")) => ItemKind::Said,
            None | Some("message") => ItemKind::Prompt,
            Some(_) => ItemKind::Other,
        }
    }
}

/// Returns whether a shell runs in a container of the provider, which returns the output itself. The
/// client's own shell is `local`, and was also seen without an environment.
fn is_hosted_shell(call: Json) -> bool {
    let kind = call.field("environment").field("type");
    kind.is_str() && !kind.is("local")
}
