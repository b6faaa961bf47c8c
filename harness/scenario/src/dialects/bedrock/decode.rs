//! Bedrock Converse: decodes the frames of a stream, and complete bodies.

use std::borrow::Cow;

use brickbat_rules::frames::{Frame, FrameKind, FrameReader};
use brickbat_rules::json::{Document, Json};

use crate::wire::decode::{Decode, ReplyEvent, text_of, tokens, whole_call};

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
    /// The blocks that are calls: the event that closes a block does not name the kind of the block.
    calls: Vec<u64>,
    /// The open reasoning block, with its signature once it has arrived.
    thought: Option<(u64, Option<String>)>,
}

impl ConverseEvents {
    fn frame(&mut self, frame: Frame<'_>, said: &mut dyn FnMut(ReplyEvent)) {
        let Ok(document) = Document::parse(frame.payload()) else {
            return said(ReplyEvent::Unknown(frame.name().to_owned()));
        };
        let data = document.root();
        match frame.kind() {
            FrameKind::Event => self.event(frame.name(), data, said),
            FrameKind::Exception => {
                said(ReplyEvent::Error {
                    kind: frame.name().to_owned(),
                    message: text_of(data.field("message")),
                });
            }
            FrameKind::Error | FrameKind::Unknown => said(ReplyEvent::Unknown(frame.name().to_owned())),
        }
    }

    fn event(&mut self, name: &str, data: Json, said: &mut dyn FnMut(ReplyEvent)) {
        let index = data.field("contentBlockIndex").as_u64().unwrap_or(0);
        match name {
            "contentBlockStart" => {
                let call = data.field("start").field("toolUse");
                if call.is_object() {
                    self.calls.push(index);
                    let (id, name) = (text_of(call.field("toolUseId")), text_of(call.field("name")));
                    said(ReplyEvent::CallStart { index, id, name });
                }
            }
            "contentBlockDelta" => {
                let delta = data.field("delta");
                let thought = delta.field("reasoningContent");
                if thought.is_object() {
                    let (_, signature) = self.thought.get_or_insert((index, None));
                    if let Some(text) = thought.field("text").as_str() {
                        said(ReplyEvent::Thought(text.into_owned()));
                    } else if let Some(signed) = thought.field("signature").as_str() {
                        *signature = Some(signed.into_owned());
                    }
                    return;
                }
                if let Some(text) = delta.field("text").as_str() {
                    said(ReplyEvent::Text(text.into_owned()));
                } else if let Some(fragment) = delta.field("toolUse").field("input").as_str() {
                    said(ReplyEvent::CallArgs { index, fragment: fragment.into_owned() });
                }
            }
            "contentBlockStop" if self.thought.as_ref().is_some_and(|(open, _)| *open == index) => {
                let signature = self.thought.take().and_then(|(_, signature)| signature);
                said(ReplyEvent::ThoughtEnd { signature });
            }
            "contentBlockStop" if self.calls.contains(&index) => said(ReplyEvent::CallEnd { index }),
            "messageStop" => said(ReplyEvent::Stop(text_of(data.field("stopReason")))),
            "metadata" => {
                tokens(data.field("usage"), &["totalTokens"]).into_iter().for_each(&mut *said);
                said(ReplyEvent::End);
            }
            "messageStart" | "contentBlockStop" => {}
            other => said(ReplyEvent::Unknown(other.to_owned())),
        }
    }
}

/// Decodes a body that is not a stream.
pub(super) fn whole(body: Json, said: &mut dyn FnMut(ReplyEvent)) {
    let content = body.field("output").field("message").field("content");
    for (index, block) in (0..).zip(content.items()) {
        let call = block.field("toolUse");
        let thought = block.field("reasoningContent").field("reasoningText");
        if thought.is_object() {
            said(ReplyEvent::Thought(text_of(thought.field("text"))));
            let signature = thought.field("signature").as_str().map(Cow::into_owned);
            said(ReplyEvent::ThoughtEnd { signature });
        } else if let Some(text) = block.field("text").as_str() {
            said(ReplyEvent::Text(text.into_owned()));
        } else if call.is_object() {
            whole_call(
                index,
                call.field("toolUseId"),
                call.field("name"),
                call.field("input").to_value().to_string(),
                said,
            );
        } else {
            let kind = block.fields().next().and_then(|(name, _)| name.as_str());
            said(ReplyEvent::Unknown(kind.unwrap_or_default().into_owned()));
        }
    }
    tokens(body.field("usage"), &["totalTokens"]).into_iter().for_each(&mut *said);
    said(ReplyEvent::Stop(text_of(body.field("stopReason"))));
}
