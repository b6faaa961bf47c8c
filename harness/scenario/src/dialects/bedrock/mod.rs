//! Bedrock Converse, `POST /model/{modelId}/converse` and `/converse-stream`:
//! <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html>.

mod decode;
mod encode;
mod history;
mod request;

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::scenario::{ErrorKind, Stop};
use crate::wire::history::owned_text;
use crate::wire::marks::block_marks;
use crate::wire::offer::{CallableTool, Offer, ToolChoice};
use crate::wire::{Delivery, DialectTraits, Overflow, Paths, Route, Wire, event_stream};
use brickbat_rules::json::Json;

pub(crate) const WIRE: Wire = Wire {
    traits: DialectTraits {
        paths: Paths::OfModel { read: read_path, write: write_path },
        stream_type: event_stream::CONTENT_TYPE,
        request_id_header: "x-amzn-requestid",
        tools_at: &["toolConfig", "tools"],
        stop_words: &[
            (Stop::Length, "max_tokens"),
            (Stop::Refusal, "content_filtered"),
            (Stop::Calls, "tool_use"),
            (Stop::End, "end_turn"),
        ],
        // After the stop reason, only token counts and times follow.
        is_whole_at_stop: true,
        wants_thinking_before_calls: true,
        ..DialectTraits::USUAL
    },
    path_owner: None,
    sdk_base: "",
    sdk_variable: Some("AWS_ENDPOINT_URL_BEDROCK_RUNTIME"),
    sends_pictures: false,
    request: request::FORM,
    side_answer,
    asks_for_usage: |_| false,
    asks_to_think: Some(asks_to_think),
    offers_search: None,
    tool_names: |tool| Vec::from_iter(owned_text(tool.field("toolSpec").field("name"))),
    offer,
    history: history::conversation,
    request_id,
    error_headers,
    stream: encode::stream,
    whole: encode::whole,
    block_marks,
    status_body,
    overflow: Overflow { body: overflow_body, sign: "prompt is too long" },
    error_frame,
    malformed_frame,
    decoder: || Box::new(decode::ConverseDecoder::default()),
    decode_whole: decode::whole,
};

/// As quoted for Claude in <https://github.com/aaif-goose/goose/pull/7504>.
fn overflow_body() -> Value {
    json!({
        "message": "The model returned the following errors: prompt is too long: 227255 tokens > 200000 maximum",
    })
}

const BEFORE_MODEL: &str = "/model/";
const WHOLE: &str = "converse";
const STREAMED: &str = "converse-stream";

fn read_path(path: &str) -> Option<Route<'_>> {
    let (model, action) = model_and_action(path)?;
    let streamed = match action {
        WHOLE => false,
        STREAMED => true,
        _ => return None,
    };
    Some(Route { streamed: Some(streamed), model: Some(decoded(model)) })
}

fn write_path(model: &str, delivery: Delivery) -> String {
    let action = if delivery == Delivery::Streamed { STREAMED } else { WHOLE };
    format!("{BEFORE_MODEL}{}/{action}", encoded(model))
}

/// <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens.html>
fn side_answer(method: &str, path: &str, body: &[u8]) -> Option<Value> {
    let counts =
        method == "POST" && model_and_action(path).is_some_and(|(_, action)| action == "count-tokens");
    counts.then(|| json!({ "inputTokens": body.len() / 4 }))
}

/// Thinking is requested with Claude's own fields
/// (<https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html>).
fn asks_to_think(body: Json) -> bool {
    let fields = body.field("additionalModelRequestFields");
    let asks = |name: &str| {
        let kind = fields.field(name).field("type");
        kind.is_str() && !kind.is("disabled")
    };
    asks("thinking") || asks("reasoning_config")
}

/// The id of a request is a UUID.
fn request_id(unique: &str) -> String {
    let digits = |range| unique.get(range).unwrap_or_default();
    format!("62726963-{}-{}-{}-{}", digits(0..4), digits(4..8), digits(8..12), digits(12..24))
}

fn error_headers(status: u16) -> &'static [(&'static str, &'static str)] {
    match status {
        401 | 403 => &[("x-amzn-errortype", "AccessDeniedException")],
        404 => &[("x-amzn-errortype", "ResourceNotFoundException")],
        408 => &[("x-amzn-errortype", "ModelTimeoutException")],
        424 => &[("x-amzn-errortype", "ModelErrorException")],
        429 => &[("x-amzn-errortype", "ThrottlingException")],
        503 | 529 => &[("x-amzn-errortype", "ServiceUnavailableException")],
        400..=499 => &[("x-amzn-errortype", "ValidationException")],
        _ => &[("x-amzn-errortype", "InternalServerException")],
    }
}

fn status_body(status: u16) -> Value {
    let message = match status {
        401 | 403 => "The security token included in the request is invalid.",
        404 => "Could not resolve the foundation model from the provided model identifier.",
        408 => "Model has timed out in processing the request. Try your request again.",
        429 => "Too many requests, please wait before trying again.",
        400..=499 => "Bad Request",
        503 | 529 => "Bedrock is unable to process your request.",
        _ => "The system encountered an unexpected error during processing. Try your request again.",
    };
    json!({ "message": message })
}

/// The frame and its checksums are complete, but its payload is truncated.
fn malformed_frame() -> Vec<u8> {
    let mut frame = Vec::new();
    event_stream::write_event(&mut frame, "contentBlockDelta", br#"{"contentBlockIndex":"#.to_vec());
    frame
}

fn error_frame(kind: ErrorKind, _sent: &[u8]) -> Vec<u8> {
    let name = match kind {
        ErrorKind::Overloaded => "serviceUnavailableException",
        ErrorKind::Server => "internalServerException",
        ErrorKind::RateLimit => "throttlingException",
    };
    let mut frame = Vec::new();
    event_stream::write_exception(&mut frame, name, WIRE.error_body(kind).to_string().into_bytes());
    frame
}

/// The model and the action in `/model/{modelId}/{action}`. The model is one segment: slashes in it, as in an
/// ARN, are encoded.
fn model_and_action(path: &str) -> Option<(&str, &str)> {
    let (model, action) = path.strip_prefix(BEFORE_MODEL)?.split_once('/')?;
    (!model.is_empty() && !action.contains('/')).then_some((model, action))
}

/// A path segment, percent-encoded as the AWS SDKs do it: everything except the unreserved characters of RFC
/// 3986.
fn encoded(segment: &str) -> String {
    let mut text = String::with_capacity(segment.len() + 8);
    for byte in segment.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'~' => text.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => text.push(char::from(byte)),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// A percent-decoded segment. Invalid encodings are left as they are.
fn decoded(segment: &str) -> Cow<'_, str> {
    if !segment.contains('%') {
        return Cow::Borrowed(segment);
    }
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits =
            after.get(..2).filter(|digits| *first == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        let byte = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolChoice.html>
fn offer<'t, 'a>(body: Json<'t, 'a>) -> Offer<'t, 'a> {
    let config = body.field("toolConfig");
    let specs = config.field("tools").items().map(|tool| tool.field("toolSpec"));
    let named =
        |spec: Json<'t, 'a>| CallableTool::named(spec.field("name"), spec.field("inputSchema").field("json"));
    let choice = config.field("toolChoice");
    Offer {
        choice: match choice.get("any") {
            Some(_) => ToolChoice::Any,
            None => ToolChoice::only(choice.field("tool").field("name")),
        },
        ..Offer::of(specs.filter_map(named))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_read_from_paths_as_sdks_write_them() {
        let model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
        let path = "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse";
        assert_eq!(WIRE.post_path(model, Delivery::Whole), path);
        let expected = Route { streamed: Some(false), model: Some(model.into()) };
        assert_eq!(WIRE.route("POST", path), Some(expected));
        let arn = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/x1";
        let path = WIRE.post_path(arn, Delivery::Streamed);
        assert_eq!(
            path,
            "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fx1/converse-stream"
        );
        assert_eq!(WIRE.route("POST", &path).and_then(|route| route.model).as_deref(), Some(arn));
        assert_eq!(decoded("a%3a%zz%"), "a:%zz%");
        for path in ["/model//converse", "/model/m", "/model/m/invoke", "/model/a/b/converse"] {
            assert_eq!(WIRE.route("POST", path), None, "{path}");
        }
    }
}
