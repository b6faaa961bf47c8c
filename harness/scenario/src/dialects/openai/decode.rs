//! OpenAI Chat Completions: decodes the chunks of a stream, and complete bodies.

use crate::wire::decode::{ReadEvent, ReplyEvent, error, text_of, tokens, whole_call};
use crate::wire::sse::SseEvent;
use brickbat_rules::json::{Document, Json};

/// Reads the chunks of one stream.
#[derive(Debug, Default)]
pub(super) struct ChatChunks {
    /// The open calls: no chunk closes a single call; the finish reason closes all of them.
    open: Vec<Open>,
    /// The number of calls so far.
    n_calls: u64,
}

/// A call that has begun.
#[derive(Debug)]
struct Open {
    /// The number that the rest of the harness uses for the call.
    index: u64,
    /// The call's number on the wire. Some gateways give all calls in a reply the same number, or none
    /// (<https://github.com/apache/maka/issues/1976>).
    number: Option<u64>,
    id: String,
}

impl ChatChunks {
    /// The open call that a piece belongs to, unless the piece begins a new one. A different id begins a
    /// call, and so does a name without an id, whatever the number.
    fn goes_on(&self, number: Option<u64>, id: &str, name: &str) -> Option<u64> {
        let open = self.open.iter().rev().find(|open| open.number == number)?;
        let begins = if id.is_empty() { !name.is_empty() } else { open.id != id };
        (!begins).then_some(open.index)
    }
}

impl ReadEvent for ChatChunks {
    fn event(&mut self, event: SseEvent<'_>, said: &mut dyn FnMut(ReplyEvent)) {
        if event.data.starts_with("[DONE]") {
            return said(ReplyEvent::End);
        }
        let Ok(document) = Document::parse(event.data.as_bytes()) else {
            return said(ReplyEvent::Unknown(event.data.to_owned()));
        };
        let data = document.root();
        if data.field("error").is_object() {
            return said(error(data.field("error")));
        }
        tokens(data.field("usage"), &COUNTS).into_iter().for_each(&mut *said);
        let choice = data.field("choices").item(0);
        let delta = choice.field("delta");
        if let Some(text) = delta.field("content").as_str().filter(|text| !text.is_empty()) {
            said(ReplyEvent::Text(text.into_owned()));
        }
        for call in delta.field("tool_calls").items() {
            let (id, name) = (text_of(call.field("id")), text_of(call.field("function").field("name")));
            let number = call.field("index").as_u64();
            let index = match self.goes_on(number, &id, &name) {
                Some(index) => index,
                None => {
                    let index = self.n_calls;
                    self.n_calls += 1;
                    self.open.push(Open { index, number, id: id.clone() });
                    said(ReplyEvent::CallStart { index, id, name });
                    index
                }
            };
            if let Some(fragment) =
                call.field("function").field("arguments").as_str().filter(|fragment| !fragment.is_empty())
            {
                said(ReplyEvent::CallArgs { index, fragment: fragment.into_owned() });
            }
        }
        if let Some(reason) = choice.field("finish_reason").as_str() {
            self.open.drain(..).for_each(|open| said(ReplyEvent::CallEnd { index: open.index }));
            said(ReplyEvent::Stop(reason.into_owned()));
        }
    }
}

const COUNTS: [&str; 1] = ["total_tokens"];

/// Decodes a body that is not a stream.
pub(super) fn whole(body: Json, said: &mut dyn FnMut(ReplyEvent)) {
    let choice = body.field("choices").item(0);
    let message = choice.field("message");
    if let Some(text) = message.field("content").as_str() {
        said(ReplyEvent::Text(text.into_owned()));
    }
    for (index, call) in (0..).zip(message.field("tool_calls").items()) {
        let function = call.field("function");
        whole_call(
            index,
            call.field("id"),
            function.field("name"),
            text_of(function.field("arguments")),
            said,
        );
    }
    tokens(body.field("usage"), &COUNTS).into_iter().for_each(&mut *said);
    said(ReplyEvent::Stop(text_of(choice.field("finish_reason"))));
}
