//! Converts items of the Responses API into blocks.

use std::collections::BTreeMap;

use brickbat_rules::Dialect;
use brickbat_rules::histories::{Block as Content, Call, CallResult, Image, Role, Thinking};
use serde_json::Value;

use super::FAKE_ID;
use crate::json::text;
use crate::{Block, Place};

/// Calls that the client runs, and the items that answer them: `_TOOL_CALL_TO_OUTPUT_TYPE` in
/// `agents/run_internal/items.py`, except programs, which own other items.
pub(super) const TOOLS: [(&str, &str); 7] = [
    ("function_call", "function_call_output"),
    ("custom_tool_call", "custom_tool_call_output"),
    ("shell_call", "shell_call_output"),
    ("apply_patch_call", "apply_patch_call_output"),
    ("computer_call", "computer_call_output"),
    ("local_shell_call", "local_shell_call_output"),
    ("tool_search_call", "tool_search_output"),
];

/// Other known items.
const OTHERS: [&str; 17] = [
    "message",
    "reasoning",
    "compaction",
    "compaction_summary",
    "item_reference",
    "program",
    "program_output",
    "hosted_tool_call",
    "file_search_call",
    "web_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_list_tools",
    "mcp_call",
    "mcp_approval_request",
    "mcp_approval_response",
    "additional_tools",
];

/// The type of an item. Messages may omit it.
pub(super) fn kind(value: &Value) -> &str {
    match text(value, "type") {
        "" if value.get("role").is_some() => "message",
        kind => kind,
    }
}

pub(super) fn is_known(kind: &str) -> bool {
    OTHERS.contains(&kind) || TOOLS.iter().any(|(call, output)| kind == *call || kind == *output)
}

/// The role and the blocks of an item.
pub(super) fn blocks(
    value: &Value,
    place: &Place,
    names: &mut BTreeMap<String, String>,
) -> (Role, Vec<Block>) {
    let kind = kind(value);
    let one = |content: Content| vec![Block { place: place.clone(), content, state: None }];
    let native = || Content::Native { dialect: Dialect::OpenaiResponses, value: value.clone() };
    match kind {
        "message" => {
            let role = match text(value, "role") {
                "assistant" => Role::Assistant,
                "system" | "developer" => Role::System,
                _ => Role::User,
            };
            (role, said(value, place).unwrap_or_else(|| one(native())))
        }
        "function_call" => (Role::Assistant, one(call(value, names).unwrap_or_else(native))),
        "function_call_output" => (Role::Tool, one(result(value, names).unwrap_or_else(native))),
        "reasoning" => (Role::Assistant, one(thinking(value).unwrap_or_else(native))),
        "mcp_approval_response" => (Role::User, one(native())),
        _ if kind.ends_with("_output") => (Role::Tool, one(native())),
        _ => (Role::Assistant, one(native())),
    }
}

/// The id of a model text. Without the text, its reasoning must not be sent.
pub(super) fn said_id(value: &Value, blocks: &[Block]) -> Option<String> {
    let is_said = blocks.iter().any(|block| matches!(block.content, Content::Text(_)));
    let id = text(value, "id");
    (is_said && !id.is_empty() && id != FAKE_ID).then(|| id.to_owned())
}

/// The content of a message. `None` unless it is only texts and images.
fn said(value: &Value, place: &Place) -> Option<Vec<Block>> {
    match value.get("content")? {
        Value::String(text) => {
            Some(vec![Block { place: place.clone(), content: Content::Text(text.clone()), state: None }])
        }
        Value::Array(parts) if !parts.is_empty() => {
            let block = |(n, value): (usize, &Value)| {
                let pointer = format!("{}/content/{n}", place.pointer);
                let content = part(value)?;
                Some(Block { place: Place { pointer, ..place.clone() }, content, state: None })
            };
            parts.iter().enumerate().map(block).collect()
        }
        _ => None,
    }
}

fn part(value: &Value) -> Option<Content> {
    match text(value, "type") {
        "input_text" | "output_text" | "text" => Some(Content::Text(value.get("text")?.as_str()?.to_owned())),
        "input_image" => {
            let (media_type, data) =
                text(value, "image_url").strip_prefix("data:")?.split_once(";base64,")?;
            Some(Content::Image(Image { media_type: media_type.to_owned(), data: data.to_owned() }))
        }
        _ => None,
    }
}

fn call(value: &Value, names: &mut BTreeMap<String, String>) -> Option<Content> {
    let id = value.get("call_id")?.as_str()?.to_owned();
    let name = text(value, "name").to_owned();
    let arguments = value.get("arguments")?.as_str()?.to_owned();
    names.insert(id.clone(), name.clone());
    Some(Content::Call(Call { item: own_id(value), ..Call::new(id, name, arguments) }))
}

fn result(value: &Value, names: &BTreeMap<String, String>) -> Option<Content> {
    let call = value.get("call_id")?.as_str()?.to_owned();
    let output = match value.get("output")? {
        Value::String(text) => vec![Content::Text(text.clone())],
        Value::Array(parts) => parts.iter().map(part).collect::<Option<_>>()?,
        _ => return None,
    };
    let name = names.get(&call).cloned().unwrap_or_default();
    Some(Content::Result(CallResult { item: own_id(value), ..CallResult::new(call, name, output) }))
}

/// The id with which the item itself is sent.
fn own_id(value: &Value) -> Option<String> {
    value.get("id").and_then(Value::as_str).filter(|id| *id != FAKE_ID).map(str::to_owned)
}

fn thinking(value: &Value) -> Option<Content> {
    let id = own_id(value)?;
    let summary = value.get("summary").and_then(Value::as_array);
    let texts: Vec<&str> = summary.into_iter().flatten().map(|part| text(part, "text")).collect();
    let signature = value.get("encrypted_content").and_then(Value::as_str).map(str::to_owned);
    Some(Content::Thinking(Thinking { text: texts.join("\n"), signature, id: Some(id) }))
}
