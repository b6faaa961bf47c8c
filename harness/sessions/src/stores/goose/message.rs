//! Converts goose's messages into blocks: `crates/goose/src/conversation/message.rs` and
//! `tool_result_serde.rs`.

use std::collections::BTreeMap;

use brickbat_rules::Dialect;
use brickbat_rules::histories::{Block as Content, Call, CallResult, Image, Thinking};
use serde_json::{Value, json};

use super::role_of;
use crate::json::text;
use crate::{Block, Ending, Message, Place};

/// A message, and facts about it.
pub(super) struct Read {
    pub(super) message: Message,
    /// True if the agent does not see the message: it was compacted, or is a note for the user.
    pub(super) is_hidden: bool,
    /// True if the stored message has any content.
    pub(super) has_content: bool,
    /// The unknown types of content.
    pub(super) unknown: Vec<String>,
}

/// The name under which goose sends a call that it could not parse (`providers/formats/anthropic.rs`).
const UNPARSED: &str = "unparseable_tool_call";

/// Content that goose keeps for its user interface and never sends. The last four are from older versions.
const NOT_SENT: [&str; 7] = [
    "actionRequired",
    "frontendToolRequest",
    "systemNotification",
    "toolConfirmationRequest",
    "conversationCompacted",
    "contextLengthExceeded",
    "summarizationRequested",
];

pub(super) fn read(
    role: &str,
    id: Option<String>,
    content: &[Value],
    metadata: &Value,
    place: &Place,
    at: impl Fn(usize) -> Place,
) -> Read {
    let mut blocks = Vec::new();
    let mut unknown = Vec::new();
    for (n, value) in content.iter().enumerate() {
        let kind = text(value, "type");
        if NOT_SENT.contains(&kind) || !is_for_agent(value) {
            continue;
        }
        match block(kind, value) {
            Some((content, state)) => blocks.push(Block { place: at(n), content, state }),
            None => unknown.push(kind.to_owned()),
        }
    }
    let has_results = blocks.iter().any(|block| matches!(block.content, Content::Result(_)));
    let is_hidden = metadata.get("agentVisible").and_then(Value::as_bool) == Some(false);
    let role = role_of(role, has_results);
    let message = Message { role, blocks, id, place: place.clone(), ending: Ending::Whole };
    Read { message, is_hidden, has_content: !content.is_empty(), unknown }
}

/// Returns whether the annotations, if any, name the agent (`filter_for_audience`).
fn is_for_agent(value: &Value) -> bool {
    let audience = value.pointer("/annotations/audience").and_then(Value::as_array);
    audience.is_none_or(|roles| roles.iter().any(|role| role == "assistant"))
}

fn block(kind: &str, value: &Value) -> Option<(Content, Option<String>)> {
    let content = match kind {
        "text" => Content::Text(value.get("text")?.as_str()?.to_owned()),
        "image" => image(value)?,
        "thinking" => thinking(value, "thinking")?,
        "reasoning" => thinking(value, "text")?,
        "redactedThinking" => {
            let value = json!({ "type": "redacted_thinking", "data": value.get("data")? });
            Content::Native { dialect: Dialect::AnthropicMessages, value }
        }
        "toolRequest" => return request(value),
        "toolResponse" => response(value)?,
        _ => return None,
    };
    Some((content, None))
}

fn image(value: &Value) -> Option<Content> {
    let media_type = value.get("mimeType")?.as_str()?.to_owned();
    Some(Content::Image(Image { media_type, data: value.get("data")?.as_str()?.to_owned() }))
}

fn thinking(value: &Value, key: &str) -> Option<Content> {
    let words = value.get(key)?.as_str()?.to_owned();
    let signature = Some(text(value, "signature").to_owned()).filter(|signature| !signature.is_empty());
    Some(Content::Thinking(Thinking { text: words, signature, id: None }))
}

fn request(value: &Value) -> Option<(Content, Option<String>)> {
    let id = value.get("id")?.as_str()?.to_owned();
    let call = value.get("toolCall")?;
    let signature = value.pointer("/metadata/thoughtSignature").and_then(Value::as_str).map(str::to_owned);
    let (name, arguments, state) = match text(call, "status") {
        "success" => {
            let call = call.get("value")?;
            let arguments = call.get("arguments").filter(|arguments| !arguments.is_null());
            let arguments = arguments.map_or_else(|| "{}".to_owned(), Value::to_string);
            (call.get("name")?.as_str()?.to_owned(), arguments, None)
        }
        "error" => (UNPARSED.to_owned(), "{}".to_owned(), Some("error".to_owned())),
        _ => return None,
    };
    Some((Content::Call(Call { signature, ..Call::new(id, name, arguments) }), state))
}

fn response(value: &Value) -> Option<Content> {
    let call = value.get("id")?.as_str()?.to_owned();
    let result = value.get("toolResult")?;
    let (output, is_error) = match text(result, "status") {
        "success" => {
            let value = result.get("value")?;
            // A bare list is the form of older versions.
            let parts = value.as_array().or_else(|| value.get("content")?.as_array())?;
            let output = parts.iter().filter(|part| is_for_agent(part)).filter_map(part).collect();
            (output, value.get("isError").and_then(Value::as_bool).unwrap_or_default())
        }
        "error" => (vec![Content::Text(result.get("error")?.as_str()?.to_owned())], true),
        _ => return None,
    };
    Some(Content::Result(CallResult { is_error, ..CallResult::new(call, "", output) }))
}

/// A part of a result. Only texts and images are sent.
fn part(value: &Value) -> Option<Content> {
    match text(value, "type") {
        "text" => Some(Content::Text(text(value, "text").to_owned())),
        "image" => image(value),
        "resource" => Some(Content::Text(text(value.get("resource")?, "text").to_owned())),
        _ => None,
    }
}

/// Adds the tool name of its call to each result.
pub(super) fn name_results(messages: &mut [Message], off_branch: &mut [Message]) {
    let all = || messages.iter().chain(off_branch.iter()).flat_map(Message::calls);
    let names: BTreeMap<String, String> = all().map(|call| (call.id.clone(), call.name.clone())).collect();
    for block in messages.iter_mut().chain(off_branch).flat_map(|message| &mut message.blocks) {
        if let Content::Result(result) = &mut block.content
            && let Some(name) = names.get(&result.call)
        {
            result.name.clone_from(name);
        }
    }
}
