//! How each dialect writes what the edits of a form write.

use brickbat_rules::Dialect;
use serde_json::{Value, json};

/// The form of messages and blocks in a dialect.
pub(super) struct Shape {
    /// The field of a message with its content.
    pub(super) content: &'static str,
    /// True if the content is always a list.
    pub(super) is_listed: bool,
    /// A block with a text. The second argument is true in a reply of the model.
    pub(super) text: fn(&str, bool) -> Value,
    /// A block with an image at a URL.
    pub(super) image: Option<fn(&str) -> Value>,
    /// The name of the model's role.
    pub(super) model: &'static str,
    /// The role of messages with results, for dialects that have another name for `tool`.
    pub(super) results: Option<&'static str>,
    /// True if a result is a block of a user's message.
    pub(super) has_result_blocks: bool,
    /// True if instructions are messages of the role `system`.
    pub(super) has_system_role: bool,
    /// True if the field `system` is a list of blocks.
    pub(super) has_system_blocks: bool,
    /// The field of a result with the id of its call.
    pub(super) call: &'static str,
    /// True if the names of tools may have dots.
    pub(super) has_dots: bool,
}

const SHAPE: Shape = Shape {
    content: "content",
    is_listed: false,
    text: typed,
    image: None,
    model: "assistant",
    results: None,
    has_result_blocks: false,
    has_system_role: false,
    has_system_blocks: false,
    call: "tool_use_id",
    has_dots: false,
};

/// The forms of the dialects.
static SHAPES: [(Dialect, Shape); 6] = [
    (Dialect::AnthropicMessages, Shape { image: Some(source), has_result_blocks: true, ..SHAPE }),
    (
        Dialect::OpenaiChat,
        Shape { image: Some(image_url), has_system_role: true, call: "tool_call_id", ..SHAPE },
    ),
    (Dialect::OpenaiResponses, Shape { text: said, image: Some(input_image), ..SHAPE }),
    (
        Dialect::Gemini,
        Shape {
            content: "parts",
            is_listed: true,
            text: plain,
            model: "model",
            results: Some("user"),
            has_dots: true,
            ..SHAPE
        },
    ),
    (Dialect::BedrockConverse, Shape { is_listed: true, text: plain, has_system_blocks: true, ..SHAPE }),
    (Dialect::Mistral, Shape { has_system_role: true, call: "tool_call_id", ..SHAPE }),
];

/// The form of a dialect.
pub(super) fn shape_of(dialect: Dialect) -> &'static Shape {
    static USUAL: Shape = SHAPE;
    SHAPES.iter().find(|(own, _)| *own == dialect).map_or(&USUAL, |(_, shape)| shape)
}

fn typed(text: &str, _: bool) -> Value {
    json!({ "type": "text", "text": text })
}

fn plain(text: &str, _: bool) -> Value {
    json!({ "text": text })
}

fn said(text: &str, is_reply: bool) -> Value {
    json!({ "type": if is_reply { "output_text" } else { "input_text" }, "text": text })
}

fn image_url(url: &str) -> Value {
    json!({ "type": "image_url", "image_url": { "url": url } })
}

fn input_image(url: &str) -> Value {
    json!({ "type": "input_image", "image_url": url })
}

fn source(url: &str) -> Value {
    let source = match url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        Some((media_type, data)) => json!({ "type": "base64", "media_type": media_type, "data": data }),
        None => json!({ "type": "url", "url": url }),
    };
    json!({ "type": "image", "source": source })
}
