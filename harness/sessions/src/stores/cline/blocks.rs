//! Converts an Anthropic message list.

use brickbat_rules::Dialect;
use brickbat_rules::histories::{self, Call, CallResult, Image, Role, Thinking};
use serde_json::{Value, json};

use crate::json::text;
use crate::stores::ReadError;
use crate::stores::records::Record;
use crate::{Block, Ending, FormError, Message, Product};

pub(super) fn message(record: &Record) -> Result<Message, ReadError> {
    let at = |pointer: String, content| Block { place: record.place(&pointer), content, state: None };
    let blocks: Vec<Block> = match &record.value["content"] {
        Value::String(words) => vec![at("/content".to_owned(), histories::Block::Text(words.clone()))],
        Value::Array(blocks) => {
            blocks.iter().enumerate().map(|(n, value)| at(format!("/content/{n}"), block(value))).collect()
        }
        _ => return Err(FormError::Shape("a content that is neither text nor blocks").of(Product::Cline)),
    };
    let has_result = blocks.iter().any(|block| matches!(block.content, histories::Block::Result(_)));
    let role = match (record.text("role"), has_result) {
        ("assistant", _) => Role::Assistant,
        ("user", true) => Role::Tool,
        ("user", false) => Role::User,
        _ => return Err(FormError::Shape("a message with an unknown role").of(Product::Cline)),
    };
    let id = record.value.get("id").and_then(Value::as_str).map(str::to_owned);
    Ok(Message { role, blocks, id, place: record.place(""), ending: Ending::Whole })
}

fn block(value: &Value) -> histories::Block {
    let own = |key: &str| text(value, key).to_owned();
    match text(value, "type") {
        "text" => histories::Block::Text(own("text")),
        "thinking" => {
            let signature = value.get("signature").and_then(Value::as_str).map(str::to_owned);
            histories::Block::Thinking(Thinking { text: own("thinking"), signature, id: None })
        }
        "tool_use" => histories::Block::Call(Call::new(
            own("id"),
            own("name"),
            value.get("input").map_or_else(|| "{}".to_owned(), Value::to_string),
        )),
        "tool_result" => {
            let output = match &value["content"] {
                Value::String(words) => vec![histories::Block::Text(words.clone())],
                Value::Array(blocks) => blocks.iter().map(block).collect(),
                _ => Vec::new(),
            };
            let is_error = value["is_error"] == json!(true);
            let result = CallResult::new(own("tool_use_id"), own("name"), output);
            histories::Block::Result(CallResult { is_error, ..result })
        }
        "image" => image(value),
        // A file in the newer form is sent as its text.
        "file" if value.get("content").is_some_and(Value::is_string) => {
            histories::Block::Text(own("content"))
        }
        _ => histories::Block::Native { dialect: Dialect::AnthropicMessages, value: value.clone() },
    }
}

/// An image: Anthropic's form, or with its fields in the block as in the newer form.
fn image(value: &Value) -> histories::Block {
    let source = value.get("source").unwrap_or(value);
    let media_type = match text(source, "media_type") {
        "" => text(source, "mediaType"),
        media_type => media_type,
    };
    match source.get("data").and_then(Value::as_str) {
        Some(data) => {
            histories::Block::Image(Image { media_type: media_type.to_owned(), data: data.to_owned() })
        }
        None => histories::Block::Native { dialect: Dialect::AnthropicMessages, value: value.clone() },
    }
}
