//! A message and its blocks, each read in one pass over its fields.
//!
//! The checks read the same few fields repeatedly, and looking each one up again would cost more than
//! parsing the text did.

use std::borrow::Cow;

use crate::json::{Json, Mark};

#[derive(Clone, Copy)]
pub(super) struct ConverseMessage<'b, 't, 'a> {
    pub(super) n: usize,
    pub(super) json: Json<'t, 'a>,
    /// The role. `None` if it is missing or unknown, which the schema check reports.
    pub(super) role: Option<ConverseRole>,
    pub(super) written_role: Option<Json<'t, 'a>>,
    pub(super) content: Option<Json<'t, 'a>>,
    /// Its blocks. Empty until they have been read.
    pub(super) blocks: &'b [ConverseBlock],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConverseRole {
    User,
    Assistant,
}

/// A block with its fields, and the fields of the call or result in it.
pub(super) struct BlockFields<'t, 'a> {
    pub(super) json: Json<'t, 'a>,
    pub(super) text: Option<Json<'t, 'a>>,
    pub(super) call: Option<Json<'t, 'a>>,
    pub(super) result: Option<Json<'t, 'a>>,
    reasoning: Option<Json<'t, 'a>>,
    cache_point: Option<Json<'t, 'a>>,
    pub(super) call_id: Option<Json<'t, 'a>>,
    pub(super) call_name: Option<Json<'t, 'a>>,
    pub(super) call_input: Option<Json<'t, 'a>>,
    pub(super) result_id: Option<Json<'t, 'a>>,
    pub(super) result_content: Option<Json<'t, 'a>>,
    pub(super) result_status: Option<Json<'t, 'a>>,
    call_type: Option<Json<'t, 'a>>,
    result_type: Option<Json<'t, 'a>>,
}

/// The facts kept about a block while its message is judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConverseBlock {
    pub(super) kind: ConverseKind,
    /// The text or the reasoning.
    value: Mark,
    /// The id of the call or result.
    id: Mark,
    /// True if a result has its own type, as results of the model's own tools do.
    pub(super) is_typed: bool,
    /// True for the result of a failed tool with content other than text.
    pub(super) is_mixed_error: bool,
}

/// The kind of a block, as far as the rules need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConverseKind {
    Text,
    ToolUse,
    ToolResult,
    /// The model's reasoning.
    Reasoning,
    /// A call of a tool that the model runs itself. The result is in the same message.
    ServerUse,
    /// The result of such a tool.
    ServerResult,
    /// A cache marker, which is not content.
    CachePoint,
    Document,
    Video,
    /// Images, malformed blocks, and unknown kinds.
    Other,
}

/// Keys of blocks that no rule reads
/// (<https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html>).
const RARE_KEYS: [&str; 7] =
    ["image", "document", "video", "audio", "guardContent", "citationsContent", "searchResult"];

impl<'t, 'a> ConverseMessage<'_, 't, 'a> {
    /// Creates a message without its blocks.
    pub(super) fn of(n: usize, json: Json<'t, 'a>) -> Self {
        let [written_role, content] = json.pick(["role", "content"]);
        ConverseMessage {
            n,
            json,
            role: written_role.and_then(ConverseRole::of),
            written_role,
            content,
            blocks: &[],
        }
    }

    /// Returns the id of a call or a result among its blocks.
    pub(super) fn id(&self, block: &ConverseBlock) -> Option<Cow<'a, str>> {
        self.json.at(block.id)?.as_str()
    }

    /// Returns the text or reasoning from one of its blocks.
    pub(super) fn value(&self, block: &ConverseBlock) -> Option<Json<'t, 'a>> {
        self.json.at(block.value)
    }
}

impl ConverseRole {
    fn of(written: Json) -> Option<ConverseRole> {
        match written.as_str()?.as_ref() {
            "user" => Some(ConverseRole::User),
            "assistant" => Some(ConverseRole::Assistant),
            _ => None,
        }
    }
}

impl<'t, 'a> BlockFields<'t, 'a> {
    pub(super) fn read(json: Json<'t, 'a>) -> BlockFields<'t, 'a> {
        let [text, call, result, reasoning, cache_point] =
            json.pick(["text", "toolUse", "toolResult", "reasoningContent", "cachePoint"]);
        let [call_id, call_name, call_input, call_type] =
            call.map_or([None; 4], |call| call.pick(["toolUseId", "name", "input", "type"]));
        let [result_id, result_content, result_status, result_type] =
            result.map_or([None; 4], |result| result.pick(["toolUseId", "content", "status", "type"]));
        BlockFields {
            json,
            text,
            call,
            result,
            reasoning,
            cache_point,
            call_id,
            call_name,
            call_input,
            result_id,
            result_content,
            result_status,
            call_type,
            result_type,
        }
    }

    /// Returns the facts for the rules about complete messages. `role` is the role of the block's message.
    pub(super) fn block(&self, role: Option<ConverseRole>) -> ConverseBlock {
        let mark = |value: Option<Json>| value.map_or(Mark::NOWHERE, Json::mark);
        let (is_typed, is_mixed_error) = (self.has_typed_result(), self.is_mixed_error());
        let nowhere = Mark::NOWHERE;
        let block = |kind| ConverseBlock { kind, value: nowhere, id: nowhere, is_typed, is_mixed_error };
        let is_object = |value: Option<Json>| value.is_some_and(Json::is_object);
        match () {
            () if self.text.is_some_and(Json::is_str) => {
                ConverseBlock { value: mark(self.text), ..block(ConverseKind::Text) }
            }
            () if is_object(self.call) => {
                let kind =
                    if self.is_server_call() { ConverseKind::ServerUse } else { ConverseKind::ToolUse };
                ConverseBlock { id: mark(self.call_id), ..block(kind) }
            }
            () if is_object(self.result) => {
                let is_server = is_typed && role == Some(ConverseRole::Assistant);
                let kind = if is_server { ConverseKind::ServerResult } else { ConverseKind::ToolResult };
                ConverseBlock { id: mark(self.result_id), ..block(kind) }
            }
            () if self.reasoning.is_some() => {
                ConverseBlock { value: mark(self.reasoning), ..block(ConverseKind::Reasoning) }
            }
            () if self.cache_point.is_some() => block(ConverseKind::CachePoint),
            () if is_object(self.json.get("document")) => block(ConverseKind::Document),
            () if is_object(self.json.get("video")) => block(ConverseKind::Video),
            () => block(ConverseKind::Other),
        }
    }

    /// Returns whether the block has no key of Converse, and is empty or has a `type`, as blocks of other
    /// APIs do. A block with an unknown key may be a new kind.
    pub(super) fn is_keyless(&self) -> bool {
        let known = [self.text, self.call, self.result, self.reasoning, self.cache_point];
        if known.into_iter().flatten().any(|value| !value.is_null()) {
            return false;
        }
        self.json.is_empty() || (self.json.get("type").is_some_and(Json::is_str) && !self.has_rare_key())
    }

    fn has_rare_key(&self) -> bool {
        RARE_KEYS.into_iter().any(|key| self.json.get(key).is_some_and(Json::is_object))
    }

    /// Returns whether this is a call to one of the model's own tools. Claude gives calls to client
    /// tools the type `tool_use`, and clients send it back; the only documented type is the one for the
    /// model's own tools
    /// (<https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html>).
    fn is_server_call(&self) -> bool {
        self.call_type.is_some_and(|kind| kind.is("server_tool_use"))
    }

    /// Returns whether this is the result of a failed tool with an image or a document.
    fn is_mixed_error(&self) -> bool {
        self.result_status.is_some_and(|status| status.is("error"))
            && self.result_content.map(Json::items).unwrap_or_default().any(|piece| {
                piece.pick(["image", "document"]).into_iter().flatten().any(|value| !value.is_null())
            })
    }

    /// Returns whether the result has a type that client results never have, such as
    /// `nova_code_interpreter_result`.
    fn has_typed_result(&self) -> bool {
        self.result_type.is_some_and(|kind| kind.is_str() && !kind.is("tool_result"))
    }
}
