//! The model's reply in the format of a recording.

use serde_json::{Value, json};

use brickbat_scenario::wire::ReplyEvent;

/// The maximum number of reply bytes kept. The longest model replies have a few hundred thousand.
const MAX_BYTES: usize = 4 << 20;

/// The blocks of a reply, in order.
#[derive(Debug, Default)]
pub(super) struct Said {
    blocks: Vec<Block>,
    n_bytes: usize,
    /// True if the reply is complete.
    is_over: bool,
    /// True if it contains calls or results of tools that the provider runs itself.
    has_server_tools: bool,
    /// The error that the server reported inside it.
    pub(super) error: Option<String>,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Call { index: u64, id: String, name: String, args: String },
}

impl Said {
    pub(super) fn take(&mut self, event: &ReplyEvent) {
        match event {
            ReplyEvent::Text(text) if self.has_room(text.len()) => match self.blocks.last_mut() {
                Some(Block::Text(own)) => own.push_str(text),
                _ => self.blocks.push(Block::Text(text.clone())),
            },
            ReplyEvent::CallStart { index, id, name } if self.has_room(id.len() + name.len()) => {
                let (id, name) = (id.clone(), name.clone());
                self.blocks.push(Block::Call { index: *index, id, name, args: String::new() });
            }
            ReplyEvent::CallArgs { index: of, fragment } if self.has_room(fragment.len()) => {
                let call = self.blocks.iter_mut().rev().find_map(|block| match block {
                    Block::Call { index, args, .. } if index == of => Some(args),
                    _ => None,
                });
                if let Some(args) = call {
                    args.push_str(fragment);
                }
            }
            ReplyEvent::Stop(_) | ReplyEvent::End => self.is_over = true,
            ReplyEvent::Error { kind, message } => self.error = Some(format!("{kind}: {message}")),
            // A text or a call for which there is no room any more.
            ReplyEvent::Text(_) | ReplyEvent::CallStart { .. } | ReplyEvent::CallArgs { .. } => {}
            // A recording has no form for it, and without it the reply would be another.
            ReplyEvent::Server(_) => self.has_server_tools = true,
            // A recording holds no thoughts and no signatures, and a call ends with its arguments.
            ReplyEvent::Thought(_)
            | ReplyEvent::ThoughtEnd { .. }
            | ReplyEvent::CallSignature { .. }
            | ReplyEvent::CallEnd { .. }
            | ReplyEvent::Tokens(_)
            | ReplyEvent::ResponseId(_)
            | ReplyEvent::Unknown(_) => {}
        }
    }

    fn has_room(&mut self, n_bytes: usize) -> bool {
        self.n_bytes += n_bytes;
        self.n_bytes <= MAX_BYTES
    }

    /// The blocks in the format of a recording. `None` if the reply is incomplete or too long, or has tools of the provider.
    pub(super) fn blocks(&self) -> Option<Value> {
        let is_whole = self.is_over && self.n_bytes <= MAX_BYTES && !self.blocks.is_empty();
        let is_whole = is_whole && !self.has_server_tools;
        let block = |block: &Block| match block {
            Block::Text(text) => json!({ "text": text }),
            Block::Call { id, name, args, .. } => {
                json!({ "call": { "id": id, "name": name, "arguments": args } })
            }
        };
        is_whole.then(|| self.blocks.iter().map(block).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_scenario::wire::thread::ServerBlock;

    fn said(events: &[ReplyEvent]) -> Option<Value> {
        let mut said = Said::default();
        events.iter().for_each(|event| said.take(event));
        said.blocks()
    }

    #[test]
    fn a_reply_with_a_tool_of_the_provider_is_not_recorded_as_one_without_it() {
        let text = || ReplyEvent::Text("Rain.".to_owned());
        assert_eq!(said(&[text(), ReplyEvent::End]), Some(json!([{ "text": "Rain." }])));
        let [id, tool, args] = ["srv_1", "web_search", "{}"].map(str::to_owned);
        let search = ReplyEvent::Server(ServerBlock::Call { id, tool, args });
        assert_eq!(said(&[search, text(), ReplyEvent::End]), None);
    }
}
