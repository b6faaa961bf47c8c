//! OpenAI Responses: decodes the events of a stream, and complete bodies.

use std::collections::BTreeMap;

use serde_json::json;

use super::names;
use crate::wire::decode::{ReadEvent, ReplyEvent, text_of, tokens};
use crate::wire::sse::SseEvent;
use brickbat_rules::json::{Document, Json};

/// Reads the events of one stream.
#[derive(Debug, Default)]
pub(super) struct ResponsesEvents {
    /// The open calls by the index of their item; true if any of their arguments have arrived.
    open: BTreeMap<u64, bool>,
}

impl ReadEvent for ResponsesEvents {
    fn event(&mut self, event: SseEvent<'_>, said: &mut dyn FnMut(ReplyEvent)) {
        let Ok(document) = Document::parse(event.data.as_bytes()) else {
            return said(ReplyEvent::Unknown(event.data.to_owned()));
        };
        let data = document.root();
        let index = data.field("output_index").as_u64().unwrap_or(0);
        match &*data.field("type").as_str().unwrap_or_default() {
            "response.output_text.delta" => said(ReplyEvent::Text(text_of(data.field("delta")))),
            "response.reasoning_summary_text.delta" => {
                said(ReplyEvent::Thought(text_of(data.field("delta"))))
            }
            "response.output_item.done" if data.field("item").field("type").is("reasoning") => {
                said(ReplyEvent::ThoughtEnd { signature: signature_of(data.field("item")) });
            }
            "response.output_item.added" if is_call(data.field("item")) => {
                self.open.insert(index, false);
                let item = data.field("item");
                said(ReplyEvent::CallStart {
                    index,
                    id: text_of(item.field("call_id")),
                    name: names::of_call(item),
                });
                said(call_signature(index, item));
            }
            "response.function_call_arguments.delta" => {
                if let Some(has_arguments) = self.open.get_mut(&index) {
                    *has_arguments = true;
                    said(ReplyEvent::CallArgs { index, fragment: text_of(data.field("delta")) });
                }
            }
            "response.output_item.done" if is_call(data.field("item")) => match self.open.remove(&index) {
                Some(has_arguments) => {
                    if !has_arguments {
                        let fragment = text_of(data.field("item").field("arguments"));
                        said(ReplyEvent::CallArgs { index, fragment });
                    }
                    said(ReplyEvent::CallEnd { index });
                }
                None => call(index, data.field("item"), said),
            },
            "response.completed" => {
                let usage = data.field("response").field("usage");
                tokens(usage, &["total_tokens"]).into_iter().for_each(&mut *said);
                said(ReplyEvent::Stop(text_of(data.field("response").field("status"))));
                said(ReplyEvent::ResponseId(text_of(data.field("response").field("id"))));
                said(ReplyEvent::End);
            }
            "response.incomplete" => {
                said(ReplyEvent::Stop(text_of(
                    data.field("response").field("incomplete_details").field("reason"),
                )));
                said(ReplyEvent::End);
            }
            "response.failed" => said(error(data.field("response").field("error"))),
            "error" => said(error(data)),
            _ => {}
        }
    }
}

/// Decodes a body that is not a stream.
pub(super) fn whole(body: Json, said: &mut dyn FnMut(ReplyEvent)) {
    for (index, item) in (0..).zip(body.field("output").items()) {
        if is_call(item) {
            call(index, item, said);
        }
        if item.field("type").is("reasoning") {
            item.field("summary")
                .items()
                .for_each(|part| said(ReplyEvent::Thought(text_of(part.field("text")))));
            said(ReplyEvent::ThoughtEnd { signature: signature_of(item) });
        }
        for part in item.field("content").items().filter(|part| part.field("type").is("output_text")) {
            said(ReplyEvent::Text(text_of(part.field("text"))));
        }
    }
    tokens(body.field("usage"), &["total_tokens"]).into_iter().for_each(&mut *said);
    said(ReplyEvent::Stop(text_of(body.field("status"))));
    said(ReplyEvent::ResponseId(text_of(body.field("id"))));
}

/// The data that a client sends back for a reasoning item in addition to its summary, as a serialized object.
fn signature_of(item: Json) -> Option<String> {
    let encrypted = item.field("encrypted_content").as_str()?;
    Some(json!({ "id": item.field("id").to_value(), "encrypted_content": encrypted }).to_string())
}

/// The id of a call's item binds the call to the reasoning that led to it.
fn call_signature(index: u64, item: Json) -> ReplyEvent {
    ReplyEvent::CallSignature { index, signature: text_of(item.field("id")) }
}

fn is_call(item: Json) -> bool {
    item.field("type").is("function_call")
}

fn call(index: u64, item: Json, said: &mut dyn FnMut(ReplyEvent)) {
    said(ReplyEvent::CallStart { index, id: text_of(item.field("call_id")), name: names::of_call(item) });
    said(call_signature(index, item));
    said(ReplyEvent::CallArgs { index, fragment: text_of(item.field("arguments")) });
    said(ReplyEvent::CallEnd { index });
}

/// An error has a code where other dialects have a type.
fn error(error: Json) -> ReplyEvent {
    ReplyEvent::Error { kind: text_of(error.field("code")), message: text_of(error.field("message")) }
}
