//! Anthropic Messages: the blocks of the messages in a request.

use crate::history::Content;
use crate::wire::history::{string, text_of};
use brickbat_rules::json::Json;

pub(super) fn content_of(block: Json) -> Content {
    match block.field("type").as_str().as_deref() {
        Some("text") => Content::Text { text: string(block.field("text")) },
        Some("tool_use") => Content::Call {
            id: string(block.field("id")),
            name: string(block.field("name")),
            args: block.field("input").to_value(),
        },
        Some("tool_result") => Content::Result {
            id: string(block.field("tool_use_id")),
            text: text_of(block.field("content")),
            is_error: Some(block.field("is_error").as_bool() == Some(true)),
        },
        Some("thinking" | "redacted_thinking") => Content::Thought { value: block.to_value() },
        _ => Content::Raw { value: block.to_value() },
    }
}
