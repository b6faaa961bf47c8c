//! A guess at the dialect of a stream.

use super::array::ArrayReader;
use super::event::{Piece, StreamEvent, StreamOffset, text};
use super::lines::LineReader;
use crate::Dialect;
use crate::frames::is_frame;
use crate::json::{Document, Json};

/// Bytes that are looked at. The first events of every dialect say what it is.
pub const MAX_LOOK_BYTES: usize = 256 << 10;

/// The grammar of the first event that tells. Nothing if none does.
pub fn detect(bytes: &[u8]) -> Option<Dialect> {
    if is_frame(bytes) {
        return Some(Dialect::BedrockConverse);
    }
    let head = &bytes[..bytes.len().min(MAX_LOOK_BYTES)];
    let mut found = None;
    let mut look = |_: StreamOffset, piece: Piece<'_>| {
        found = found.or_else(|| match piece {
            Piece::Event(event) | Piece::Unended(event) => of_event(&event),
            Piece::Stray(text) => Document::parse(text).ok().and_then(|json| of_error(json.root())),
            Piece::Unreadable(..) => None,
        });
    };
    match head.trim_ascii_start().first() {
        Some(b'[') => ArrayReader::starting_at(StreamOffset { offset: 0, line: None }).feed(head, look),
        _ => {
            let mut reader = LineReader::default();
            reader.feed(head, &mut look);
            reader.finish(look);
        }
    }
    found
}

fn of_event(event: &StreamEvent<'_>) -> Option<Dialect> {
    if event.data.starts_with(b"[DONE]") {
        return Some(Dialect::OpenaiChat);
    }
    let document = Document::parse(event.data).ok()?;
    let json = document.root();
    let has = |field: &str| json.get(field).is_some();
    match &*json.field("type").as_str().unwrap_or_default() {
        "message_start"
        | "content_block_start"
        | "content_block_delta"
        | "content_block_stop"
        | "message_delta"
        | "message_stop"
        | "ping" => Some(Dialect::AnthropicMessages),
        "error" if json.field("error").is_object() => Some(Dialect::AnthropicMessages),
        "error" => Some(Dialect::OpenaiResponses),
        kind if kind.starts_with("response.") => Some(Dialect::OpenaiResponses),
        _ if has("candidates") || has("promptFeedback") || has("usageMetadata") => Some(Dialect::Gemini),
        _ if has("choices") && is_mistral(json) => Some(Dialect::Mistral),
        _ if has("choices") => Some(Dialect::OpenaiChat),
        _ => of_error(json),
    }
}

/// Google's errors have a status in words, OpenAI's a type.
fn of_error(json: Json) -> Option<Dialect> {
    let error = json.field("error");
    match (text(error.field("status")), text(error.field("type"))) {
        (Some(_), _) => Some(Dialect::Gemini),
        (None, Some(_)) => Some(Dialect::OpenaiChat),
        (None, None) => None,
    }
}

/// Mistral's chunks have an id of 32 hexadecimal digits and one of its models. Its models elsewhere have other ids.
fn is_mistral(json: Json) -> bool {
    const FAMILIES: [&str; 7] =
        ["mistral", "ministral", "magistral", "codestral", "devstral", "pixtral", "voxtral"];
    let id = json.field("id").as_str().unwrap_or_default();
    let model = json.field("model").as_str().unwrap_or_default();
    id.len() == 32
        && id.bytes().all(|byte| byte.is_ascii_hexdigit())
        && FAMILIES.iter().any(|family| model.contains(family))
}
