//! From events of a stream, or a whole body, to what the model said.

use serde_json::Value;

use super::sse::{SseEvent, SseReader};
use crate::dialect::Dialect;

/// Something the model said, in any dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyEvent {
    /// A piece of text.
    Text(String),
    /// A call begins; `index` tells it from its siblings.
    CallStart {
        /// Position among the blocks or calls of the reply.
        index: u64,
        /// Its id.
        id: String,
        /// The tool.
        name: String,
    },
    /// A piece of a call's arguments.
    CallArgs {
        /// Which call.
        index: u64,
        /// The piece.
        fragment: String,
    },
    /// A call is complete.
    CallEnd {
        /// Which call.
        index: u64,
    },
    /// The stop reason.
    Stop(String),
    /// The terminal event.
    End,
    /// The provider reports an error inside the stream.
    Error {
        /// The provider's word for it.
        kind: String,
        /// What it says.
        message: String,
    },
    /// A frame that is not understood.
    Unknown(String),
}

/// Decodes a stream as it comes.
#[derive(Debug, Clone)]
pub struct Decoder {
    dialect: Dialect,
    reader: SseReader,
    /// Open calls, for dialects in which a call has no closing event.
    open: Vec<u64>,
    /// Blocks that are calls, for dialects in which closing events do not say what they close.
    call_blocks: Vec<u64>,
}

impl Decoder {
    /// A decoder at the start of a stream.
    pub fn new(dialect: Dialect) -> Decoder {
        Decoder { dialect, reader: SseReader::default(), open: Vec::new(), call_blocks: Vec::new() }
    }

    /// Takes bytes in any split and hands on what they say.
    pub fn feed(&mut self, bytes: &[u8], mut said: impl FnMut(ReplyEvent)) {
        let Decoder { dialect, reader, open, call_blocks } = self;
        reader.feed(bytes, |event| match dialect {
            Dialect::AnthropicMessages => anthropic(event, call_blocks, &mut said),
            Dialect::OpenaiChat => openai(event, open, &mut said),
        });
    }
}

/// Decodes a body that is not a stream.
pub fn decode_whole(dialect: Dialect, body: &[u8], mut said: impl FnMut(ReplyEvent)) {
    let Ok(body) = serde_json::from_slice::<Value>(body) else {
        return said(ReplyEvent::Unknown("a body that is not JSON".to_owned()));
    };
    match dialect {
        Dialect::AnthropicMessages => {
            let blocks = body["content"].as_array().map(Vec::as_slice).unwrap_or_default();
            for (index, block) in blocks.iter().enumerate() {
                let index = index as u64;
                match block["type"].as_str() {
                    Some("text") => said(ReplyEvent::Text(text_of(&block["text"]))),
                    Some("tool_use") => {
                        whole_call(
                            index,
                            &block["id"],
                            &block["name"],
                            block["input"].to_string(),
                            &mut said,
                        );
                    }
                    other => said(ReplyEvent::Unknown(other.unwrap_or_default().to_owned())),
                }
            }
            said(ReplyEvent::Stop(text_of(&body["stop_reason"])));
        }
        Dialect::OpenaiChat => {
            let choice = &body["choices"][0];
            let message = &choice["message"];
            if let Some(text) = message["content"].as_str() {
                said(ReplyEvent::Text(text.to_owned()));
            }
            let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
            for (index, call) in calls.iter().enumerate() {
                let function = &call["function"];
                whole_call(
                    index as u64,
                    &call["id"],
                    &function["name"],
                    text_of(&function["arguments"]),
                    &mut said,
                );
            }
            said(ReplyEvent::Stop(text_of(&choice["finish_reason"])));
        }
    }
    said(ReplyEvent::End);
}

fn whole_call(index: u64, id: &Value, name: &Value, fragment: String, said: &mut impl FnMut(ReplyEvent)) {
    said(ReplyEvent::CallStart { index, id: text_of(id), name: text_of(name) });
    said(ReplyEvent::CallArgs { index, fragment });
    said(ReplyEvent::CallEnd { index });
}

fn anthropic(event: SseEvent<'_>, call_blocks: &mut Vec<u64>, said: &mut impl FnMut(ReplyEvent)) {
    let Ok(data) = serde_json::from_str::<Value>(event.data) else {
        return said(ReplyEvent::Unknown(event.data.to_owned()));
    };
    let index = data["index"].as_u64().unwrap_or(0);
    match data["type"].as_str().unwrap_or_default() {
        "content_block_start" => {
            let block = &data["content_block"];
            if block["type"] == "tool_use" {
                call_blocks.push(index);
                said(ReplyEvent::CallStart {
                    index,
                    id: text_of(&block["id"]),
                    name: text_of(&block["name"]),
                });
            }
        }
        "content_block_delta" => match data["delta"]["type"].as_str() {
            Some("text_delta") => said(ReplyEvent::Text(text_of(&data["delta"]["text"]))),
            Some("input_json_delta") => {
                said(ReplyEvent::CallArgs { index, fragment: text_of(&data["delta"]["partial_json"]) });
            }
            _ => {}
        },
        "content_block_stop" if call_blocks.contains(&index) => said(ReplyEvent::CallEnd { index }),
        "message_delta" => {
            if let Some(reason) = data["delta"]["stop_reason"].as_str() {
                said(ReplyEvent::Stop(reason.to_owned()));
            }
        }
        "message_stop" => said(ReplyEvent::End),
        "error" => said(error(&data["error"])),
        "message_start" | "content_block_stop" | "ping" => {}
        other => said(ReplyEvent::Unknown(other.to_owned())),
    }
}

fn openai(event: SseEvent<'_>, open: &mut Vec<u64>, said: &mut impl FnMut(ReplyEvent)) {
    if event.data.starts_with("[DONE]") {
        return said(ReplyEvent::End);
    }
    let Ok(data) = serde_json::from_str::<Value>(event.data) else {
        return said(ReplyEvent::Unknown(event.data.to_owned()));
    };
    if data["error"].is_object() {
        return said(error(&data["error"]));
    }
    let choice = &data["choices"][0];
    let delta = &choice["delta"];
    if let Some(text) = delta["content"].as_str().filter(|text| !text.is_empty()) {
        said(ReplyEvent::Text(text.to_owned()));
    }
    for call in delta["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let index = call["index"].as_u64().unwrap_or(0);
        if !open.contains(&index) {
            open.push(index);
            let name = text_of(&call["function"]["name"]);
            said(ReplyEvent::CallStart { index, id: text_of(&call["id"]), name });
        }
        if let Some(fragment) = call["function"]["arguments"].as_str().filter(|fragment| !fragment.is_empty())
        {
            said(ReplyEvent::CallArgs { index, fragment: fragment.to_owned() });
        }
    }
    if let Some(reason) = choice["finish_reason"].as_str() {
        open.drain(..).for_each(|index| said(ReplyEvent::CallEnd { index }));
        said(ReplyEvent::Stop(reason.to_owned()));
    }
}

fn error(error: &Value) -> ReplyEvent {
    ReplyEvent::Error { kind: text_of(&error["type"]), message: text_of(&error["message"]) }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
