//! Bedrock Converse, `POST /model/{modelId}/converse` and `/converse-stream`:
//! <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html>.

mod decode;
mod encode;
mod history;

use std::borrow::Cow;

use serde_json::{Value, json};

use super::decode::{Decode, ReplyEvent};
use super::{ALPHANUMERIC, Encoded, Envelope, IdForm, Route, Wire, event_stream};
use crate::history::History;
use crate::plan::{Mark, Plan, PlannedCall, Script};
use crate::scenario::{ErrorKind, Stop};
use brickbat_rules::json::Json;

/// The wire of `bedrock-converse`.
#[derive(Debug)]
pub(super) struct BedrockConverse;

const BEFORE_MODEL: &str = "/model/";
const WHOLE: &str = "converse";
const STREAMED: &str = "converse-stream";

impl Wire for BedrockConverse {
    fn route<'a>(&self, method: &str, path: &'a str) -> Option<Route<'a>> {
        let (model, action) = model_and_action(path).filter(|_| method == "POST")?;
        let streamed = match action {
            WHOLE => false,
            STREAMED => true,
            _ => return None,
        };
        Some(Route { streamed: Some(streamed), model: Some(decoded(model)) })
    }

    fn post_path(&self, model: &str, streamed: bool) -> String {
        format!("{BEFORE_MODEL}{}/{}", encoded(model), if streamed { STREAMED } else { WHOLE })
    }

    /// <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens.html>
    fn beside(&self, method: &str, path: &str, body: &[u8]) -> Option<Value> {
        let counts =
            method == "POST" && model_and_action(path).is_some_and(|(_, action)| action == "count-tokens");
        counts.then(|| json!({ "inputTokens": body.len() / 4 }))
    }

    fn shows_thinking(&self) -> bool {
        true
    }

    /// Claude is asked in its own words (<https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html>).
    fn asks_to_think(&self, body: Json) -> bool {
        let fields = body.field("additionalModelRequestFields");
        let asks = |name: &str| {
            let kind = fields.field(name).field("type");
            kind.is_str() && !kind.is("disabled")
        };
        asks("thinking") || asks("reasoning_config")
    }

    fn offers_tools(&self, body: Json) -> bool {
        !body.field("toolConfig").field("tools").is_empty()
    }

    fn offered_tools(&self, body: Json) -> Vec<String> {
        let tools = body.field("toolConfig").field("tools").items();
        tools.filter_map(|tool| tool.field("toolSpec").field("name").as_str().map(Cow::into_owned)).collect()
    }

    fn history(&self, body: Json) -> History {
        history::history(body)
    }

    fn stream_type(&self) -> &'static str {
        event_stream::CONTENT_TYPE
    }

    fn request_id_header(&self) -> &'static str {
        "x-amzn-requestid"
    }

    /// A UUID.
    fn request_id(&self, unique: &str) -> String {
        let digits = |range| unique.get(range).unwrap_or_default();
        format!("62726963-{}-{}-{}-{}", digits(0..4), digits(4..8), digits(8..12), digits(12..24))
    }

    /// Messages have no id here.
    fn message_id(&self, unique: &str) -> String {
        unique.to_owned()
    }

    fn call_id(&self) -> IdForm {
        IdForm { prefix: "tooluse_", n_letters: 22, alphabet: ALPHANUMERIC }
    }

    fn error_headers(&self, status: u16) -> &'static [(&'static str, &'static str)] {
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

    fn encode_stream(&self, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
        encode::stream(plan, script, envelope)
    }

    fn encode_whole(&self, plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Value {
        encode::whole(plan, script, envelope)
    }

    fn block_marks(&self, script: &Script, calls: &[PlannedCall]) -> Vec<Mark> {
        encode::block_marks(script, calls)
    }

    /// Behind the stop reason only tokens and times are told.
    fn is_whole_at_stop(&self) -> bool {
        true
    }

    fn stop_word(&self, stop: Stop) -> Option<&'static str> {
        match stop {
            Stop::Length => Some("max_tokens"),
            Stop::Pause => None,
            Stop::Refusal => Some("content_filtered"),
            Stop::Calls => Some("tool_use"),
            Stop::End => Some("end_turn"),
        }
    }

    fn status_body(&self, status: u16) -> Value {
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

    /// The frame is whole, with its checksums, and what it carries is not.
    fn malformed_frame(&self) -> Vec<u8> {
        let mut frame = Vec::new();
        event_stream::write_event(&mut frame, "contentBlockDelta", br#"{"contentBlockIndex":"#.to_vec());
        frame
    }

    fn error_frame(&self, kind: ErrorKind) -> Vec<u8> {
        let name = match kind {
            ErrorKind::Overloaded => "serviceUnavailableException",
            ErrorKind::Server => "internalServerException",
            ErrorKind::RateLimit => "throttlingException",
        };
        let body = self.status_body(self.error_status(kind));
        let mut frame = Vec::new();
        event_stream::write_exception(&mut frame, name, body.to_string().into_bytes());
        frame
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(decode::Frames::default())
    }

    fn decode_whole(&self, body: &Value, said: &mut dyn FnMut(ReplyEvent)) {
        decode::whole(body, said);
    }
}

/// The parts of `/model/{modelId}/{action}`. The model is one segment: its slashes, as an ARN has them, are encoded.
fn model_and_action(path: &str) -> Option<(&str, &str)> {
    let (model, action) = path.strip_prefix(BEFORE_MODEL)?.split_once('/')?;
    (!model.is_empty() && !action.contains('/')).then_some((model, action))
}

/// A path segment, percent-encoded as the AWS SDKs do it: all but the unreserved characters of RFC 3986.
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

/// A percent-encoded segment in the clear. What is not encoded rightly stands for itself.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_read_off_paths_as_sdks_write_them() {
        let model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
        let path = "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse";
        assert_eq!(BedrockConverse.post_path(model, false), path);
        let expected = Route { streamed: Some(false), model: Some(model.into()) };
        assert_eq!(BedrockConverse.route("POST", path), Some(expected));
        let arn = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/x1";
        let path = BedrockConverse.post_path(arn, true);
        assert_eq!(
            path,
            "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fx1/converse-stream"
        );
        assert_eq!(BedrockConverse.route("POST", &path).and_then(|route| route.model).as_deref(), Some(arn));
        assert_eq!(decoded("a%3a%zz%"), "a:%zz%");
        for path in ["/model//converse", "/model/m", "/model/m/invoke", "/model/a/b/converse"] {
            assert_eq!(BedrockConverse.route("POST", path), None, "{path}");
        }
    }
}
