//! Bedrock Converse: what the frames of a stream, or a whole body, say.

use brickbat_rules::frames::{Frame, FrameKind, FrameReader};
use serde_json::Value;

use crate::wire::decode::{Decode, ReplyEvent, text_of, whole_call};

/// Reads the frames of one stream.
#[derive(Debug, Default)]
pub(super) struct ConverseDecoder {
    reader: FrameReader,
    events: ConverseEvents,
}

impl Decode for ConverseDecoder {
    fn feed(&mut self, bytes: &[u8], said: &mut dyn FnMut(ReplyEvent)) {
        let ConverseDecoder { reader, events } = self;
        reader.feed(bytes, |_, frame| match frame {
            Ok(frame) => events.frame(frame, said),
            Err(error) => said(ReplyEvent::Unknown(error.to_string())),
        });
    }
}

#[derive(Debug, Default)]
struct ConverseEvents {
    /// Blocks that are calls: the event that closes a block does not say what it closes.
    calls: Vec<u64>,
    /// The open block of reasoning, with its signature once that has come.
    thought: Option<(u64, Option<String>)>,
}

impl ConverseEvents {
    fn frame(&mut self, frame: Frame<'_>, said: &mut dyn FnMut(ReplyEvent)) {
        let Ok(data) = serde_json::from_slice::<Value>(frame.payload()) else {
            return said(ReplyEvent::Unknown(frame.name().to_owned()));
        };
        match frame.kind() {
            FrameKind::Event => self.event(frame.name(), &data, said),
            FrameKind::Exception => {
                said(ReplyEvent::Error { kind: frame.name().to_owned(), message: text_of(&data["message"]) });
            }
            FrameKind::Error | FrameKind::Unknown => said(ReplyEvent::Unknown(frame.name().to_owned())),
        }
    }

    fn event(&mut self, name: &str, data: &Value, said: &mut dyn FnMut(ReplyEvent)) {
        let index = data["contentBlockIndex"].as_u64().unwrap_or(0);
        match name {
            "contentBlockStart" => {
                let call = &data["start"]["toolUse"];
                if call.is_object() {
                    self.calls.push(index);
                    let (id, name) = (text_of(&call["toolUseId"]), text_of(&call["name"]));
                    said(ReplyEvent::CallStart { index, id, name });
                }
            }
            "contentBlockDelta" => {
                let delta = &data["delta"];
                let thought = &delta["reasoningContent"];
                if thought.is_object() {
                    let (_, signature) = self.thought.get_or_insert((index, None));
                    if let Some(text) = thought["text"].as_str() {
                        said(ReplyEvent::Thought(text.to_owned()));
                    } else if let Some(signed) = thought["signature"].as_str() {
                        *signature = Some(signed.to_owned());
                    }
                    return;
                }
                if let Some(text) = delta["text"].as_str() {
                    said(ReplyEvent::Text(text.to_owned()));
                } else if let Some(fragment) = delta["toolUse"]["input"].as_str() {
                    said(ReplyEvent::CallArgs { index, fragment: fragment.to_owned() });
                }
            }
            "contentBlockStop" if self.thought.as_ref().is_some_and(|(open, _)| *open == index) => {
                let signature = self.thought.take().and_then(|(_, signature)| signature);
                said(ReplyEvent::ThoughtEnd { signature });
            }
            "contentBlockStop" if self.calls.contains(&index) => said(ReplyEvent::CallEnd { index }),
            "messageStop" => said(ReplyEvent::Stop(text_of(&data["stopReason"]))),
            "metadata" => said(ReplyEvent::End),
            "messageStart" | "contentBlockStop" => {}
            other => said(ReplyEvent::Unknown(other.to_owned())),
        }
    }
}

/// What a body says that is not a stream.
pub(super) fn whole(body: &Value, said: &mut dyn FnMut(ReplyEvent)) {
    let content = &body["output"]["message"]["content"];
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    for (index, block) in blocks.iter().enumerate() {
        let call = &block["toolUse"];
        let thought = &block["reasoningContent"]["reasoningText"];
        if thought.is_object() {
            said(ReplyEvent::Thought(text_of(&thought["text"])));
            let signature = thought["signature"].as_str().map(str::to_owned);
            said(ReplyEvent::ThoughtEnd { signature });
        } else if let Some(text) = block["text"].as_str() {
            said(ReplyEvent::Text(text.to_owned()));
        } else if call.is_object() {
            whole_call(index as u64, &call["toolUseId"], &call["name"], call["input"].to_string(), said);
        } else {
            let kind = block.as_object().and_then(|block| block.keys().next());
            said(ReplyEvent::Unknown(kind.cloned().unwrap_or_default()));
        }
    }
    said(ReplyEvent::Stop(text_of(&body["stopReason"])));
}
