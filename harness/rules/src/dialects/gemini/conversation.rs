//! Google Gemini: the conversation in a request.

use serde_json::{Map, Value, json};

use crate::Dialect;
use crate::histories::read::{json_text, spoken, text};
use crate::histories::render::{Writer, instructions, object, tool_names, turns};
use crate::histories::{
    ALPHANUMERICS, Block, Call, CallResult, Codec, IdForm, Message, Placement, Role, Signs, Thinking,
    is_short_id,
};

pub(crate) const CODEC: Codec = Codec {
    write,
    read: |reader, entry| reader.message(entry, "parts", block),
    result: result_of,
    placement: Placement::InMessage { blocks: "parts", with_words: false },
    prompt: |words| json!({ "role": "user", "parts": [{ "text": words }] }),
    call_id: IdForm { prefix: "", alphabet: ALPHANUMERICS, n_letters: 8 },
    takes_id: is_short_id,
    // Gemini 3 wants a response to every call.
    models: &["gemini-3-pro-preview", "gemini-3.6-flash"],
    model: "gemini-3-pro-preview",
    vendor: "google",
    signs: Signs::Calls,
    instructions_at: &["systemInstruction", "system_instruction"],
    alternates: false,
    may_lack_role: true,
    has_pictures_in_results: false,
    kept_at: &["cachedContent", "cached_content"],
};

fn write(writer: &mut Writer, around: &mut Map<String, Value>, messages: &[Message]) {
    if let Some(system) = instructions(messages) {
        around.insert("systemInstruction".to_owned(), json!({ "parts": [{ "text": system }] }));
    }
    let tools: Vec<Value> = tool_names(messages).into_iter().map(|name| json!({ "name": name })).collect();
    if !tools.is_empty() {
        around.insert("tools".to_owned(), json!([{ "functionDeclarations": tools }]));
    }
    for (role, blocks) in turns(messages, native) {
        // Responses and words do not mix in one content; two contents of one role in a row are taken.
        let is_result = |block: &Block| matches!(block, Block::Result(_));
        let (results, others): (Vec<_>, Vec<_>) = blocks.into_iter().partition(|(_, block)| is_result(block));
        let contents = match (results.is_empty(), others.is_empty()) {
            (false, false) => vec![results, others],
            (false, true) => vec![results],
            (true, _) => vec![others],
        };
        for blocks in contents {
            let name = if role == Role::Assistant { "model" } else { "user" };
            writer.push_message(name, "parts", &blocks, native);
        }
    }
}

fn native(block: &Block) -> Option<Value> {
    Some(match block {
        Block::Text(text) => json!({ "text": text }),
        Block::Thinking(thinking) => {
            let mut value = json!({ "text": thinking.text, "thought": true });
            if let Some(signature) = &thinking.signature {
                value["thoughtSignature"] = json!(signature);
            }
            value
        }
        Block::Call(call) => {
            let mut value = json!({ "functionCall": { "name": call.name, "args": object(&call.arguments) } });
            if !call.id.is_empty() {
                value["functionCall"]["id"] = json!(call.id);
            }
            if let Some(signature) = &call.signature {
                value["thoughtSignature"] = json!(signature);
            }
            value
        }
        Block::Result(result) => result_of(result),
        Block::Image(image) => json!({ "inlineData": { "mimeType": image.media_type, "data": image.data } }),
        Block::Native { dialect: Dialect::Gemini, value } => value.clone(),
        Block::Native { .. } => return None,
    })
}

fn result_of(result: &CallResult) -> Value {
    let key = if result.is_error { "error" } else { "output" };
    let response = json!({ key: result.text() });
    let mut value = json!({ "functionResponse": { "name": result.name, "response": response } });
    if !result.call.is_empty() {
        value["functionResponse"]["id"] = json!(result.call);
    }
    value
}

/// Reads a part. Each field has two names: the documented one, and the protocol buffer name, which the JSON
/// form also accepts (<https://protobuf.dev/programming-guides/json/>).
fn block(value: &Value) -> Option<Block> {
    let field = |camel: &str, snake: &str| {
        let named = |name: &str| value.get(name).filter(|value| !value.is_null());
        named(camel).or_else(|| named(snake))
    };
    let signature = field("thoughtSignature", "thought_signature").and_then(Value::as_str).map(str::to_owned);
    if let Some(call) = field("functionCall", "function_call") {
        return Some(Block::Call(Call {
            id: text(call, "id"),
            name: text(call, "name"),
            arguments: json_text(call.get("args")),
            signature,
            item: None,
        }));
    }
    if let Some(result) = field("functionResponse", "function_response") {
        return Some(Block::Result(CallResult {
            call: text(result, "id"),
            name: text(result, "name"),
            output: vec![spoken(words_of(result.get("response")))],
            is_error: result.pointer("/response/error").is_some(),
            item: None,
        }));
    }
    let words = value.get("text")?.as_str()?.to_owned();
    match value.get("thought").and_then(Value::as_bool) {
        Some(true) => Some(Block::Thinking(Thinking { text: words, signature, id: None })),
        // A signed text is more than its words, so it is kept as JSON.
        _ if signature.is_some() => None,
        _ => Some(Block::Text(words)),
    }
}

/// The content of a response. If it has a single field, such as the `output` or `error` that SDKs write, the
/// value of that field.
fn words_of(response: Option<&Value>) -> Option<&Value> {
    let fields = response?.as_object()?;
    match fields.len() {
        1 => fields.values().next(),
        _ => response,
    }
}
