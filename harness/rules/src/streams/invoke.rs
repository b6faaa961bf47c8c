//! The Bedrock InvokeModel envelope around events in a model's own dialect: binary frames named `chunk`, with
//! the event as base64
//! (<https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream.html>).

use serde_json::json;

use crate::base64;
use crate::frames::{Frame, FrameKind};
use crate::json::Document;

/// An event from a frame.
#[derive(Debug)]
pub(crate) struct Unwrapped {
    pub(crate) name: String,
    pub(crate) data: Vec<u8>,
}

/// Returns the event in a frame, or the reason why there is none. An error of the service becomes an error
/// event.
pub(crate) fn unwrap(frame: &Frame<'_>) -> Result<Unwrapped, &'static str> {
    match frame.kind() {
        FrameKind::Event if frame.name() == "chunk" => chunk(frame.payload()),
        FrameKind::Event => Err("a frame of InvokeModel is named `chunk`"),
        FrameKind::Exception | FrameKind::Error => Ok(failure(frame)),
        FrameKind::Unknown => Err("the frame has no known `:message-type`"),
    }
}

fn chunk(payload: &[u8]) -> Result<Unwrapped, &'static str> {
    let document = Document::parse(payload).map_err(|_| "the payload of the frame is not JSON")?;
    let bytes = document.root().field("bytes").as_str().ok_or("the chunk has no `bytes`")?;
    let data = base64::decode(&bytes).ok_or("the bytes of the chunk are not base64")?;
    let name =
        Document::parse(&data).ok().and_then(|event| Some(event.root().field("type").as_str()?.into_owned()));
    Ok(Unwrapped { name: name.unwrap_or_default(), data })
}

fn failure(frame: &Frame<'_>) -> Unwrapped {
    let document = Document::parse(frame.payload()).ok();
    let message = document.as_ref().and_then(|body| body.root().field("message").as_str());
    let message = message.unwrap_or_default();
    let data = json!({ "type": "error", "error": { "type": frame.name(), "message": message } });
    Unwrapped { name: "error".to_owned(), data: data.to_string().into_bytes() }
}
