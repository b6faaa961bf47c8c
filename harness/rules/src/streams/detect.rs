//! Detects the dialect of a stream, or an API that is not supported.

use super::array::ArrayReader;
use super::event::{Piece, StreamEvent, StreamOffset, text};
use super::invoke;
use super::lines::LineReader;
use crate::Dialect;
use crate::dialects::is_mistral_model;
use crate::frames::{FrameReader, is_frame};
use crate::json::{Document, Json};

/// Maximum number of bytes to read. The first events of every dialect identify it.
pub const MAX_LOOK_BYTES: usize = 256 << 10;

/// The API of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamKind {
    /// A supported dialect.
    Dialect(Dialect),
    /// An API that Brickbat does not support, by its display name.
    NotSpoken(&'static str),
}

/// Returns the dialect of the first event that identifies one. `None` if none does, or if it belongs to an
/// unsupported API.
pub fn detect(bytes: &[u8]) -> Option<Dialect> {
    match recognise(bytes)? {
        StreamKind::Dialect(dialect) => Some(dialect),
        StreamKind::NotSpoken(_) => None,
    }
}

/// Returns the API of the first event that identifies one. `None` if none does.
pub fn recognise(bytes: &[u8]) -> Option<StreamKind> {
    let mut found = None;
    look_at(bytes, |event| {
        found = found.or_else(|| match event {
            Look::Event(event) => of_event(&event),
            Look::Converse => Some(StreamKind::Dialect(Dialect::BedrockConverse)),
            Look::Chunk(event) => Some(of_chunk(event)),
            Look::Stray(json) => of_error(json).map(StreamKind::Dialect).or_else(|| not_spoken("", json)),
        });
    });
    found
}

/// Returns the model that a stream names. Together with a host, it leads to a profile.
pub fn model_of(bytes: &[u8]) -> Option<String> {
    let mut found: Option<String> = None;
    look_at(bytes, |event| {
        let data = match &event {
            Look::Event(event) => event.data,
            Look::Chunk(data) => data,
            Look::Converse | Look::Stray(_) => return,
        };
        if found.is_none()
            && let Ok(document) = Document::parse(data)
        {
            let json = document.root();
            let places = [json, json.field("message"), json.field("response")];
            let named = places.iter().find_map(|place| text(place.field("model")));
            found = named.or_else(|| text(json.field("modelVersion"))).map(|model| model.into_owned());
        }
    });
    found
}

/// A finding in the first bytes of a stream.
enum Look<'a> {
    Event(StreamEvent<'a>),
    /// A Bedrock Converse frame, complete or not.
    Converse,
    /// The event in a frame of InvokeModel.
    Chunk(&'a [u8]),
    /// JSON outside of events.
    Stray(Json<'a, 'a>),
}

fn look_at(bytes: &[u8], mut take: impl FnMut(Look<'_>)) {
    let head = &bytes[..bytes.len().min(MAX_LOOK_BYTES)];
    if is_frame(head) {
        return look_at_frames(head, take);
    }
    let mut look = |_: StreamOffset, piece: Piece<'_>| match piece {
        Piece::Event(event) | Piece::Unended(event) => take(Look::Event(event)),
        Piece::Stray(text) => {
            if let Ok(json) = Document::parse(text) {
                take(Look::Stray(json.root()));
            }
        }
        Piece::Unreadable(..) => {}
    };
    match head.trim_ascii_start().first() {
        Some(b'[') => ArrayReader::starting_at(StreamOffset { offset: 0, line: None }).feed(head, look),
        _ => {
            let mut reader = LineReader::default();
            reader.feed(head, &mut look);
            reader.finish(look);
        }
    }
}

fn look_at_frames(head: &[u8], mut take: impl FnMut(Look<'_>)) {
    let mut n_frames = 0;
    FrameReader::default().feed(head, |_, frame| {
        n_frames += 1;
        match frame {
            Ok(frame) if frame.name() == "chunk" => {
                if let Ok(event) = invoke::unwrap(&frame) {
                    take(Look::Chunk(&event.data));
                }
            }
            _ => take(Look::Converse),
        }
    });
    if n_frames == 0 {
        take(Look::Converse);
    }
}

/// InvokeModel forwards the events of the model's own dialect. Of these, only Claude's is supported.
fn of_chunk(data: &[u8]) -> StreamKind {
    let event = StreamEvent { kind: super::EventKind::Message, name: "", data };
    match of_event(&event) {
        Some(StreamKind::Dialect(Dialect::AnthropicMessages)) => {
            StreamKind::Dialect(Dialect::AnthropicMessages)
        }
        _ => StreamKind::NotSpoken("Bedrock InvokeModel with a model that is not Claude"),
    }
}

fn of_event(event: &StreamEvent<'_>) -> Option<StreamKind> {
    if event.data.starts_with(b"[DONE]") {
        return Some(StreamKind::Dialect(Dialect::OpenaiChat));
    }
    let document = Document::parse(event.data).ok()?;
    let json = document.root();
    not_spoken(event.name, json).or_else(|| dialect_of(json).map(StreamKind::Dialect))
}

/// APIs that are known well enough to be recognized, with prefixes of their event types.
const NOT_SPOKEN: [(&str, &[&str]); 5] = [
    // https://ai.google.dev/gemini-api/docs/interactions
    ("Gemini Interactions", &["interaction.", "content.", "step."]),
    // https://docs.mistral.ai/api/endpoint/beta/conversations
    (
        "Mistral Conversations",
        &["conversation.response.", "message.output.", "tool.execution.", "function.call.", "agent.handoff."],
    ),
    // https://platform.openai.com/docs/api-reference/assistants-streaming/events
    ("OpenAI Assistants", &["thread.created", "thread.run.", "thread.message."]),
    // https://platform.openai.com/docs/api-reference/realtime-server-events
    ("OpenAI Realtime", &["session."]),
    // https://docs.cohere.com/v2/docs/streaming
    ("Cohere", &["message-start", "content-start", "content-delta", "tool-plan-delta", "stream-start"]),
];

/// Returns the unsupported API that an event belongs to. The event's type is a field in the data, or
/// only the event's name.
fn not_spoken(name: &str, json: Json) -> Option<StreamKind> {
    // https://platform.openai.com/docs/api-reference/conversations
    let object = json.field("object").as_str().unwrap_or_default();
    if object == "conversation" || object.starts_with("conversation.") {
        return Some(StreamKind::NotSpoken("OpenAI Conversations"));
    }
    let kinds = [json.field("type").as_str(), json.field("event_type").as_str()];
    let kind = kinds.into_iter().flatten().next().unwrap_or(name.into());
    let (api, _) = NOT_SPOKEN.iter().find(|(_, kinds)| kinds.iter().any(|begin| kind.starts_with(begin)))?;
    Some(StreamKind::NotSpoken(api))
}

fn dialect_of(json: Json) -> Option<Dialect> {
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

/// Google's errors have a status as text, OpenAI's a type.
fn of_error(json: Json) -> Option<Dialect> {
    let error = json.field("error");
    match (text(error.field("status")), text(error.field("type"))) {
        (Some(_), _) => Some(Dialect::Gemini),
        (None, Some(_)) => Some(Dialect::OpenaiChat),
        (None, None) => None,
    }
}

/// Returns whether a chunk is Mistral's: it has an id of 32 hexadecimal digits and a Mistral model.
/// Other servers that host these models use other ids.
fn is_mistral(json: Json) -> bool {
    let id = json.field("id").as_str().unwrap_or_default();
    let model = json.field("model").as_str().unwrap_or_default();
    id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()) && is_mistral_model(&model)
}
