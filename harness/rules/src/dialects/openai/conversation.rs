//! OpenAI Chat Completions: the conversation in a request. Mistral writes and reads the same.

use serde_json::{Map, Value, json};

use crate::histories::read::{Reader, json_text, spoken};
use crate::histories::render::{Source, Writer, data_url, text_of, tool_names};
use crate::histories::{
    ALPHANUMERICS, Block, Call, CallResult, Codec, IdForm, KEPT_ELSEWHERE, Message, Placement, Role, Signs,
    is_short_id,
};
use crate::json::Json;

pub(crate) const CODEC: Codec = Codec {
    write,
    read,
    result: result_of,
    placement: Placement::Apart,
    prompt: |words| json!({ "role": "user", "content": words }),
    call_id: IdForm { prefix: "call_", alphabet: ALPHANUMERICS, n_letters: 24 },
    takes_id: is_short_id,
    models: &["gpt-5.2", "gpt-4.1"],
    model: "gpt-5.2",
    vendor: "openai",
    signs: Signs::Nothing,
    instructions_at: &[],
    alternates: false,
    may_lack_role: false,
    has_pictures_in_results: false,
    kept_at: KEPT_ELSEWHERE,
};

fn write(writer: &mut Writer, around: &mut Map<String, Value>, messages: &[Message]) {
    let spec = |name: &str| json!({ "type": "function", "function": { "name": name, "parameters": { "type": "object" } } });
    let tools: Vec<Value> = tool_names(messages).into_iter().map(spec).collect();
    if !tools.is_empty() {
        around.insert("tools".to_owned(), Value::Array(tools));
    }
    for (n_message, message) in messages.iter().enumerate() {
        let mut others = Vec::new();
        for (n_block, block) in message.blocks.iter().enumerate() {
            let source = Source { message: n_message, block: n_block };
            let Block::Result(result) = block else {
                others.push((source, block));
                continue;
            };
            writer.note(writer.next(), source);
            writer.push(result_of(result));
        }
        let has_results = others.len() < message.blocks.len();
        match message.role {
            _ if others.is_empty() && has_results => {}
            Role::Assistant => assistant(writer, &others),
            Role::System => said(writer, "system", &others),
            Role::User | Role::Tool => said(writer, "user", &others),
        }
    }
}

fn result_of(result: &CallResult) -> Value {
    json!({ "role": "tool", "tool_call_id": result.call, "content": text_of(result) })
}

fn said(writer: &mut Writer, role: &str, blocks: &[(Source, &Block)]) {
    let at = writer.next();
    let content = match blocks {
        [(source, Block::Text(text))] => {
            writer.note(format!("{at}/content"), *source);
            json!(text)
        }
        blocks => {
            let mut parts = Vec::new();
            for (source, block) in blocks {
                if let Some(part) = part(writer, block) {
                    writer.note(format!("{at}/content/{}", parts.len()), *source);
                    parts.push(part);
                }
            }
            Value::Array(parts)
        }
    };
    // A message that holds nothing which the dialect has is left out; one that is empty stays.
    if blocks.is_empty() || content.as_array().is_none_or(|parts| !parts.is_empty()) {
        writer.push(json!({ "role": role, "content": content }));
    }
}

fn assistant(writer: &mut Writer, blocks: &[(Source, &Block)]) {
    let at = writer.next();
    let mut text = String::new();
    let mut calls = Vec::new();
    let mut is_null = false;
    for (source, block) in blocks {
        match block {
            Block::Native { dialect, value: Value::Null } if *dialect == writer.dialect => {
                writer.note(format!("{at}/content"), *source);
                is_null = true;
            }
            Block::Text(words) => {
                writer.note(format!("{at}/content"), *source);
                text.push_str(words);
            }
            Block::Call(call) => {
                writer.note(format!("{at}/tool_calls/{}", calls.len()), *source);
                let function = json!({ "name": call.name, "arguments": call.arguments });
                calls.push(json!({ "id": call.id, "type": "function", "function": function }));
            }
            _ => {}
        }
    }
    let content = match text.is_empty() && (is_null || !calls.is_empty()) {
        true => Value::Null,
        false => json!(text),
    };
    let mut entry = json!({ "role": "assistant", "content": content });
    if !calls.is_empty() {
        entry["tool_calls"] = Value::Array(calls);
    }
    writer.push(entry);
}

fn part(writer: &Writer, block: &Block) -> Option<Value> {
    match block {
        Block::Text(text) => Some(json!({ "type": "text", "text": text })),
        Block::Image(image) => Some(json!({ "type": "image_url", "image_url": { "url": data_url(image) } })),
        Block::Native { dialect, value } if *dialect == writer.dialect => Some(value.clone()),
        _ => None,
    }
}

/// Reads a message. Messages of OpenAI Responses are read in the same way.
fn read(reader: &mut Reader<'_>, entry: Json<'_, '_>) -> Role {
    let word = |value: Json<'_, '_>, key: &str| value.field(key).as_str().unwrap_or_default().into_owned();
    let role = word(entry, "role");
    if role == "tool" {
        reader.push_entry(Block::Result(CallResult {
            call: word(entry, "tool_call_id"),
            name: word(entry, "name"),
            output: vec![spoken(entry.get("content").map(Json::to_value).as_ref())],
            ..CallResult::default()
        }));
        return Role::Tool;
    }
    let content = entry.field("content");
    if let Some(text) = content.as_str() {
        reader.push(format_args!("/content"), Block::Text(text.into_owned()));
    }
    for (n, part) in content.items().enumerate() {
        let block = match part.field("text").as_str() {
            Some(text) => Block::Text(text.into_owned()),
            None => reader.native(part.to_value()),
        };
        reader.push(format_args!("/content/{n}"), block);
    }
    for (n, call) in entry.field("tool_calls").items().enumerate() {
        let function = call.field("function");
        let call = Call {
            id: word(call, "id"),
            name: word(function, "name"),
            arguments: json_text(function.get("arguments").map(Json::to_value).as_ref()),
            ..Call::default()
        };
        reader.push(format_args!("/tool_calls/{n}"), Block::Call(call));
    }
    match role.as_str() {
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        _ => Role::User,
    }
}
