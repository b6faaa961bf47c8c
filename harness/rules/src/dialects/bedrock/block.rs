//! A message and its blocks, each read in one pass over its fields.
//!
//! The checks ask for the same few fields again and again. Looking each of them up anew would cost more than reading
//! the text did.

use std::borrow::Cow;

use crate::json::{Json, Mark};

#[derive(Clone, Copy)]
pub(super) struct ConverseMessage<'b, 't, 'a> {
    pub(super) n: usize,
    pub(super) json: Json<'t, 'a>,
    /// A missing or unknown role, which the schema check reports, is `None`.
    pub(super) role: Option<ConverseRole>,
    pub(super) written_role: Option<Json<'t, 'a>>,
    pub(super) content: Option<Json<'t, 'a>>,
    /// Its blocks, once they have been read.
    pub(super) blocks: &'b [ConverseBlock],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConverseRole {
    User,
    Assistant,
}

/// A block with its fields, and those of the call or the result in it.
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
    /// Whether what is called is a tool of the model. Such have a field `type`, for example `server_tool_use`.
    is_server: bool,
}

/// What is kept of a block while its message is judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConverseBlock {
    pub(super) kind: ConverseKind,
    /// The text or the reasoning.
    value: Mark,
    /// The id of the call or of the result.
    id: Mark,
}

/// What a block is, as far as the rules care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConverseKind {
    Text,
    ToolUse,
    ToolResult,
    /// What the model thought.
    Reasoning,
    /// A call or a result of a tool that the model runs itself. Both stand in the same message.
    Server,
    /// A mark, which is no content.
    CachePoint,
    /// Images, documents, malformed blocks, and kinds that we do not know.
    Other,
}

impl<'t, 'a> ConverseMessage<'_, 't, 'a> {
    /// A message whose blocks have not been read.
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

    /// The id of a call or of a result among its blocks.
    pub(super) fn id(&self, block: &ConverseBlock) -> Option<Cow<'a, str>> {
        self.json.at(block.id)?.as_str()
    }

    /// The text or the reasoning of one of its blocks.
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
        let [result_id, result_content, result_type] =
            result.map_or([None; 3], |result| result.pick(["toolUseId", "content", "type"]));
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
            is_server: call_type.is_some() || result_type.is_some(),
        }
    }

    /// What the rules about whole messages ask of it.
    pub(super) fn block(&self) -> ConverseBlock {
        let mark = |value: Option<Json>| value.map_or(Mark::NOWHERE, Json::mark);
        let block = |kind| ConverseBlock { kind, value: Mark::NOWHERE, id: Mark::NOWHERE };
        let is_object = |value: Option<Json>| value.is_some_and(Json::is_object);
        match () {
            () if self.text.is_some_and(Json::is_str) => {
                ConverseBlock { value: mark(self.text), ..block(ConverseKind::Text) }
            }
            () if self.is_server => block(ConverseKind::Server),
            () if is_object(self.call) => {
                ConverseBlock { id: mark(self.call_id), ..block(ConverseKind::ToolUse) }
            }
            () if is_object(self.result) => {
                ConverseBlock { id: mark(self.result_id), ..block(ConverseKind::ToolResult) }
            }
            () if self.reasoning.is_some() => {
                ConverseBlock { value: mark(self.reasoning), ..block(ConverseKind::Reasoning) }
            }
            () if self.cache_point.is_some() => block(ConverseKind::CachePoint),
            () => block(ConverseKind::Other),
        }
    }
}
