//! One request with its reply, and the two files that they become.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{MAX_FILE_BYTES, cut, order, pieces};
use brickbat_engine::provider::{Answer, Request, Sent};
use brickbat_rules::redact::{REDACTED, Redactor, is_credential_header};
use brickbat_scenario::trace::{Ending, Event, ExchangeId, Held, Trace};
use brickbat_scenario::wire;

/// One request with its reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    pub id: ExchangeId,
    pub method: String,
    /// The path below the plan's base URL.
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Arc<[u8]>,
    pub reply: Reply,
}

/// The planned reply to a request. The trace shows which part of it was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    pub status: u16,
    /// Headers besides the framing ones, as `name: value`.
    pub headers: Vec<String>,
    /// True if the body is a stream in chunks, one for each frame.
    pub streamed: bool,
    /// The body. A binary frame is written as its headers, an empty line, and its payload.
    pub frames: Vec<String>,
    /// The positions at which the provider stops until it is released.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<Hold>,
    /// The planned end of the body.
    pub ending: Ending,
}

/// A position in a reply at which the provider stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The number of frames sent by then. `None` if not even the head was sent.
    pub after_frames: Option<usize>,
    /// The same position in the plan's terms.
    pub at: Held,
}

impl Exchange {
    pub fn new(request: Request<'_>, answer: &Answer) -> Exchange {
        let content_type = answer.headers.iter().find(|(name, _)| *name == "content-type");
        let content_type = content_type.map_or("", |(_, value)| value);
        let frame = |at: usize| wire::frame_text(content_type, answer.frames.slice(at..at + 1));
        let hold = |hold: &brickbat_engine::provider::Hold| Hold {
            after_frames: match hold.after {
                Sent::Nothing => None,
                Sent::Frames(n) => Some(n),
            },
            at: hold.at,
        };
        let headers = request.headers.iter().map(|(name, value)| (name.into_owned(), value.into_owned()));
        Exchange {
            id: answer.exchange,
            method: request.method.to_owned(),
            path: request.path.to_owned(),
            headers: headers.collect(),
            body: request.body.into(),
            reply: Reply {
                status: answer.status,
                headers: answer.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect(),
                streamed: answer.streamed,
                frames: (0..answer.frames.len()).map(frame).collect(),
                holds: answer.holds.iter().map(hold).collect(),
                ending: answer.ending,
            },
        }
    }

    /// A header of the request. Names are compared without case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let is_it = |(own, _): &&(String, String)| own.eq_ignore_ascii_case(name);
        self.headers.iter().find(is_it).map(|(_, value)| &**value)
    }

    /// The request as a file: its body as JSON if that is equivalent, otherwise as text.
    pub(super) fn request_file(&self, redactor: &Redactor) -> RequestFile {
        let headers = self.headers.iter().map(|(name, value)| {
            let value =
                if is_credential_header(name) { REDACTED.into() } else { redactor.header(name, value) };
            format!("{name}: {}", cut(&value, MAX_HEADER_BYTES))
        });
        let mut file = RequestFile {
            method: self.method.clone(),
            path: redactor.text(&self.path).into_owned(),
            headers: headers.collect(),
            body: None,
            text: None,
        };
        let parsed: Option<Value> = match self.body.len() {
            n if n > MAX_FILE_BYTES => None,
            _ => serde_json::from_slice(&self.body).ok(),
        };
        let Some(value) = parsed else {
            let text = String::from_utf8_lossy(&self.body);
            file.text = Some(cut(&redactor.text(&text), MAX_FILE_BYTES)).filter(|text| !text.is_empty());
            return file;
        };
        let mut clean = value.clone();
        redactor.value(&mut clean);
        let says_the_same = serde_json::to_vec(&value).is_ok_and(|bytes| bytes == *self.body);
        if says_the_same || clean != value {
            file.body = Some(clean);
        } else {
            // The value loses duplicate keys of an object, and one of them may have a secret.
            file.text = Some(redactor.text(&String::from_utf8_lossy(&self.body)).into_owned());
        }
        file
    }

    /// The reply as a file, with the part of it that was sent.
    pub(super) fn reply_file(&self, redactor: &Redactor, trace: &Trace) -> Value {
        let mut reply = self.reply.clone();
        let mut room = MAX_FILE_BYTES;
        pieces::redact_frames(&mut reply.frames, redactor);
        for frame in &mut reply.frames {
            *frame = cut(frame, room);
            room = room.saturating_sub(frame.len());
        }
        let mut value = serde_json::to_value(&reply).unwrap_or_default();
        if let Some(fields) = value.as_object_mut() {
            fields.insert("reached".to_owned(), reached(self.id, trace).into());
        }
        value
    }
}

/// The number of bytes kept for one header; the server accepts 64 KiB for all headers.
const MAX_HEADER_BYTES: usize = 8 << 10;

/// `requests/000.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RequestFile {
    method: String,
    /// The path below the plan's base URL.
    path: String,
    /// The headers as `name: value`, in order.
    headers: Vec<String>,
    /// The body, if it is compact JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<Value>,
    /// The body exactly as it was sent, if it is anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl RequestFile {
    /// Rebuilds the exchange.
    pub(super) fn with(self, id: ExchangeId, reply: Reply) -> Exchange {
        let header = |line: &String| {
            let (name, value) = line.split_once(": ").unwrap_or((line, ""));
            (name.to_owned(), value.to_owned())
        };
        let body = match (&self.body, &self.text) {
            (Some(body), _) => serde_json::to_vec(body).unwrap_or_default(),
            (None, text) => text.clone().unwrap_or_default().into_bytes(),
        };
        Exchange {
            id,
            headers: self.headers.iter().map(header).collect(),
            method: self.method,
            path: self.path,
            body: body.into(),
            reply,
        }
    }
}

/// The part of a reply that was sent, according to the trace.
fn reached(id: ExchangeId, trace: &Trace) -> &'static str {
    if order::raced(trace).contains(&id) {
        return "the user stopped this turn; timing.json says how the reply ended";
    }
    let over = trace.events().iter().find_map(|event| match event {
        Event::Replied { exchange, .. } if *exchange == id => Some("all of it was sent"),
        Event::PeerClosed { exchange } if *exchange == id => {
            Some("the client closed the connection before all of it was sent")
        }
        _ => None,
    });
    over.unwrap_or("it was still being sent when the plan ended")
}
