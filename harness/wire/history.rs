//! From a request body to a history.

use serde_json::Value;

use crate::dialect::Dialect;
use crate::history::{Content, History, Item, Role};
use crate::json::Json;

/// Reads the conversation out of a request body. Any value has an answer; what is not understood is carried raw.
pub fn history(dialect: Dialect, body: &Json) -> History {
    let mut items = Vec::new();
    for (message, value) in body["messages"].as_array().unwrap_or_default().iter().enumerate() {
        let role = match value["role"].as_str() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("tool") => Role::Tool,
            _ => Role::Other,
        };
        let pointer = format!("/messages/{message}");
        let mut push = |pointer: String, content| items.push(Item { pointer, message, role, content });
        if dialect == Dialect::OpenaiChat && role == Role::Tool {
            let text = text_of(&value["content"]);
            push(pointer, Content::Result { id: string(&value["tool_call_id"]), text, is_error: None });
            continue;
        }
        match &value["content"] {
            Json::Null => {}
            Json::String(text) => {
                push(format!("{pointer}/content"), Content::Text { text: text.to_string() })
            }
            Json::Array(blocks) => {
                for (b, block) in blocks.iter().enumerate() {
                    push(format!("{pointer}/content/{b}"), content_of(block));
                }
            }
            other => push(format!("{pointer}/content"), Content::Raw { value: other.to_value() }),
        }
        for (k, call) in value["tool_calls"].as_array().unwrap_or_default().iter().enumerate() {
            let function = &call["function"];
            let arguments = string(&function["arguments"]);
            let args = match serde_json::from_str::<Value>(&arguments) {
                Ok(args @ Value::Object(_)) => args,
                _ => Value::String(arguments),
            };
            let content = Content::Call { id: string(&call["id"]), name: string(&function["name"]), args };
            push(format!("{pointer}/tool_calls/{k}"), content);
        }
    }
    History { items }
}

/// The names of the tools that a request offers to the model.
pub fn offered_tools(dialect: Dialect, body: &Json) -> Vec<String> {
    let tools = body["tools"].as_array().unwrap_or_default().iter();
    let name = |tool: &Json| match dialect {
        Dialect::AnthropicMessages => tool["name"].as_str().map(str::to_owned),
        Dialect::OpenaiChat => tool["function"]["name"].as_str().map(str::to_owned),
    };
    tools.filter_map(name).collect()
}

fn content_of(block: &Json) -> Content {
    match block["type"].as_str() {
        Some("text") => Content::Text { text: string(&block["text"]) },
        Some("tool_use") => Content::Call {
            id: string(&block["id"]),
            name: string(&block["name"]),
            args: block["input"].to_value(),
        },
        Some("tool_result") => Content::Result {
            id: string(&block["tool_use_id"]),
            text: text_of(&block["content"]),
            is_error: Some(block["is_error"].as_bool() == Some(true)),
        },
        _ => Content::Raw { value: block.to_value() },
    }
}

/// Text of a content that is a string, a list of text blocks, or anything else as JSON.
fn text_of(content: &Json) -> String {
    match content {
        Json::Null => String::new(),
        Json::String(text) => text.to_string(),
        Json::Array(blocks) if blocks.iter().all(|block| block["type"].as_str() == Some("text")) => {
            blocks.iter().map(|block| string(&block["text"])).collect()
        }
        other => other.to_value().to_string(),
    }
}

fn string(value: &Json) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
