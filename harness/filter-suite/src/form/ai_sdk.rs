//! The AI SDK's `ModelMessage` and `UIMessage`, as its reference describes them
//! (<https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message>, <https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message>).

use std::collections::BTreeMap;

use brickbat_rules::Dialect;
use brickbat_rules::histories::{Block, CallResult, Message, Role, Signs, Thinking};
use serde_json::{Map, Value, json};

use super::{arguments, no_place};
use crate::{Form, SuiteError};

/// A list of `ModelMessage`.
pub(super) fn model_messages(messages: &[Message], dialect: Dialect) -> Result<Value, SuiteError> {
    const FORM: Form = Form::AiSdkModel;
    let mut list = Vec::new();
    for message in messages {
        let part = |block: &Block| -> Result<Value, SuiteError> {
            Ok(match block {
                Block::Text(text) => json!({ "type": "text", "text": text }),
                Block::Image(image) => {
                    json!({ "type": "image", "image": image.data, "mediaType": image.media_type })
                }
                Block::Thinking(thinking) => with(
                    json!({ "type": "reasoning", "text": thinking.text }),
                    "providerOptions",
                    signed(thinking, dialect),
                ),
                Block::Call(call) => {
                    let input = arguments(&call.arguments, FORM)?;
                    let part = json!({ "type": "tool-call", "toolCallId": call.id, "toolName": call.name, "input": input });
                    with(
                        part,
                        "providerOptions",
                        thought(call.signature.as_deref(), call.item.as_deref(), dialect),
                    )
                }
                Block::Result(result) => json!({
                    "type": "tool-result", "toolCallId": result.call, "toolName": result.name, "output": output(result)?,
                }),
                Block::Native { .. } => return Err(no_place(FORM, "block of one dialect alone")),
            })
        };
        let parts = message.blocks.iter().map(part).collect::<Result<Vec<Value>, SuiteError>>()?;
        let (role, content) = match (message.role, message.blocks.as_slice()) {
            (Role::System, blocks) => ("system", json!(texts(blocks))),
            (Role::User, [Block::Text(text)]) => ("user", json!(text)),
            (Role::User, _) => ("user", json!(parts)),
            (Role::Assistant, _) => ("assistant", json!(parts)),
            (Role::Tool, _) => ("tool", json!(parts)),
        };
        list.push(json!({ "role": role, "content": content }));
    }
    Ok(Value::Array(list))
}

fn output(result: &CallResult) -> Result<Value, SuiteError> {
    let is_text = |block: &Block| matches!(block, Block::Text(_));
    if !result.output.iter().all(is_text) {
        return Err(no_place(Form::AiSdkModel, "picture in a result that all versions know"));
    }
    let kind = if result.is_error { "error-text" } else { "text" };
    Ok(json!({ "type": kind, "value": result.text() }))
}

/// A list of `UIMessage`: everything that the model and its tools did in a turn is one message.
pub(super) fn ui_messages(messages: &[Message], dialect: Dialect) -> Result<Value, SuiteError> {
    const FORM: Form = Form::AiSdkUi;
    let mut list: Vec<Value> = Vec::new();
    // The open message of the model: its parts, and the index of each call among them.
    let mut parts: Vec<Value> = Vec::new();
    let mut calls: BTreeMap<String, usize> = BTreeMap::new();
    for message in messages {
        if matches!(message.role, Role::User | Role::System) {
            close(&mut list, &mut parts);
            calls.clear();
            let role = if message.role == Role::User { "user" } else { "system" };
            let said = message.blocks.iter().map(spoken).collect::<Result<Vec<Value>, SuiteError>>()?;
            list.push(json!({ "id": format!("m{}", list.len()), "role": role, "parts": said }));
            continue;
        }
        if message.role == Role::Assistant {
            parts.push(json!({ "type": "step-start" }));
        }
        for block in &message.blocks {
            match block {
                Block::Text(text) => parts.push(json!({ "type": "text", "text": text, "state": "done" })),
                Block::Thinking(thinking) => {
                    let part = json!({ "type": "reasoning", "text": thinking.text, "state": "done" });
                    parts.push(with(part, "providerMetadata", signed(thinking, dialect)));
                }
                Block::Call(call) => {
                    calls.insert(call.id.clone(), parts.len());
                    let part = json!({
                        "type": "dynamic-tool", "toolName": call.name, "toolCallId": call.id,
                        "state": "input-available", "input": arguments(&call.arguments, FORM)?,
                    });
                    let thought = thought(call.signature.as_deref(), call.item.as_deref(), dialect);
                    parts.push(with(part, "callProviderMetadata", thought));
                }
                Block::Result(result) => {
                    let call = calls.get(&result.call).and_then(|at| parts.get_mut(*at));
                    let Some(part) = call else { return Err(no_place(FORM, "result apart from its call")) };
                    if !result.output.iter().all(|block| matches!(block, Block::Text(_))) {
                        return Err(no_place(FORM, "picture in a result"));
                    }
                    let (state, key) = match result.is_error {
                        true => ("output-error", "errorText"),
                        false => ("output-available", "output"),
                    };
                    part["state"] = json!(state);
                    part[key] = json!(result.text());
                }
                Block::Image(_) | Block::Native { .. } => {
                    return Err(no_place(FORM, "such a block of the model"));
                }
            }
        }
    }
    close(&mut list, &mut parts);
    Ok(Value::Array(list))
}

fn close(list: &mut Vec<Value>, parts: &mut Vec<Value>) {
    if !parts.is_empty() {
        let parts = std::mem::take(parts);
        list.push(json!({ "id": format!("m{}", list.len()), "role": "assistant", "parts": parts }));
    }
}

fn spoken(block: &Block) -> Result<Value, SuiteError> {
    match block {
        Block::Text(text) => Ok(json!({ "type": "text", "text": text })),
        Block::Image(image) => {
            let url = format!("data:{};base64,{}", image.media_type, image.data);
            Ok(json!({ "type": "file", "mediaType": image.media_type, "url": url }))
        }
        _ => Err(no_place(Form::AiSdkUi, "such a block of the user")),
    }
}

fn texts(blocks: &[Block]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// A provider's signature, in the field where its AI SDK package stores it.
fn signed(thinking: &Thinking, dialect: Dialect) -> Map<String, Value> {
    let signature = thinking.signature.as_deref();
    match dialect.codec().signs {
        Signs::Thoughts => kept(dialect, &[("signature", signature)]),
        Signs::Items => {
            kept(dialect, &[("itemId", thinking.id.as_deref()), ("reasoningEncryptedContent", signature)])
        }
        Signs::Calls => kept(dialect, &[("thoughtSignature", signature)]),
        Signs::Nothing => Map::new(),
    }
}

fn thought(signature: Option<&str>, item: Option<&str>, dialect: Dialect) -> Map<String, Value> {
    match dialect.codec().signs {
        Signs::Calls => kept(dialect, &[("thoughtSignature", signature)]),
        Signs::Items => kept(dialect, &[("itemId", item)]),
        Signs::Thoughts | Signs::Nothing => Map::new(),
    }
}

fn kept(dialect: Dialect, fields: &[(&str, Option<&str>)]) -> Map<String, Value> {
    let known = fields.iter().filter_map(|(key, value)| Some(((*key).to_owned(), json!((*value)?))));
    let known: Map<String, Value> = known.collect();
    let entry = (!known.is_empty()).then(|| (dialect.codec().vendor.to_owned(), Value::Object(known)));
    entry.into_iter().collect()
}

fn with(mut part: Value, key: &str, kept: Map<String, Value>) -> Value {
    if !kept.is_empty() {
        part[key] = Value::Object(kept);
    }
    part
}
