//! Reads the messages of a request body in any dialect.

use std::borrow::Cow;
use std::ops::Range;

use brickbat_rules::Dialect;
use brickbat_rules::histories::{self, Call, CallResult, Image, Role, Thinking};
use brickbat_rules::json::Json;
use serde_json::Value;

use crate::json::text;
use crate::{Block, Ending, Message, Place};

/// The messages in the list at this pointer in the body.
///
/// Only one block at a time is copied into a value: a reply of a large session has many thousands.
pub(super) fn messages(dialect: Dialect, list: Json<'_, '_>, at: &str) -> Vec<Message> {
    let read = |(n, entry): (usize, Json<'_, '_>)| {
        let (pointer, span) = (format!("{at}/{n}"), entry.span());
        let mut reader = Reader { dialect, span: &span, blocks: Vec::new() };
        let role = match dialect {
            Dialect::OpenaiResponses => reader.item(entry, &pointer),
            Dialect::OpenaiChat | Dialect::Mistral => reader.chat(entry, &pointer),
            Dialect::AnthropicMessages | Dialect::Gemini | Dialect::BedrockConverse => {
                reader.parts(entry, &pointer)
            }
        };
        Message {
            role,
            blocks: reader.blocks,
            id: own_id(dialect, entry),
            place: Place::in_file(span.start as u64..span.end as u64, pointer),
            ending: Ending::Whole,
        }
    };
    list.items().enumerate().map(read).collect()
}

/// The id with which a message of Responses is sent. Calls, thoughts and objects that only look like a
/// message have none here.
fn own_id(dialect: Dialect, entry: Json<'_, '_>) -> Option<String> {
    if dialect != Dialect::OpenaiResponses || !matches!(&*word(entry, "type"), "" | "message") {
        return None;
    }
    Some(word(entry, "id").into_owned()).filter(|id| !id.is_empty())
}

/// A text field; empty if there is none.
fn word<'a>(entry: Json<'_, 'a>, key: &str) -> Cow<'a, str> {
    entry.field(key).as_str().unwrap_or_default()
}

/// Reads one entry.
struct Reader<'a> {
    dialect: Dialect,
    span: &'a Range<usize>,
    blocks: Vec<Block>,
}

impl Reader<'_> {
    fn push(&mut self, pointer: String, content: histories::Block) {
        let place = Place::in_file(self.span.start as u64..self.span.end as u64, pointer);
        self.blocks.push(Block { place, content, state: None });
    }

    /// A message that consists of blocks: Anthropic, Bedrock, Gemini.
    fn parts(&mut self, entry: Json<'_, '_>, pointer: &str) -> Role {
        let key = if self.dialect == Dialect::Gemini { "parts" } else { "content" };
        let content = entry.field(key);
        if let Some(text) = content.as_str() {
            self.push(format!("{pointer}/{key}"), histories::Block::Text(text.into_owned()));
        }
        for (n, block) in content.items().enumerate() {
            let content = part(self.dialect, &block.to_value());
            self.push(format!("{pointer}/{key}/{n}"), content);
        }
        match &*word(entry, "role") {
            "assistant" | "model" => Role::Assistant,
            "system" => Role::System,
            _ if self.has_only_results() => Role::Tool,
            _ => Role::User,
        }
    }

    fn has_only_results(&self) -> bool {
        let is_result = |block: &Block| matches!(block.content, histories::Block::Result(_));
        !self.blocks.is_empty() && self.blocks.iter().all(is_result)
    }

    /// A message of Chat Completions.
    fn chat(&mut self, entry: Json<'_, '_>, pointer: &str) -> Role {
        let role = word(entry, "role");
        if role == "tool" {
            let output = vec![spoken(entry.get("content").map(Json::to_value).as_ref())];
            let (call, name) = (word(entry, "tool_call_id").into_owned(), word(entry, "name").into_owned());
            let result = CallResult::new(call, name, output);
            self.push(pointer.to_owned(), histories::Block::Result(result));
            return Role::Tool;
        }
        let content = entry.field("content");
        if let Some(text) = content.as_str() {
            self.push(format!("{pointer}/content"), histories::Block::Text(text.into_owned()));
        }
        for (n, part) in content.items().enumerate() {
            let content = match part.field("text").as_str() {
                Some(text) => histories::Block::Text(text.into_owned()),
                None => histories::Block::Native { dialect: self.dialect, value: part.to_value() },
            };
            self.push(format!("{pointer}/content/{n}"), content);
        }
        for (n, call) in entry.field("tool_calls").items().enumerate() {
            let function = call.field("function");
            let call = Call::new(
                word(call, "id").into_owned(),
                word(function, "name").into_owned(),
                arguments(function.get("arguments").map(Json::to_value).as_ref()),
            );
            self.push(format!("{pointer}/tool_calls/{n}"), histories::Block::Call(call));
        }
        match &*role {
            "assistant" => Role::Assistant,
            "system" | "developer" => Role::System,
            _ => Role::User,
        }
    }

    /// An item of Responses.
    fn item(&mut self, entry: Json<'_, '_>, pointer: &str) -> Role {
        let value = &entry.to_value();
        let id = || value.get("id").and_then(Value::as_str).map(str::to_owned);
        match text(value, "type") {
            "function_call" | "custom_tool_call" => {
                let call = Call {
                    item: id(),
                    ..Call::new(
                        text(value, "call_id"),
                        text(value, "name"),
                        arguments(value.get("arguments").or_else(|| value.get("input"))),
                    )
                };
                self.push(pointer.to_owned(), histories::Block::Call(call));
                Role::Assistant
            }
            "function_call_output" | "custom_tool_call_output" => {
                let output = vec![spoken(value.get("output"))];
                let call = text(value, "call_id").to_owned();
                let result = CallResult { item: id(), ..CallResult::new(call, "", output) };
                self.push(pointer.to_owned(), histories::Block::Result(result));
                Role::Tool
            }
            "reasoning" => {
                let signature = value.get("encrypted_content").and_then(Value::as_str).map(str::to_owned);
                let thinking = Thinking { text: String::new(), signature, id: id() };
                self.push(pointer.to_owned(), histories::Block::Thinking(thinking));
                Role::Assistant
            }
            "" | "message" => self.chat(entry, pointer),
            _ => {
                let value = value.clone();
                self.push(pointer.to_owned(), histories::Block::Native { dialect: self.dialect, value });
                Role::Assistant
            }
        }
    }
}

/// An Anthropic, Bedrock or Gemini block.
fn part(dialect: Dialect, value: &Value) -> histories::Block {
    let block = match dialect {
        Dialect::BedrockConverse => bedrock(value),
        Dialect::Gemini => gemini(value),
        Dialect::AnthropicMessages | Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::Mistral => {
            anthropic(value)
        }
    };
    block.unwrap_or_else(|| histories::Block::Native { dialect, value: value.clone() })
}

fn anthropic(value: &Value) -> Option<histories::Block> {
    Some(match text(value, "type") {
        "text" => histories::Block::Text(value.get("text")?.as_str()?.to_owned()),
        "thinking" => histories::Block::Thinking(Thinking {
            text: text(value, "thinking").to_owned(),
            signature: value.get("signature").and_then(Value::as_str).map(str::to_owned),
            id: None,
        }),
        "tool_use" => histories::Block::Call(Call::new(
            text(value, "id"),
            text(value, "name"),
            arguments(value.get("input")),
        )),
        "tool_result" => histories::Block::Result(CallResult {
            is_error: value.get("is_error").and_then(Value::as_bool) == Some(true),
            ..CallResult::new(
                text(value, "tool_use_id"),
                "",
                output(Dialect::AnthropicMessages, value.get("content")),
            )
        }),
        "image" => {
            let source = value.get("source")?;
            histories::Block::Image(Image {
                media_type: source.get("media_type")?.as_str()?.to_owned(),
                data: source.get("data")?.as_str()?.to_owned(),
            })
        }
        _ => return None,
    })
}

fn bedrock(value: &Value) -> Option<histories::Block> {
    if let Some(text) = value.get("text") {
        return Some(histories::Block::Text(text.as_str()?.to_owned()));
    }
    if let Some(call) = value.get("toolUse") {
        return Some(histories::Block::Call(Call::new(
            text(call, "toolUseId"),
            text(call, "name"),
            arguments(call.get("input")),
        )));
    }
    if let Some(thought) = value.pointer("/reasoningContent/reasoningText") {
        return Some(histories::Block::Thinking(Thinking {
            text: text(thought, "text").to_owned(),
            signature: thought.get("signature").and_then(Value::as_str).map(str::to_owned),
            id: None,
        }));
    }
    let result = value.get("toolResult")?;
    Some(histories::Block::Result(CallResult {
        is_error: text(result, "status") == "error",
        ..CallResult::new(
            text(result, "toolUseId"),
            "",
            output(Dialect::BedrockConverse, result.get("content")),
        )
    }))
}

/// A Gemini part. Each field has two names: the documented one, and the protocol buffer name, which the
/// JSON form also accepts (<https://protobuf.dev/programming-guides/json/>).
fn gemini(value: &Value) -> Option<histories::Block> {
    let field = |camel: &str, snake: &str| {
        let named = |name: &str| value.get(name).filter(|value| !value.is_null());
        named(camel).or_else(|| named(snake))
    };
    let signature = field("thoughtSignature", "thought_signature").and_then(Value::as_str).map(str::to_owned);
    if let Some(call) = field("functionCall", "function_call") {
        return Some(histories::Block::Call(Call {
            signature,
            ..Call::new(text(call, "id"), text(call, "name"), arguments(call.get("args")))
        }));
    }
    if let Some(result) = field("functionResponse", "function_response") {
        return Some(histories::Block::Result(CallResult {
            is_error: result.pointer("/response/error").is_some(),
            ..CallResult::new(
                text(result, "id"),
                text(result, "name"),
                vec![spoken(words_of(result.get("response")))],
            )
        }));
    }
    let words = value.get("text")?.as_str()?.to_owned();
    match value.get("thought").and_then(Value::as_bool) {
        Some(true) => Some(histories::Block::Thinking(Thinking { text: words, signature, id: None })),
        // A signed text is more than its words, so it is kept as JSON.
        _ if signature.is_some() => None,
        _ => Some(histories::Block::Text(words)),
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

/// The blocks of a result.
fn output(dialect: Dialect, content: Option<&Value>) -> Vec<histories::Block> {
    match content {
        Some(Value::Array(blocks)) => blocks.iter().map(|block| part(dialect, block)).collect(),
        Some(Value::Null) | None => Vec::new(),
        other => vec![spoken(other)],
    }
}

/// A content as text: a string unchanged, any other value as JSON.
fn spoken(content: Option<&Value>) -> histories::Block {
    histories::Block::Text(match content {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    })
}

/// Arguments as JSON text. A string is the model's own text.
fn arguments(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    }
}
