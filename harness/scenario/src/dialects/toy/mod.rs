//! A minimal dialect that no provider uses. A test uses it to check that the list "Adding a dialect" in
//! `ARCHITECTURE.md` is complete. It is compiled only with the `toy-dialect` feature.
//!
//! A reply is a list of `{"text": …}`, `{"call": …}` and `{"stop": …}`, each an event of the stream. A
//! message in a request contains such a list, and may also contain `{"result": …}`.

use serde_json::{Value, json};

use crate::history::Content;
use crate::plan::{Mark, Plan, PlannedCall, Script, ScriptBlock};
use crate::scenario::Stop;
use crate::wire::decode::{ReadEvent, ReplyEvent, SseDecoder, error, text_of, tokens, whole_call};
use crate::wire::frames::Encoded;
use crate::wire::history::{of_messages, owned_text, string};
use crate::wire::marks::blocks;
use crate::wire::offer::{CallableTool, Offer};
use crate::wire::request::{RequestForm, list};
use crate::wire::sse::SseEvent;
use crate::wire::thread::{Block, Message};
use crate::wire::{DialectTraits, Envelope, Overflow, Paths, Wire, malformed_event, usual_request_id};
use brickbat_rules::json::{Document, Json};

pub(crate) const WIRE: Wire = Wire {
    traits: DialectTraits {
        paths: Paths::Fixed("/toy"),
        message_id_prefix: "toy_",
        stop_words: &[(Stop::Length, "length"), (Stop::Calls, "calls"), (Stop::End, "end")],
        is_whole_at_stop: true,
        ends_with_stop: true,
        streams_arguments: false,
        ..DialectTraits::USUAL
    },
    path_owner: None,
    sdk_base: "",
    sdk_variable: None,
    sends_pictures: false,
    request: RequestForm {
        current_model: "toy-1",
        newer_model: None,
        head: r#","messages":"#,
        thinking: "",
        usage: "",
        tool: |tool| json!({ "name": tool.name, "schema": tool.input_schema }),
        search: None,
        declarations_key: None,
        messages: |out, thread| list(out, thread, message),
    },
    side_answer: |_, _, _| None,
    asks_for_usage: |_| false,
    asks_to_think: None,
    offers_search: None,
    tool_names: |tool| Vec::from_iter(owned_text(tool.field("name"))),
    offer,
    history: |body| of_messages(body, content_of),
    request_id: usual_request_id,
    error_headers: |_| &[],
    stream,
    whole,
    block_marks: |script, _| blocks(script, |key, marks| marks.push(Mark::End(key))),
    status_body: |status| json!({ "error": { "type": "toy", "message": status.to_string() } }),
    overflow: Overflow {
        body: || json!({ "error": { "type": "toy", "message": "too long" } }),
        sign: "too long",
    },
    error_frame: |kind, _| event(&WIRE.error_body(kind)),
    malformed_frame: malformed_event,
    decoder: || Box::new(SseDecoder::<Events>::default()),
    decode_whole,
};

fn event(value: &Value) -> Vec<u8> {
    format!("data: {value}\n\n").into_bytes()
}

fn call(call: &PlannedCall) -> Value {
    json!({ "call": { "id": call.id, "name": call.tool, "args": call.args } })
}

fn stop(script: &Script, envelope: Envelope<'_>) -> Value {
    json!({ "stop": WIRE.stop_word_of(script), "tokens": envelope.tokens.total() })
}

fn stream(plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Encoded {
    let mut encoded = Encoded::with_capacity(1024);
    let mut marks = (WIRE.block_marks)(script, &plan.calls).into_iter();
    for block in &script.blocks {
        let events = match block {
            ScriptBlock::Think(_) | ScriptBlock::Server(_) => Vec::new(),
            ScriptBlock::Text(fragments) => fragments.iter().map(|text| json!({ "text": text })).collect(),
            ScriptBlock::Call(key) => vec![call(&plan.calls[key.0 as usize])],
        };
        for value in events {
            encoded.frame(|out| out.extend(event(&value)));
            marks.next().into_iter().for_each(|mark| encoded.mark(mark));
        }
    }
    if script.has_calls() {
        encoded.mark(Mark::Calls);
    }
    encoded.frame(|out| out.extend(event(&stop(script, envelope))));
    encoded.mark(Mark::Stop);
    encoded.mark(Mark::Reply);
    encoded
}

fn whole(plan: &Plan, script: &Script, envelope: Envelope<'_>) -> Value {
    let blocks = script.blocks.iter().filter_map(|block| match block {
        ScriptBlock::Think(_) | ScriptBlock::Server(_) => None,
        ScriptBlock::Text(fragments) => Some(json!({ "text": fragments.concat() })),
        ScriptBlock::Call(key) => Some(call(&plan.calls[key.0 as usize])),
    });
    blocks.chain([stop(script, envelope)]).collect()
}

#[derive(Debug, Default)]
struct Events {
    n_calls: u64,
}

impl ReadEvent for Events {
    fn event(&mut self, event: SseEvent<'_>, said: &mut dyn FnMut(ReplyEvent)) {
        let Ok(document) = Document::parse(event.data.as_bytes()) else {
            return said(ReplyEvent::Unknown(event.data.to_owned()));
        };
        let value = document.root();
        self.piece(value, said);
        if !value.field("stop").is_null() {
            said(ReplyEvent::End);
        }
    }
}

impl Events {
    fn piece(&mut self, value: Json, said: &mut dyn FnMut(ReplyEvent)) {
        let (call, failure) = (value.field("call"), value.field("error"));
        if let Some(text) = value.field("text").as_str() {
            said(ReplyEvent::Text(text.into_owned()));
        } else if call.is_object() {
            let args = call.field("args").to_value().to_string();
            whole_call(self.n_calls, call.field("id"), call.field("name"), args, said);
            self.n_calls += 1;
        } else if failure.is_object() {
            said(error(failure));
        } else {
            tokens(value, &["tokens"]).into_iter().for_each(&mut *said);
            said(ReplyEvent::Stop(text_of(value.field("stop"))));
        }
    }
}

fn decode_whole(body: Json, said: &mut dyn FnMut(ReplyEvent)) {
    let mut events = Events::default();
    if body.is_array() {
        body.items().for_each(|piece| events.piece(piece, said));
    } else {
        events.piece(body, said);
    }
}

fn message(out: &mut Vec<u8>, message: &Message) {
    let (role, content): (&str, Vec<Value>) = match message {
        Message::User(text) => ("user", vec![json!({ "text": text })]),
        Message::Assistant(blocks) => {
            let content = blocks.iter().filter_map(|block| match block {
                Block::Thought(_) | Block::Server(_) => None,
                Block::Text(text) => Some(json!({ "text": text })),
                Block::Call(call) => {
                    let args: Value = serde_json::from_slice(call.json_args()).unwrap_or_default();
                    Some(json!({ "call": { "id": call.id, "name": call.tool, "args": args } }))
                }
            });
            ("assistant", content.collect())
        }
        Message::Results(results) => {
            let content = results.iter().map(|result| {
                json!({ "result": { "id": result.call_id, "text": result.text, "is_error": result.is_error } })
            });
            ("tool", content.collect())
        }
    };
    out.extend(json!({ "role": role, "content": content }).to_string().into_bytes());
}

fn content_of(block: Json) -> Content {
    let (text, call, result) = (block.field("text"), block.field("call"), block.field("result"));
    let (id, name) = (string(call.field("id")), string(call.field("name")));
    if text.is_str() {
        Content::Text { text: string(text) }
    } else if call.is_object() {
        Content::Call { id, name, args: call.field("args").to_value() }
    } else if result.is_object() {
        let is_error = result.field("is_error").as_bool();
        Content::Result { id: string(result.field("id")), text: string(result.field("text")), is_error }
    } else {
        Content::Raw { value: block.to_value() }
    }
}

fn offer<'t, 'a>(body: Json<'t, 'a>) -> Offer<'t, 'a> {
    let named = |tool: Json<'t, 'a>| CallableTool::named(tool.field("name"), tool.field("schema"));
    Offer::of(body.field("tools").items().filter_map(named))
}
