//! Bedrock Converse: the blocks of the messages in a request.

use crate::history::{Content, History};
use crate::wire::history::{of_messages, string};
use brickbat_rules::json::Json;

/// The conversation in a request. A `cachePoint` tells the service what to cache, like `cache_control` in a
/// block of `anthropic-messages`. It is not part of the conversation, and clients move it from request to
/// request.
pub(super) fn conversation(body: Json) -> History {
    let mut history = of_messages(body, content_of);
    history.items.retain(|item| !is_cache_point(&item.content));
    history
}

fn is_cache_point(content: &Content) -> bool {
    matches!(content, Content::Raw { value } if value.get("cachePoint").is_some())
}

/// A block has one field. Its name is the kind of the block.
fn content_of(block: Json) -> Content {
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

/// The text of a result; other content is written as JSON.
fn text_of(content: Json) -> String {
    if content.items().all(|block| block.field("text").is_str()) {
        content.items().map(|block| string(block.field("text"))).collect()
    } else {
        content.to_value().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_rules::json::Document;

    #[test]
    fn a_cache_point_is_not_part_of_the_conversation() {
        let body = r#"{"messages":[{"role":"user","content":[{"text":"Hello."},{"cachePoint":{"type":"default"}}]}]}"#;
        assert_eq!(
            conversation(Document::parse(body.as_bytes()).unwrap().root()).shape(|id| id.to_owned()),
            "u[text]"
        );
    }
}
