//! Signs of a dialect in a single message.

use super::{ANTHROPIC, BEDROCK, CHAT, GEMINI, RESPONSES};
use crate::json::Json;

/// The dialect that a message indicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// Several dialects write such messages.
    Nothing,
    /// Only this dialect writes such messages.
    Of(&'static str),
    /// No provider accepts such messages.
    Foreign,
}

pub(super) fn sign(message: Json) -> Sign {
    if message.get("parts").is_some() {
        return of_content(message);
    }
    if is_foreign(message) {
        return Sign::Foreign;
    }
    if is_item(message) {
        return Sign::Of(RESPONSES);
    }
    if is_of_chat(message) {
        return Sign::Of(CHAT);
    }
    message
        .field("content")
        .items()
        .map(of_block)
        .find(|sign| *sign != Sign::Nothing)
        .unwrap_or(Sign::Nothing)
}

/// Fields of AG-UI, the AI SDK and OpenCode for data that providers store elsewhere.
const FOREIGN_FIELDS: [&str; 4] = ["toolCalls", "toolCallId", "toolInvocations", "info"];

/// Returns whether no provider has such a message. All providers write roles and types in lower case with
/// `_`.
fn is_foreign(message: Json) -> bool {
    let is_odd = |field: &str| message.field(field).as_str().is_some_and(|name| !is_snake_case(&name));
    // LangChain stores calls like this.
    let has_args = |call: Json| call.get("args").is_some() && call.get("function").is_none();
    FOREIGN_FIELDS.iter().any(|field| message.get(field).is_some())
        || is_odd("role")
        || is_odd("type")
        || message.field("tool_calls").items().any(has_args)
}

fn is_snake_case(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The fields in Gemini parts. Clients write them in two spellings:
/// <https://ai.google.dev/api/caching#Part>.
const PART_FIELDS: [&str; 26] = [
    "text",
    "thought",
    "thoughtSignature",
    "thought_signature",
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
    "functionCall",
    "function_call",
    "functionResponse",
    "function_response",
    "executableCode",
    "executable_code",
    "codeExecutionResult",
    "code_execution_result",
    "toolCall",
    "tool_call",
    "toolResponse",
    "tool_response",
    "videoMetadata",
    "video_metadata",
    "mediaResolution",
    "media_resolution",
    "partMetadata",
    "part_metadata",
];

/// Classifies a message with `parts`. Frameworks use parts too, but each part has a `type` or a `kind`,
/// and the message has more fields.
fn of_content(content: Json) -> Sign {
    let is_known = |(name, _): (Json, Json)| PART_FIELDS.iter().any(|known| name.is(known));
    let parts = content.field("parts");
    let is_ours = content.fields().all(|(name, _)| name.is("role") || name.is("parts"))
        && parts.items().all(|part| part.fields().all(is_known));
    let has_role = ["user", "model", "function"].iter().any(|role| content.field("role").is(role));
    let has_parts = !parts.is_empty() && parts.items().all(|part| !part.is_empty());
    match is_ours {
        true if has_role && has_parts => Sign::Of(GEMINI),
        true => Sign::Nothing,
        false => Sign::Foreign,
    }
}

/// Returns whether a content has no role. Requests may omit it.
pub(super) fn is_content_without_role(content: Json) -> bool {
    content.len() == 1 && content.field("parts").item(0).is_object() && of_content(content) == Sign::Nothing
}

/// Returns whether this is an item of the Responses API other than a message: one that names its call, or
/// that only this API has.
fn is_item(item: Json) -> bool {
    let Some(name) = item.field("type").as_str() else { return false };
    match name.as_ref() {
        "function_call"
        | "function_call_output"
        | "custom_tool_call"
        | "custom_tool_call_output"
        | "computer_call"
        | "computer_call_output"
        | "local_shell_call"
        | "shell_call"
        | "shell_call_output"
        | "apply_patch_call"
        | "apply_patch_call_output" => item.field("call_id").is_str(),
        "reasoning" => item.field("summary").is_array(),
        "local_shell_call_output"
        | "item_reference"
        | "web_search_call"
        | "file_search_call"
        | "image_generation_call"
        | "code_interpreter_call"
        | "tool_search_call"
        | "tool_search_output"
        | "mcp_list_tools"
        | "mcp_call"
        | "mcp_approval_request"
        | "mcp_approval_response" => true,
        _ => false,
    }
}

fn is_of_chat(message: Json) -> bool {
    let Some(role) = message.field("role").as_str() else { return false };
    let is_call = |call: Json| {
        let has_place = call.field("id").is_str() || call.field("type").is_str();
        (call.field("function").is_object() || call.field("custom").is_object()) && has_place
    };
    match role.as_ref() {
        "tool" => message.field("tool_call_id").is_str(),
        "function" => message.field("name").is_str() && message.get("content").is_some(),
        "assistant" => {
            message.field("tool_calls").items().any(is_call)
                || message.field("function_call").field("name").is_str()
                || message.field("refusal").is_str()
        }
        _ => false,
    }
}

/// Classifies one content block.
fn of_block(block: Json) -> Sign {
    let Some(name) = block.field("type").as_str() else { return of_untyped(block) };
    let (text, object) =
        (|field: &str| block.field(field).is_str(), |field: &str| block.field(field).is_object());
    let is_told = |is_it: bool, dialect| if is_it { Sign::Of(dialect) } else { Sign::Nothing };
    match name.as_ref() {
        "tool_use" | "server_tool_use" | "mcp_tool_use" => is_told(text("id"), ANTHROPIC),
        "thinking" => is_told(text("thinking"), ANTHROPIC),
        "redacted_thinking" => is_told(text("data"), ANTHROPIC),
        "image" | "document" => is_told(object("source"), ANTHROPIC),
        "input_text" | "output_text" | "input_image" | "input_file" => Sign::Of(RESPONSES),
        "image_url" | "input_audio" | "file" | "refusal" => is_told(block.get(&name).is_some(), CHAT),
        "tool_result" => is_told(text("tool_use_id"), ANTHROPIC),
        name if name.ends_with("_tool_result") => is_told(text("tool_use_id"), ANTHROPIC),
        name if !is_snake_case(name) => Sign::Foreign,
        _ => Sign::Nothing,
    }
}

/// Classifies a block without `type`. In Bedrock, the block's only field names its type. A few
/// frameworks write texts and images in the same way, so those two indicate nothing.
fn of_untyped(block: Json) -> Sign {
    let has_id = |field: &str| block.field(field).field("toolUseId").is_str();
    let has_source = |field: &str| block.field(field).field("source").is_object();
    let is_told = ["toolUse", "toolResult"].into_iter().any(has_id)
        || ["image", "document", "video"].into_iter().any(has_source)
        || ["reasoningContent", "cachePoint", "guardContent", "citationsContent"]
            .into_iter()
            .any(|field| block.field(field).is_object());
    if is_told { Sign::Of(BEDROCK) } else { Sign::Nothing }
}

/// Returns whether a message from the user or the assistant has only texts without a type.
pub(super) fn has_untyped_texts(message: Json) -> bool {
    let is_text = |block: Json| block.len() == 1 && block.field("text").is_str();
    let content = message.field("content");
    let is_spoken = message.field("role").is("user") || message.field("role").is("assistant");
    is_spoken && !content.is_empty() && content.is_array() && content.items().all(is_text)
}
