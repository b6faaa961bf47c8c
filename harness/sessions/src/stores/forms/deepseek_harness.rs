//! DeepSeek Harness (`dsh`): `sessions/<project>/<session>/session.jsonl`, often packed with Zstandard, a log of events.
//!
//! Three kinds of events have a message. Each is appended to the messages that the model sees, or takes the place of some of
//! them. On resume, the calls of a turn that was interrupted are answered. Source: `foldSurface` and `deriveEventMessage` in
//! `types/surface.js` and `interruptedTurnClosers` in `types/repair.js` of the npm package `@deepseek-ai/dsh-session`, and
//! `serializeMessages` of `@deepseek-ai/dsh-llm-deepseek`.

use serde_json::{Map, Value, json};

use super::assembled::{Assembled, Assembly};
use super::{BASE, BY_ROLE, CallAt, Form, Piece, ResultAt, Sends, Shape, Speaker};
use crate::json::{lines, trouble};
use crate::stores::Look;
use crate::stores::codex::unpack::{head, unpack};
use crate::{Files, FormError, Place, Product, Trouble};

const EVENTS: &str = "JSONL of events";

pub(crate) const FORM: Form = Form {
    product: Product::DeepseekHarness,
    generation: EVENTS,
    other: Some(Assembly { owns: is_log, assemble }),
    shape: Shape::Speakers(&[Speaker {
        at: "",
        role: BY_ROLE,
        pieces: &[Piece::Parts(
            "/content",
            "/type",
            &[
                ("text", Piece::Text("/text")),
                ("reasoning", Piece::Thinking("/text", "/none")),
                ("tool-call", Piece::Call(CallAt { id: "/id", name: "/name", arguments: "/arguments" })),
                (
                    "tool-result",
                    Piece::Result(ResultAt {
                        call: "/toolCallId",
                        name: "/none",
                        output: "/content",
                        failed: Some(("/isError", "true")),
                    }),
                ),
                ("image", Piece::Skip),
            ],
        )],
    }]),
    model: &["/model"],
    sends: Sends::In("", &Sends::AsStored),
    ..BASE
};

/// The description of a call that came without an id and a name
/// (<https://github.com/xintaofei/deepseek-acp/issues/2>).
const NAMELESS: &str = "a call without an id and a name: the server's stream had neither, so the product found no tool \
     (take the turn back, and ask a server that sends both)";

/// The events that have a message.
const SPEAKING: [&str; 3] = ["user/message", "assistant/message", "tool/result"];

/// Returns whether the first line is the header of a log, and the next lines are events of the product.
fn is_log(look: &Look<'_>) -> bool {
    let Some(head) = head(look.main()) else { return false };
    let mut first = lines(&head).map(|line| serde_json::from_slice::<Value>(line.bytes).unwrap_or_default());
    let is_header = first.next().is_some_and(|header| {
        header["type"] == "session" && header["id"].is_string() && header["delegationDepth"].is_u64()
    });
    is_header && first.next().is_none_or(|event| event.is_null() || event["seq"].is_u64())
}

fn assemble(files: &Files) -> Result<Vec<Assembled>, FormError> {
    let unpacked = unpack(files.main())?;
    let mut log = Log::default();
    for line in lines(&unpacked.bytes) {
        let place = Place::in_line(line.n, line.span(), "");
        match serde_json::from_slice::<Value>(line.bytes) {
            Ok(mut event) => log.take(&mut event, place),
            Err(_) => log.found.lose(place, trouble(line.bytes).to_string()),
        }
    }
    let Log { surface, own, mut found } = log;
    if let Some(why) = unpacked.cut {
        found.lose(Place::default(), why.to_owned());
    }
    found.generation = EVENTS;
    found.own = Some(Value::Object(own).to_string());
    found.records = surface.into_iter().map(|entry| (entry.place, entry.message.to_string())).collect();
    Ok(vec![found])
}

/// A message that the model sees.
struct Entry {
    seq: u64,
    place: Place,
    message: Value,
}

/// The state of the product when it reads the log.
#[derive(Default)]
struct Log {
    surface: Vec<Entry>,
    /// The session's own fields: its provider and its model.
    own: Map<String, Value>,
    found: Assembled,
}

impl Log {
    fn take(&mut self, event: &mut Value, place: Place) {
        let kind = event["type"].as_str().unwrap_or_default();
        match kind {
            "session" => self.found.id = event["id"].as_str().map(str::to_owned),
            "request/context" => {
                for field in ["provider", "model"] {
                    self.own.insert(field.to_owned(), event["data"][field].take());
                }
            }
            _ if SPEAKING.contains(&kind) => {
                let (at, message) = match event["data"].get_mut("message") {
                    Some(message) => ("/data/message", message.take()),
                    None => ("/data", event["data"].take()),
                };
                let entry = Entry {
                    seq: event["seq"].as_u64().unwrap_or_default(),
                    place: Place { pointer: at.to_owned(), ..place },
                    message: by_parts(message),
                };
                if has_nameless_call(&entry.message) {
                    let place = entry.place.clone();
                    self.found.troubles.push(Trouble { place, words: NAMELESS.to_owned(), loses: None });
                }
                self.admit(entry, &event["surfaceOp"]);
            }
            _ => {}
        }
    }

    /// Appends a message, or puts it in the place of others. A reply without content only counts tokens.
    fn admit(&mut self, entry: Entry, operation: &Value) {
        let position = |seq: &Value| {
            let seq = seq.as_u64()?;
            self.surface.iter().position(|entry| entry.seq == seq)
        };
        match (position(&operation["start"]), position(&operation["end"])) {
            (Some(start), Some(end)) if start <= end => {
                let shadowed = self.surface.splice(start..=end, [entry]);
                let before = shadowed.map(|entry| (entry.place, entry.message.to_string()));
                self.found.before.extend(before);
                self.found.n_compactions += usize::from(end > start);
            }
            _ if entry.message["content"].as_array().is_none_or(Vec::is_empty) => {}
            _ => self.surface.push(entry),
        }
    }
}

fn has_nameless_call(message: &Value) -> bool {
    let mut parts = message["content"].as_array().into_iter().flatten();
    parts.any(|part| part["type"] == "tool-call" && part["id"] == "" && part["name"] == "")
}

/// A message with its result as a part. Since version 4 of the log, a message of the role `tool` is one result.
fn by_parts(mut message: Value) -> Value {
    if message["role"] == "tool" {
        let content = message["content"].take();
        let (call, failed) = (message["toolCallId"].take(), message["isError"].take());
        message["content"] =
            json!([{ "type": "tool-result", "toolCallId": call, "content": content, "isError": failed }]);
    }
    let is_result = message["content"][0]["type"] == "tool-result";
    if is_result {
        message["role"] = json!("tool");
    }
    message
}
