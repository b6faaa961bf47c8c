//! Bedrock Converse: the conversation in a request.

use serde_json::{Map, Value, json};

use crate::Dialect;
use crate::histories::read::{json_text, output, owned, text};
use crate::histories::render::{Writer, instructions, object, text_of, tool_names};
use crate::histories::{
    ALPHANUMERICS, Block, Call, CallResult, Codec, IdForm, KEPT_ELSEWHERE, Message, Placement, Signs,
    Thinking, is_short_id,
};

pub(crate) const CODEC: Codec = Codec {
    write,
    read: |reader, entry| reader.message(entry, "content", block),
    result: result_of,
    placement: Placement::InMessage { blocks: "content", with_words: true },
    prompt: |words| json!({ "role": "user", "content": [{ "text": words }] }),
    call_id: IdForm { prefix: "tooluse_", alphabet: ALPHANUMERICS, n_letters: 22 },
    takes_id: is_short_id,
    // Claude refuses what Converse passes on.
    models: &["us.anthropic.claude-opus-4-6-v1:0", "anthropic.claude-sonnet-4-5-20250929-v1:0"],
    model: "anthropic.claude-sonnet-4-5-20250929-v1:0",
    vendor: "bedrock",
    signs: Signs::Thoughts,
    instructions_at: &["system"],
    alternates: true,
    may_lack_role: false,
    has_pictures_in_results: true,
    kept_at: KEPT_ELSEWHERE,
};

fn write(writer: &mut Writer, around: &mut Map<String, Value>, messages: &[Message]) {
    // SDKs name the model next to the messages, and write it into the path.
    if let Some(model) = around.remove("model") {
        around.insert("modelId".to_owned(), model);
    }
    if let Some(system) = instructions(messages) {
        around.insert("system".to_owned(), json!([{ "text": system }]));
    }
    let spec =
        |name: &str| json!({ "toolSpec": { "name": name, "inputSchema": { "json": { "type": "object" } } } });
    let tools: Vec<Value> = tool_names(messages).into_iter().map(spec).collect();
    if !tools.is_empty() {
        around.insert("toolConfig".to_owned(), json!({ "tools": tools }));
    }
    writer.push_turns(messages, native);
}

fn native(block: &Block) -> Option<Value> {
    Some(match block {
        Block::Text(text) => json!({ "text": text }),
        Block::Thinking(thinking) => {
            let signature = thinking.signature.as_ref()?;
            json!({ "reasoningContent": { "reasoningText": { "text": thinking.text, "signature": signature } } })
        }
        Block::Call(call) => json!({
            "toolUse": { "toolUseId": call.id, "name": call.name, "input": object(&call.arguments) },
        }),
        Block::Result(result) => result_of(result),
        Block::Image(image) => {
            let format = image.media_type.strip_prefix("image/").unwrap_or("png");
            json!({ "image": { "format": format, "source": { "bytes": image.data } } })
        }
        Block::Native { dialect: Dialect::BedrockConverse, value } => value.clone(),
        Block::Native { .. } => return None,
    })
}

fn result_of(result: &CallResult) -> Value {
    let mut output: Vec<Value> = result.output.iter().filter_map(native).collect();
    // An error without a word is refused.
    if result.is_error && output.is_empty() {
        output.push(json!({ "text": text_of(result) }));
    }
    let status = if result.is_error { "error" } else { "success" };
    json!({ "toolResult": { "toolUseId": result.call, "content": output, "status": status } })
}

fn block(value: &Value) -> Option<Block> {
    if let Some(text) = value.get("text") {
        return Some(Block::Text(text.as_str()?.to_owned()));
    }
    if let Some(call) = value.get("toolUse") {
        return Some(Block::Call(Call {
            id: text(call, "toolUseId"),
            name: text(call, "name"),
            arguments: json_text(call.get("input")),
            ..Call::default()
        }));
    }
    if let Some(thought) = value.pointer("/reasoningContent/reasoningText") {
        let (text, signature) = (text(thought, "text"), owned(thought, "signature"));
        return Some(Block::Thinking(Thinking { text, signature, id: None }));
    }
    let result = value.get("toolResult")?;
    Some(Block::Result(CallResult {
        call: text(result, "toolUseId"),
        output: output(Dialect::BedrockConverse, result.get("content"), block),
        is_error: text(result, "status") == "error",
        ..CallResult::default()
    }))
}
