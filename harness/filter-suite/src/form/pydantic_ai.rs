//! pydantic-ai's `ModelMessage` as `ModelMessagesTypeAdapter` reads it
//! (<https://ai.pydantic.dev/message-history/#storing-and-loading-messages-to-json>).

use brickbat_rules::Dialect;
use brickbat_rules::histories::{Block, Message, Role};
use serde_json::{Value, json};

use super::{arguments, no_place};
use crate::{Form, SuiteError};

const FORM: Form = Form::PydanticAi;

/// A fixed time, because there is no clock here.
const TIMESTAMP: &str = "2026-01-01T00:00:00Z";

/// A list of requests and responses.
pub(super) fn messages(messages: &[Message], dialect: Dialect) -> Result<Value, SuiteError> {
    let mut list: Vec<Value> = Vec::new();
    for message in messages {
        let parts = match message.role {
            Role::Assistant => {
                message.blocks.iter().map(|block| replied(block, dialect)).collect::<Result<Vec<_>, _>>()?
            }
            Role::System => message.blocks.iter().filter_map(instruction).collect(),
            Role::User => vec![prompt(&message.blocks)?],
            Role::Tool => message.blocks.iter().map(returned).collect::<Result<Vec<_>, _>>()?,
        };
        match message.role {
            Role::Assistant => list.push(json!({
                "kind": "response", "parts": parts, "timestamp": TIMESTAMP, "provider_name": dialect.codec().vendor,
            })),
            // The request that contains the instructions also contains the first text.
            _ => match list.last_mut() {
                Some(last) if last["kind"] == "request" => {
                    if let Some(before) = last["parts"].as_array_mut() {
                        before.extend(parts);
                    }
                }
                _ => list.push(json!({ "kind": "request", "parts": parts })),
            },
        }
    }
    Ok(Value::Array(list))
}

fn instruction(block: &Block) -> Option<Value> {
    match block {
        Block::Text(text) => {
            Some(json!({ "part_kind": "system-prompt", "content": text, "timestamp": TIMESTAMP }))
        }
        _ => None,
    }
}

fn prompt(blocks: &[Block]) -> Result<Value, SuiteError> {
    let said = |block: &Block| match block {
        Block::Text(text) => Ok(json!(text)),
        Block::Image(image) => {
            Ok(json!({ "kind": "binary", "data": image.data, "media_type": image.media_type }))
        }
        _ => Err(no_place(FORM, "such a block of the user")),
    };
    let content = match blocks {
        [Block::Text(text)] => json!(text),
        blocks => Value::Array(blocks.iter().map(said).collect::<Result<_, _>>()?),
    };
    Ok(json!({ "part_kind": "user-prompt", "content": content, "timestamp": TIMESTAMP }))
}

fn replied(block: &Block, dialect: Dialect) -> Result<Value, SuiteError> {
    Ok(match block {
        Block::Text(text) => json!({ "part_kind": "text", "content": text }),
        Block::Thinking(thinking) => json!({
            "part_kind": "thinking", "content": thinking.text, "id": thinking.id, "signature": thinking.signature,
            "provider_name": dialect.codec().vendor,
        }),
        Block::Call(call) => {
            let mut part = json!({
                "part_kind": "tool-call", "tool_name": call.name, "args": arguments(&call.arguments, FORM)?,
                "tool_call_id": call.id,
            });
            if let Some(item) = &call.item {
                part["id"] = json!(item);
            }
            if let Some(signature) = &call.signature {
                part["provider_details"] = json!({ "thought_signature": signature });
            }
            if call.item.is_some() || call.signature.is_some() {
                part["provider_name"] = json!(dialect.codec().vendor);
            }
            part
        }
        _ => return Err(no_place(FORM, "such a block of the model")),
    })
}

fn returned(block: &Block) -> Result<Value, SuiteError> {
    let Block::Result(result) = block else { return Err(no_place(FORM, "such a block of a tool")) };
    if !result.output.iter().all(|block| matches!(block, Block::Text(_))) {
        return Err(no_place(FORM, "picture in a result"));
    }
    Ok(json!({
        "part_kind": "tool-return", "tool_name": result.name, "content": result.text(),
        "tool_call_id": result.call, "timestamp": TIMESTAMP,
    }))
}
