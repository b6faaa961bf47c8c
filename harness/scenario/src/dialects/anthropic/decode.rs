//! Anthropic Messages: what the events of a stream, or a whole body, say.

use serde_json::Value;

use crate::wire::decode::{ReadEvent, ReplyEvent, error, text_of, whole_call};
use crate::wire::sse::SseEvent;

/// Reads the events of one stream.
#[derive(Debug, Default)]
pub(super) struct AnthropicEvents {
    /// Blocks that are calls: the event that closes a block does not say what it closes.
    calls: Vec<u64>,
    /// The open block of thinking, with its signature once that has come.
    thought: Option<(u64, Option<String>)>,
}

impl ReadEvent for AnthropicEvents {
    fn event(&mut self, event: SseEvent<'_>, said: &mut dyn FnMut(ReplyEvent)) {
        let Ok(data) = serde_json::from_str::<Value>(event.data) else {
            return said(ReplyEvent::Unknown(event.data.to_owned()));
        };
        let index = data["index"].as_u64().unwrap_or(0);
        match data["type"].as_str().unwrap_or_default() {
            "content_block_start" => {
                let block = &data["content_block"];
                if block["type"] == "tool_use" {
                    self.calls.push(index);
                    said(ReplyEvent::CallStart {
                        index,
                        id: text_of(&block["id"]),
                        name: text_of(&block["name"]),
                    });
                } else if block["type"] == "thinking" {
                    self.thought = Some((index, signature_of(block)));
                    let text = text_of(&block["thinking"]);
                    if !text.is_empty() {
                        said(ReplyEvent::Thought(text));
                    }
                }
            }
            "content_block_delta" => match data["delta"]["type"].as_str() {
                Some("text_delta") => said(ReplyEvent::Text(text_of(&data["delta"]["text"]))),
                Some("input_json_delta") => {
                    said(ReplyEvent::CallArgs { index, fragment: text_of(&data["delta"]["partial_json"]) });
                }
                Some("thinking_delta") => said(ReplyEvent::Thought(text_of(&data["delta"]["thinking"]))),
                Some("signature_delta") => {
                    if let Some((_, signature)) = &mut self.thought {
                        *signature = signature_of(&data["delta"]);
                    }
                }
                _ => {}
            },
            "content_block_stop" if self.thought.as_ref().is_some_and(|(open, _)| *open == index) => {
                let signature = self.thought.take().and_then(|(_, signature)| signature);
                said(ReplyEvent::ThoughtEnd { signature });
            }
            "content_block_stop" if self.calls.contains(&index) => said(ReplyEvent::CallEnd { index }),
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
}

/// The signature of a block of thinking; an empty one is none.
fn signature_of(value: &Value) -> Option<String> {
    value["signature"].as_str().filter(|signature| !signature.is_empty()).map(str::to_owned)
}

/// What a body says that is not a stream.
pub(super) fn whole(body: &Value, said: &mut dyn FnMut(ReplyEvent)) {
    let blocks = body["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (index, block) in blocks.iter().enumerate() {
        let index = index as u64;
        match block["type"].as_str() {
            Some("thinking") => {
                said(ReplyEvent::Thought(text_of(&block["thinking"])));
                said(ReplyEvent::ThoughtEnd { signature: signature_of(block) });
            }
            Some("text") => said(ReplyEvent::Text(text_of(&block["text"]))),
            Some("tool_use") => {
                whole_call(index, &block["id"], &block["name"], block["input"].to_string(), said);
            }
            other => said(ReplyEvent::Unknown(other.unwrap_or_default().to_owned())),
        }
    }
    said(ReplyEvent::Stop(text_of(&body["stop_reason"])));
}
