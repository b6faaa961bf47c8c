//! Bedrock Converse: the blocks of the messages in a request.

use crate::history::Content;
use crate::wire::history::string;
use brickbat_rules::json::Json;

/// A block has one field, which says what it is.
pub(super) fn content_of(block: Json) -> Content {
    let (text, call, result) = (block.field("text"), block.field("toolUse"), block.field("toolResult"));
    if text.is_str() {
        Content::Text { text: string(text) }
    } else if call.is_object() {
        Content::Call {
            id: string(call.field("toolUseId")),
            name: string(call.field("name")),
            args: call.field("input").to_value(),
        }
    } else if result.is_object() {
        Content::Result {
            id: string(result.field("toolUseId")),
            text: text_of(result.field("content")),
            is_error: Some(result.field("status").is("error")),
        }
    } else if block.get("reasoningContent").is_some() {
        Content::Thought { value: block.to_value() }
    } else {
        Content::Raw { value: block.to_value() }
    }
}

/// The texts of a result; other content is written as JSON.
fn text_of(content: Json) -> String {
    if content.items().all(|block| block.field("text").is_str()) {
        content.items().map(|block| string(block.field("text"))).collect()
    } else {
        content.to_value().to_string()
    }
}
