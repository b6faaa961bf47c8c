//! OpenAI Responses: what the events of a stream, or a whole body, say.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::wire::decode::{ReadEvent, ReplyEvent, text_of, whole_call};
use crate::wire::sse::SseEvent;

/// Reads the events of one stream.
#[derive(Debug, Default)]
pub(super) struct ResponsesEvents {
    /// Open calls by the place of their item, and whether any of their arguments have come.
    open: BTreeMap<u64, bool>,
}

impl ReadEvent for ResponsesEvents {
    fn event(&mut self, event: SseEvent<'_>, said: &mut dyn FnMut(ReplyEvent)) {
        let Ok(data) = serde_json::from_str::<Value>(event.data) else {
            return said(ReplyEvent::Unknown(event.data.to_owned()));
        };
        let index = data["output_index"].as_u64().unwrap_or(0);
        match data["type"].as_str().unwrap_or_default() {
            "response.output_text.delta" => said(ReplyEvent::Text(text_of(&data["delta"]))),
            "response.reasoning_summary_text.delta" => said(ReplyEvent::Thought(text_of(&data["delta"]))),
            "response.output_item.done" if data["item"]["type"] == "reasoning" => {
                said(ReplyEvent::ThoughtEnd { signature: signature_of(&data["item"]) });
            }
            "response.output_item.added" if is_call(&data["item"]) => {
                self.open.insert(index, false);
                let item = &data["item"];
                said(ReplyEvent::CallStart {
                    index,
                    id: text_of(&item["call_id"]),
                    name: text_of(&item["name"]),
                });
                said(call_signature(index, item));
            }
            "response.function_call_arguments.delta" => {
                if let Some(has_arguments) = self.open.get_mut(&index) {
                    *has_arguments = true;
                    said(ReplyEvent::CallArgs { index, fragment: text_of(&data["delta"]) });
                }
            }
            "response.output_item.done" if is_call(&data["item"]) => match self.open.remove(&index) {
                Some(has_arguments) => {
                    if !has_arguments {
                        let fragment = text_of(&data["item"]["arguments"]);
                        said(ReplyEvent::CallArgs { index, fragment });
                    }
                    said(ReplyEvent::CallEnd { index });
                }
                None => call(index, &data["item"], said),
            },
            "response.completed" => {
                said(ReplyEvent::Stop(text_of(&data["response"]["status"])));
                said(ReplyEvent::End);
            }
            "response.incomplete" => {
                said(ReplyEvent::Stop(text_of(&data["response"]["incomplete_details"]["reason"])));
                said(ReplyEvent::End);
            }
            "response.failed" => said(error(&data["response"]["error"])),
            "error" => said(error(&data)),
            _ => {}
        }
    }
}

/// What a body says that is not a stream.
pub(super) fn whole(body: &Value, said: &mut dyn FnMut(ReplyEvent)) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for (index, item) in list(&body["output"]).iter().enumerate() {
        if is_call(item) {
            call(index as u64, item, said);
        }
        if item["type"] == "reasoning" {
            let summary = list(&item["summary"]);
            summary.iter().for_each(|part| said(ReplyEvent::Thought(text_of(&part["text"]))));
            said(ReplyEvent::ThoughtEnd { signature: signature_of(item) });
        }
        for part in list(&item["content"]).iter().filter(|part| part["type"] == "output_text") {
            said(ReplyEvent::Text(text_of(&part["text"])));
        }
    }
    said(ReplyEvent::Stop(text_of(&body["status"])));
}

/// What a client gives back of an item of reasoning besides its summary, as the text of an object.
fn signature_of(item: &Value) -> Option<String> {
    let encrypted = item["encrypted_content"].as_str()?;
    Some(json!({ "id": item["id"], "encrypted_content": encrypted }).to_string())
}

/// The id of an item binds a call to the reasoning that it came of.
fn call_signature(index: u64, item: &Value) -> ReplyEvent {
    ReplyEvent::CallSignature { index, signature: text_of(&item["id"]) }
}

fn is_call(item: &Value) -> bool {
    item["type"] == "function_call"
}

fn call(index: u64, item: &Value, said: &mut dyn FnMut(ReplyEvent)) {
    let mut said = |event| {
        let is_start = matches!(event, ReplyEvent::CallStart { .. });
        said(event);
        if is_start {
            said(call_signature(index, item));
        }
    };
    whole_call(index, &item["call_id"], &item["name"], text_of(&item["arguments"]), &mut said);
}

/// An error has its code where other dialects have a type.
fn error(error: &Value) -> ReplyEvent {
    ReplyEvent::Error { kind: text_of(&error["code"]), message: text_of(&error["message"]) }
}
