//! OpenAI Responses: the conversation in a request, a flat list of items.

use serde_json::{Map, Value, json};

use crate::Dialect;
use crate::dialects::openai;
use crate::histories::read::{Reader, json_text, owned, spoken, text};
use crate::histories::render::{Source, Writer, data_url, instructions, text_of, tool_names};
use crate::histories::{Block, Call, CallResult, Codec, Message, Role, Signs, Thinking};
use crate::json::Json;

pub(crate) const CODEC: Codec = Codec {
    write,
    read,
    result: result_of,
    signs: Signs::Items,
    instructions_at: &["instructions"],
    has_pictures_in_results: true,
    kept_at: &["previous_response_id", "conversation", "prompt"],
    ..openai::CODEC
};

fn write(writer: &mut Writer, around: &mut Map<String, Value>, messages: &[Message]) {
    if let Some(system) = instructions(messages) {
        around.insert("instructions".to_owned(), json!(system));
    }
    let spec = |name: &str| json!({ "type": "function", "name": name, "parameters": { "type": "object" } });
    let tools: Vec<Value> = tool_names(messages).into_iter().map(spec).collect();
    if !tools.is_empty() {
        around.insert("tools".to_owned(), Value::Array(tools));
    }
    // A client that asks for encrypted reasoning keeps the conversation itself.
    if keeps_reasoning(messages) {
        around.insert("store".to_owned(), json!(false));
    }
    for (n_message, message) in messages.iter().enumerate() {
        if message.role == Role::System {
            continue;
        }
        let mut said = Vec::new();
        for (n_block, block) in message.blocks.iter().enumerate() {
            let source = Source { message: n_message, block: n_block };
            if matches!(block, Block::Text(_) | Block::Image(_)) {
                said.push((source, block));
                continue;
            }
            speak(writer, message.role, &mut said);
            if let Some(item) = item(block) {
                writer.note(writer.next(), source);
                writer.push(item);
            }
        }
        speak(writer, message.role, &mut said);
    }
}

/// Returns whether all reasoning is present in encrypted form.
fn keeps_reasoning(messages: &[Message]) -> bool {
    let mut is_encrypted =
        messages.iter().flat_map(|message| &message.blocks).filter_map(|block| match block {
            Block::Thinking(thinking) if thinking.id.is_some() => Some(thinking.signature.is_some()),
            _ => None,
        });
    is_encrypted.next().is_some_and(|first| first && is_encrypted.all(|it| it))
}

/// Writes the text so far as a message.
fn speak(writer: &mut Writer, role: Role, said: &mut Vec<(Source, &Block)>) {
    if said.is_empty() {
        return;
    }
    let at = writer.next();
    let (name, kind) = match role {
        Role::Assistant => ("assistant", "output_text"),
        _ => ("user", "input_text"),
    };
    let mut content = Vec::new();
    for (source, block) in said.drain(..) {
        writer.note(format!("{at}/content/{}", content.len()), source);
        content.push(match block {
            Block::Image(image) => json!({ "type": "input_image", "image_url": data_url(image) }),
            Block::Text(text) => json!({ "type": kind, "text": text }),
            _ => continue,
        });
    }
    writer.push(json!({ "type": "message", "role": name, "content": content }));
}

fn item(block: &Block) -> Option<Value> {
    match block {
        Block::Thinking(thinking) => {
            let id = thinking.id.as_ref()?;
            let mut item = json!({ "type": "reasoning", "id": id, "summary": [] });
            if !thinking.text.is_empty() {
                item["summary"] = json!([{ "type": "summary_text", "text": thinking.text }]);
            }
            if let Some(encrypted) = &thinking.signature {
                item["encrypted_content"] = json!(encrypted);
            }
            Some(item)
        }
        Block::Call(call) => {
            let mut item = json!({
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": call.arguments,
            });
            if let Some(id) = &call.item {
                item["id"] = json!(id);
            }
            Some(item)
        }
        Block::Result(result) => Some(result_of(result)),
        Block::Native { dialect: Dialect::OpenaiResponses, value } => Some(value.clone()),
        Block::Text(_) | Block::Image(_) | Block::Native { .. } => None,
    }
}

fn result_of(result: &CallResult) -> Value {
    let mut item =
        json!({ "type": "function_call_output", "call_id": result.call, "output": output_of(result) });
    if let Some(id) = &result.item {
        item["id"] = json!(id);
    }
    item
}

/// A text, or parts where the tool has shown an image.
fn output_of(result: &CallResult) -> Value {
    if !result.output.iter().any(|block| matches!(block, Block::Image(_))) {
        return json!(text_of(result));
    }
    let parts = result.output.iter().filter_map(|block| match block {
        Block::Text(text) => Some(json!({ "type": "input_text", "text": text })),
        Block::Image(image) => Some(json!({ "type": "input_image", "image_url": data_url(image) })),
        _ => None,
    });
    parts.collect()
}

/// Reads an item.
fn read(reader: &mut Reader<'_>, entry: Json<'_, '_>) -> Role {
    let value = entry.to_value();
    let id = || owned(&value, "id");
    match text(&value, "type").as_str() {
        "function_call" | "custom_tool_call" => {
            reader.push_entry(Block::Call(Call {
                id: text(&value, "call_id"),
                name: text(&value, "name"),
                arguments: json_text(value.get("arguments").or_else(|| value.get("input"))),
                signature: None,
                item: id(),
            }));
            Role::Assistant
        }
        "function_call_output" | "custom_tool_call_output" => {
            reader.push_entry(Block::Result(CallResult {
                call: text(&value, "call_id"),
                output: vec![spoken(value.get("output"))],
                item: id(),
                ..CallResult::default()
            }));
            Role::Tool
        }
        "reasoning" => {
            let (text, signature) = (String::new(), owned(&value, "encrypted_content"));
            reader.push_entry(Block::Thinking(Thinking { text, signature, id: id() }));
            Role::Assistant
        }
        "" | "message" => {
            reader.id = id().filter(|id| !id.is_empty());
            (openai::CODEC.read)(reader, entry)
        }
        _ => {
            let native = reader.native(value);
            reader.push_entry(native);
            Role::Assistant
        }
    }
}
