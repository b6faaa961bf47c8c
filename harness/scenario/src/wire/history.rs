//! Reads a request body as a history.

use std::borrow::Cow;

use super::of;
use crate::history::{Content, History, Item, Role};
use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::{Json, JsonType};

/// Reads the conversation from a request body. Any value gives a history; parts that are not understood are
/// kept raw.
pub fn history(dialect: Dialect, body: Json) -> History {
    (of(dialect).history)(body)
}

/// The names of the tools that a request offers to the model.
pub fn offered_tools(dialect: Dialect, body: Json) -> Vec<String> {
    let wire = of(dialect);
    wire.tools(body).items().flat_map(wire.tool_names).collect()
}

/// Reads the conversation in a dialect with lists of blocks in its messages: calls are blocks of the
/// assistant, and results are blocks of the user. `block` reads one block.
pub(crate) fn of_messages(body: Json, block: fn(Json) -> Content) -> History {
    let mut items = Vec::new();
    for (message, value) in body.field("messages").items().enumerate() {
        let role = role_of(value);
        let push = |pointer, content| items.push(Item { pointer, message, role, content });
        pieces(&format!("/messages/{message}/content"), value.field("content"), block, push);
    }
    History { items }
}

/// The role of a message, as named in most dialects.
pub(crate) fn role_of(message: Json) -> Role {
    match message.field("role").as_str().as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        _ => Role::Other,
    }
}

/// Forwards the pieces of message content, which is a string or a list of blocks, each with its location.
/// `pointer` leads to the content, and `block` reads one block.
pub(crate) fn pieces(
    pointer: &str,
    content: Json,
    block: fn(Json) -> Content,
    mut piece: impl FnMut(String, Content),
) {
    match content.kind() {
        JsonType::Null => {}
        JsonType::String => piece(pointer.to_owned(), Content::Text { text: string(content) }),
        JsonType::Array => {
            for (b, value) in content.items().enumerate() {
                piece(format!("{pointer}/{b}"), block(value));
            }
        }
        _ => piece(pointer.to_owned(), Content::Raw { value: content.to_value() }),
    }
}

/// The text of a content: a string, a list of text blocks, or anything else as JSON.
pub(crate) fn text_of(content: Json) -> String {
    let is_text = |block: Json| block.field("type").is("text");
    match content.kind() {
        JsonType::Null => String::new(),
        JsonType::String => string(content),
        JsonType::Array if content.items().all(is_text) => {
            content.items().map(|block| string(block.field("text"))).collect()
        }
        _ => content.to_value().to_string(),
    }
}

/// The text of a string; empty for any other value.
pub(crate) fn string(value: Json) -> String {
    owned_text(value).unwrap_or_default()
}

/// The text of a string; `None` for any other value.
pub(crate) fn owned_text(value: Json) -> Option<String> {
    value.as_str().map(Cow::into_owned)
}
