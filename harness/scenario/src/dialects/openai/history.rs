//! OpenAI Chat Completions: reads the conversation in a request.

use serde_json::Value;

use crate::history::{Content, History, Item, Role};
use crate::wire::history::{pieces, role_of, string, text_of};
use brickbat_rules::json::Json;

/// The conversation. Calls are in a field of the assistant's message, and each result is a message.
pub(super) fn history(body: Json) -> History {
    let mut items = Vec::new();
    for (message, value) in body.field("messages").items().enumerate() {
        let role = role_of(value);
        let pointer = format!("/messages/{message}");
        let mut push = |pointer, content| items.push(Item { pointer, message, role, content });
        if role == Role::Tool {
            let text = text_of(value.field("content"));
            push(pointer, Content::Result { id: string(value.field("tool_call_id")), text, is_error: None });
            continue;
        }
        pieces(&format!("{pointer}/content"), value.field("content"), content_of, &mut push);
        for (k, call) in value.field("tool_calls").items().enumerate() {
            push(format!("{pointer}/tool_calls/{k}"), call_of(call));
        }
    }
    History { items }
}

fn content_of(block: Json) -> Content {
    match block.field("type").as_str().as_deref() {
        Some("text") => Content::Text { text: string(block.field("text")) },
        _ => Content::Raw { value: block.to_value() },
    }
}

fn call_of(call: Json) -> Content {
    let function = call.field("function");
    let arguments = string(function.field("arguments"));
    let args = match serde_json::from_str::<Value>(&arguments) {
        Ok(args @ Value::Object(_)) => args,
        _ => Value::String(arguments),
    };
    Content::Call { id: string(call.field("id")), name: string(function.field("name")), args }
}
