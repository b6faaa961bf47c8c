//! Converts parts of messages into blocks: thinking, files, calls, and tool outputs.

use brickbat_rules::Dialect;
use brickbat_rules::histories::{Block, Call, Image, Signs, Thinking};
use serde_json::{Value, json};

use crate::clients;
use crate::json::text;
use crate::names;

/// The fields in which parts of UI messages and model messages store provider-specific data.
const METADATA: [&str; 4] =
    ["providerMetadata", "callProviderMetadata", "resultProviderMetadata", "providerOptions"];

/// The dialect according to a part's metadata, which each provider writes under its own name.
pub(crate) fn dialect_of(part: &Value) -> Option<Dialect> {
    let metadata = METADATA.into_iter().filter_map(|key| part.get(key)?.as_object());
    metadata.flatten().find_map(|(provider, own)| {
        // Only the Responses API gives ids to items.
        let may_be = |dialect: &Dialect| match dialect.codec().signs {
            Signs::Items => own.get("itemId").is_some(),
            Signs::Thoughts | Signs::Calls | Signs::Nothing => true,
        };
        names::candidates(|names| names.ai_sdk, provider, "").find(may_be)
    })
}

/// A text that a provider stores with a part. `None` if it is of a different dialect than the session.
fn own<'v>(part: &'v Value, dialect: Option<Dialect>, key: &str) -> Option<&'v str> {
    if dialect?.codec().signs == Signs::Nothing {
        return None;
    }
    let names = clients::of(dialect).names.ai_sdk;
    let metadata = METADATA.into_iter().filter_map(|key| part.get(key));
    metadata
        .flat_map(|metadata| names.iter().filter_map(|name| metadata.get(name)))
        .find_map(|own| own.get(key)?.as_str())
}

/// A thought of the model.
///
/// Each provider accepts only thoughts that it signed itself (`convert-to-anthropic-messages-prompt.ts`:
/// "unsupported reasoning metadata").
pub(crate) fn thinking(part: &Value, dialect: Option<Dialect>) -> Block {
    let own = |key: &str| own(part, dialect, key).map(str::to_owned);
    if let Some(data) = own("redactedData") {
        let dialect = Dialect::AnthropicMessages;
        return Block::Native { dialect, value: json!({ "type": "redacted_thinking", "data": data }) };
    }
    let signature =
        own("signature").or_else(|| own("thoughtSignature")).or_else(|| own("reasoningEncryptedContent"));
    Block::Thinking(Thinking { text: text(part, "text").to_owned(), signature, id: own("itemId") })
}

/// A file that is sent. `None` for a file that cannot be sent.
pub(crate) fn file(media_type: &str, data: &str) -> Option<Block> {
    let is_image = media_type.starts_with("image/");
    let dialect = Dialect::AnthropicMessages;
    if let Some((_, base64)) = data.split_once(";base64,").filter(|_| data.starts_with("data:")) {
        let base64 = base64.to_owned();
        return match media_type {
            _ if is_image => Some(Block::Image(Image { media_type: media_type.to_owned(), data: base64 })),
            "application/pdf" => {
                let source = json!({ "type": "base64", "media_type": media_type, "data": base64 });
                Some(Block::Native { dialect, value: json!({ "type": "document", "source": source }) })
            }
            _ => None,
        };
    }
    let is_url = data.starts_with("http://") || data.starts_with("https://");
    match media_type {
        _ if is_image && is_url => {
            let source = json!({ "type": "url", "url": data });
            Some(Block::Native { dialect, value: json!({ "type": "image", "source": source }) })
        }
        "application/pdf" if is_url => {
            let source = json!({ "type": "url", "url": data });
            Some(Block::Native { dialect, value: json!({ "type": "document", "source": source }) })
        }
        // The data in model messages is plain base64.
        _ if is_image => {
            Some(Block::Image(Image { media_type: media_type.to_owned(), data: data.to_owned() }))
        }
        _ => None,
    }
}

/// The kind of a file, in a form that may be printed.
pub(crate) fn kind_of(media_type: &str) -> String {
    match media_type.split_once('/') {
        Some((kind, _)) => format!("file of {}", crate::json::word(kind)),
        None => "file".to_owned(),
    }
}

pub(crate) fn call(part: &Value, name: &str, input: Option<&Value>, dialect: Option<Dialect>) -> Call {
    let own = |key: &str| own(part, dialect, key).map(str::to_owned);
    Call {
        signature: own("thoughtSignature"),
        item: own("itemId"),
        ..Call::new(text(part, "toolCallId"), name, arguments(input))
    }
}

/// The arguments as the providers send them.
///
/// `parseToolCallInput` of `@ai-sdk/anthropic` sends a text that contains an object as that object, and any
/// other value unchanged. A missing value leaves `input` out, which is rejected like `null`.
fn arguments(input: Option<&Value>) -> String {
    match input {
        None => "null".to_owned(),
        Some(Value::String(text)) => match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(_)) => text.clone(),
            _ => Value::String(text.clone()).to_string(),
        },
        Some(input) => input.to_string(),
    }
}

/// The output of a tool in UI messages (`createToolModelOutput`): a text, or any JSON value.
pub(crate) fn plain_output(output: Option<&Value>) -> Vec<Block> {
    let text = match output {
        Some(Value::String(text)) => text.clone(),
        Some(output) => output.to_string(),
        None => "null".to_owned(),
    };
    vec![Block::Text(text)]
}

/// The output of a tool in model messages, and whether it is an error. `None` if its form is unknown.
pub(crate) fn typed_output(output: &Value) -> Option<(Vec<Block>, bool)> {
    let value = output.get("value");
    let kind = text(output, "type");
    Some(match kind {
        "text" | "error-text" => (vec![Block::Text(value?.as_str()?.to_owned())], kind == "error-text"),
        "json" | "error-json" => {
            let value = value.cloned().unwrap_or_default();
            (vec![Block::Text(value.to_string())], kind == "error-json")
        }
        // Sent without an error flag.
        "execution-denied" => {
            let reason =
                output.get("reason").and_then(Value::as_str).unwrap_or("Tool call execution denied.");
            (vec![Block::Text(reason.to_owned())], false)
        }
        "content" => (value?.as_array()?.iter().filter_map(content_part).collect(), false),
        _ => return None,
    })
}

/// One part of an output of type `content`. Parts that the Anthropic provider drops with a warning
/// are left out.
fn content_part(part: &Value) -> Option<Block> {
    let data = |key: &str| part.get(key).and_then(Value::as_str);
    match text(part, "type") {
        "text" => Some(Block::Text(data("text")?.to_owned())),
        "image-data" | "media" | "file-data" => file(data("mediaType")?, data("data")?),
        "image-url" => file("image/*", data("url")?),
        _ => None,
    }
}
