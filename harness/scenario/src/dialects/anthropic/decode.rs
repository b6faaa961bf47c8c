//! Anthropic Messages: decodes the events of a stream, and complete bodies.

use std::borrow::Cow;

use crate::wire::decode::{ReadEvent, ReplyEvent, error, text_of, tokens, whole_call};
use crate::wire::sse::SseEvent;
use crate::wire::thread::ServerBlock;
use brickbat_rules::json::{Document, Json};

/// Reads the events of one stream.
#[derive(Debug, Default)]
pub(super) struct AnthropicEvents {
    /// The blocks that are calls: the event that closes a block does not name the kind of the block.
    calls: Vec<u64>,
    /// The open thinking block, with its signature once it has arrived.
    thought: Option<(u64, Option<String>)>,
    /// The open block of a tool that the provider runs itself.
    server: Option<(u64, ServerBlock)>,
}

impl ReadEvent for AnthropicEvents {
    fn event(&mut self, event: SseEvent<'_>, said: &mut dyn FnMut(ReplyEvent)) {
        let Ok(document) = Document::parse(event.data.as_bytes()) else {
            return said(ReplyEvent::Unknown(event.data.to_owned()));
        };
        let data = document.root();
        let index = data.field("index").as_u64().unwrap_or(0);
        match &*data.field("type").as_str().unwrap_or_default() {
            "content_block_start" => {
                let block = data.field("content_block");
                if block.field("type").is("tool_use") {
                    self.calls.push(index);
                    said(ReplyEvent::CallStart {
                        index,
                        id: text_of(block.field("id")),
                        name: text_of(block.field("name")),
                    });
                } else if block.field("type").is("thinking") {
                    self.thought = Some((index, signature_of(block)));
                    let text = text_of(block.field("thinking"));
                    if !text.is_empty() {
                        said(ReplyEvent::Thought(text));
                    }
                } else if let Some(server) = server_block(block) {
                    self.server = Some((index, server));
                }
            }
            "content_block_delta" => match data.field("delta").field("type").as_str().as_deref() {
                Some("text_delta") => said(ReplyEvent::Text(text_of(data.field("delta").field("text")))),
                Some("input_json_delta") if self.server.as_ref().is_some_and(|(open, _)| *open == index) => {
                    if let Some((_, ServerBlock::Call { args, .. })) = &mut self.server {
                        args.push_str(&text_of(data.field("delta").field("partial_json")));
                    }
                }
                Some("input_json_delta") => {
                    said(ReplyEvent::CallArgs {
                        index,
                        fragment: text_of(data.field("delta").field("partial_json")),
                    });
                }
                Some("thinking_delta") => {
                    said(ReplyEvent::Thought(text_of(data.field("delta").field("thinking"))))
                }
                Some("signature_delta") => {
                    if let Some((_, signature)) = &mut self.thought {
                        *signature = signature_of(data.field("delta"));
                    }
                }
                _ => {}
            },
            "content_block_stop" if self.thought.as_ref().is_some_and(|(open, _)| *open == index) => {
                let signature = self.thought.take().and_then(|(_, signature)| signature);
                said(ReplyEvent::ThoughtEnd { signature });
            }
            "content_block_stop" if self.server.as_ref().is_some_and(|(open, _)| *open == index) => {
                if let Some((_, mut block)) = self.server.take() {
                    if let ServerBlock::Call { args, .. } = &mut block
                        && args.is_empty()
                    {
                        args.push_str("{}");
                    }
                    said(ReplyEvent::Server(block));
                }
            }
            "content_block_stop" if self.calls.contains(&index) => said(ReplyEvent::CallEnd { index }),
            "message_delta" => {
                if let Some(reason) = data.field("delta").field("stop_reason").as_str() {
                    said(ReplyEvent::Stop(reason.into_owned()));
                }
            }
            "message_stop" => said(ReplyEvent::End),
            "error" => said(error(data.field("error"))),
            "message_start" => {
                tokens(data.field("message").field("usage"), &COUNTS).into_iter().for_each(said);
            }
            "content_block_stop" | "ping" => {}
            other => said(ReplyEvent::Unknown(other.to_owned())),
        }
    }
}

/// The input token counts of a request, including those for the cache.
const COUNTS: [&str; 3] = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];

/// The signature of a thinking block; an empty one is treated as missing.
fn signature_of(value: Json) -> Option<String> {
    value.field("signature").as_str().filter(|signature| !signature.is_empty()).map(Cow::into_owned)
}

/// A block of a tool that the provider runs itself, at its start: the arguments of a call follow.
fn server_block(block: Json) -> Option<ServerBlock> {
    match &*block.field("type").as_str()? {
        "server_tool_use" => Some(ServerBlock::Call {
            id: text_of(block.field("id")),
            tool: text_of(block.field("name")),
            args: String::new(),
        }),
        // The provider's names for results all have the same ending, whatever the tool.
        kind if kind.ends_with("_tool_result") => Some(ServerBlock::Result {
            call_id: text_of(block.field("tool_use_id")),
            body: block.to_value().to_string(),
        }),
        _ => None,
    }
}

/// Decodes a body that is not a stream.
pub(super) fn whole(body: Json, said: &mut dyn FnMut(ReplyEvent)) {
    for (index, block) in (0..).zip(body.field("content").items()) {
        match block.field("type").as_str().as_deref() {
            Some("thinking") => {
                said(ReplyEvent::Thought(text_of(block.field("thinking"))));
                said(ReplyEvent::ThoughtEnd { signature: signature_of(block) });
            }
            Some("text") => said(ReplyEvent::Text(text_of(block.field("text")))),
            Some("tool_use") => {
                whole_call(
                    index,
                    block.field("id"),
                    block.field("name"),
                    block.field("input").to_value().to_string(),
                    said,
                );
            }
            other => match server_block(block) {
                Some(ServerBlock::Call { id, tool, .. }) => {
                    let args = block.field("input").to_value().to_string();
                    said(ReplyEvent::Server(ServerBlock::Call { id, tool, args }));
                }
                Some(result) => said(ReplyEvent::Server(result)),
                None => said(ReplyEvent::Unknown(other.unwrap_or_default().to_owned())),
            },
        }
    }
    tokens(body.field("usage"), &COUNTS).into_iter().for_each(&mut *said);
    said(ReplyEvent::Stop(text_of(body.field("stop_reason"))));
}
