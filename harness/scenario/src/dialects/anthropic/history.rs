//! Anthropic Messages: the conversation in a request.

use crate::history::{Content, History, Item};
use crate::wire::history::{pieces, role_of, string, text_of};
use brickbat_rules::json::Json;

/// The conversation. Calls are blocks of the assistant, results are blocks of the user.
pub(super) fn history(body: Json) -> History {
    let mut items = Vec::new();
    for (message, value) in body.field("messages").items().enumerate() {
        let role = role_of(value);
        let push = |pointer, content| items.push(Item { pointer, message, role, content });
        pieces(&format!("/messages/{message}/content"), value.field("content"), content_of, push);
    }
    History { items }
}

fn content_of(block: Json) -> Content {
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
