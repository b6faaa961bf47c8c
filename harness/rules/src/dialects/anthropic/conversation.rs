//! Anthropic Messages: the conversation in a request.

use serde_json::{Map, Value, json};

use crate::Dialect;
use crate::histories::read::{json_text, output, owned, text};
use crate::histories::render::{Writer, instructions, object, tool_names};
use crate::histories::{
    ALPHANUMERICS, Block, Call, CallResult, Codec, IdForm, Image, KEPT_ELSEWHERE, Message, Placement, Signs,
    Thinking, is_short_id,
};

pub(crate) const CODEC: Codec = Codec {
    write,
    read: |reader, entry| reader.message(entry, "content", block),
    result: |result| result_of(result, json!(result.text())),
    placement: Placement::InMessage { blocks: "content", with_words: true },
    prompt: |words| json!({ "role": "user", "content": words }),
    call_id: IdForm { prefix: "toolu_01", alphabet: ALPHANUMERICS, n_letters: 22 },
    takes_id: is_short_id,
    models: &["claude-sonnet-4-5", "claude-opus-4-8", "claude-3-7-sonnet-20250219"],
    model: "claude-sonnet-4-5",
    vendor: "anthropic",
    signs: Signs::Thoughts,
    instructions_at: &["system"],
    alternates: false,
    may_lack_role: false,
    has_pictures_in_results: true,
    kept_at: KEPT_ELSEWHERE,
};

fn write(writer: &mut Writer, around: &mut Map<String, Value>, messages: &[Message]) {
    around.insert("max_tokens".to_owned(), json!(1024));
    if let Some(system) = instructions(messages) {
        around.insert("system".to_owned(), json!(system));
    }
    let spec = |name: &str| json!({ "name": name, "input_schema": { "type": "object" } });
    let tools: Vec<Value> = tool_names(messages).into_iter().map(spec).collect();
    if !tools.is_empty() {
        around.insert("tools".to_owned(), Value::Array(tools));
    }
    writer.push_turns(messages, native);
}

fn native(block: &Block) -> Option<Value> {
    Some(match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        // Thinking of another provider has no signature, so it is not sent as thinking.
        Block::Thinking(thinking) => {
            let signature = thinking.signature.as_ref()?;
            json!({ "type": "thinking", "thinking": thinking.text, "signature": signature })
        }
        Block::Call(call) => {
            json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": object(&call.arguments) })
        }
        Block::Result(result) => {
            let output: Vec<Value> = result.output.iter().filter_map(native).collect();
            result_of(result, Value::Array(output))
        }
        Block::Image(image) => json!({
            "type": "image",
            "source": { "type": "base64", "media_type": image.media_type, "data": image.data },
        }),
        Block::Native { dialect: Dialect::AnthropicMessages, value } => value.clone(),
        Block::Native { .. } => return None,
    })
}

fn result_of(result: &CallResult, content: Value) -> Value {
    let mut value = json!({ "type": "tool_result", "tool_use_id": result.call, "content": content });
    if result.is_error {
        value["is_error"] = json!(true);
    }
    value
}

fn block(value: &Value) -> Option<Block> {
    Some(match value.get("type")?.as_str()? {
        "text" => Block::Text(owned(value, "text")?),
        "thinking" => Block::Thinking(Thinking {
            text: text(value, "thinking"),
            signature: owned(value, "signature"),
            id: None,
        }),
        "tool_use" => Block::Call(Call {
            id: text(value, "id"),
            name: text(value, "name"),
            arguments: json_text(value.get("input")),
            ..Call::default()
        }),
        "tool_result" => Block::Result(CallResult {
            call: text(value, "tool_use_id"),
            output: output(Dialect::AnthropicMessages, value.get("content"), block),
            is_error: value.get("is_error").and_then(Value::as_bool) == Some(true),
            ..CallResult::default()
        }),
        "image" => {
            let source = value.get("source")?;
            Block::Image(Image { media_type: owned(source, "media_type")?, data: owned(source, "data")? })
        }
        _ => return None,
    })
}
