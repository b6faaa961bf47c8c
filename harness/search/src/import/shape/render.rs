//! Asks a provider's rules about a structure: the oracle of the minimiser.

use brickbat_rules::histories::{self, Block, Role, Signs, render};
use brickbat_rules::{Dialect, Profile, Rule, Severity, validate};
use brickbat_scenario::scenario::{Picture, Signature};
use serde_json::Value;

use super::{Shape, ShapeArgs, ShapeBlock, ShapeId, ShapeMessage, ShapeResult, tool_name};

impl Shape {
    /// The rule that makes a provider reject the structure after another user message.
    pub(in super::super) fn refusal(&self, profile: &'static Profile) -> Option<&'static Rule> {
        self.refused(profile).map(|(rule, _)| rule)
    }

    /// The rule, and the message and the part that break it.
    pub(in super::super) fn refused(
        &self,
        profile: &'static Profile,
    ) -> Option<(&'static Rule, Option<(usize, usize)>)> {
        let own = self.messages.iter().enumerate();
        let (places, mut messages): (Vec<usize>, Vec<histories::Message>) =
            own.filter_map(|(n, message)| Some((n, self.plain(message, profile.dialect)?))).unzip();
        messages.push(histories::Message::text(Role::User, "Go on."));
        let rendered = render(profile.dialect, None, &messages);
        let violations = validate(profile, rendered.body.to_string().as_bytes());
        let violation = violations.into_iter().find(|violation| violation.severity == Severity::Error)?;
        let block = rendered.block_at(&violation.pointer);
        let place = block.and_then(|(message, part)| Some((*places.get(message)?, part)));
        Some((violation.rule, place))
    }

    /// A message as sent by a client that sends everything it has; a failed reply is never sent.
    fn plain(&self, message: &ShapeMessage, dialect: Dialect) -> Option<histories::Message> {
        let (role, blocks) = match message {
            ShapeMessage::Failed => return None,
            ShapeMessage::System(words) => (Role::System, vec![Block::Text(words.text("Instructions."))]),
            ShapeMessage::Compacted => (Role::User, vec![Block::Text("Summary.".to_owned())]),
            ShapeMessage::User(words) => (Role::User, vec![Block::Text(words.text("Message."))]),
            ShapeMessage::Picture(picture) => (Role::User, vec![image(picture)]),
            ShapeMessage::Assistant(blocks) => {
                (Role::Assistant, blocks.iter().map(|block| self.plain_block(block, dialect)).collect())
            }
            ShapeMessage::Results(results) => {
                (Role::Tool, results.iter().map(|result| self.plain_result(result, dialect)).collect())
            }
        };
        Some(histories::Message { role, blocks })
    }

    fn plain_block(&self, block: &ShapeBlock, dialect: Dialect) -> Block {
        match block {
            ShapeBlock::Text(words) => Block::Text(words.text("Reply.")),
            ShapeBlock::Think { has_words, signature } => {
                let text = if *has_words { "Thought." } else { "" }.to_owned();
                let signature = match signature {
                    Signature::Full | Signature::Altered => Some(SIGNATURE.to_owned()),
                    Signature::Empty => Some(String::new()),
                    Signature::Absent => None,
                };
                let id = (dialect.codec().signs == Signs::Items).then(|| format!("rs_{:048}", 0));
                Block::Thinking(histories::Thinking { text, signature, id })
            }
            ShapeBlock::Call { call, args } => {
                let arguments = match args {
                    ShapeArgs::Object(fields) => Value::Object(fields.clone()).to_string(),
                    ShapeArgs::Raw(text) => (*text).to_owned(),
                };
                Block::Call(histories::Call::new(self.id(*call, dialect), self.name(*call), arguments))
            }
        }
    }

    fn plain_result(&self, result: &ShapeResult, dialect: Dialect) -> Block {
        let text = Block::Text("what came of it".to_owned());
        let output = std::iter::once(text).chain(result.picture.as_ref().map(image)).collect();
        let (call, name) = (self.id(result.call, dialect), self.name(result.call));
        Block::Result(histories::CallResult {
            is_error: result.is_error,
            ..histories::CallResult::new(call, name, output)
        })
    }

    /// An id in its own format, or in the format of the dialect's provider.
    fn id(&self, call: usize, dialect: Dialect) -> String {
        match self.calls.get(&call).map(|call| &call.id) {
            Some(ShapeId::Foreign(text)) => text.clone(),
            Some(ShapeId::Same(other)) if *other < call => self.id(*other, dialect),
            _ => dialect.codec().call_id.numbered(call),
        }
    }

    fn name(&self, call: usize) -> String {
        let tool = self.calls.get(&call).map_or(0, |call| call.tool);
        self.tools.get(&tool).cloned().unwrap_or_else(|| tool_name(tool))
    }
}

/// An invented signature in base64.
const SIGNATURE: &str = "c2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJl";

fn image(picture: &Picture) -> Block {
    // The minimiser checks this many times, and no rule reads the content of the file.
    let media_type = picture.format.media_type().to_owned();
    Block::Image(histories::Image { media_type, data: "AAAA".to_owned() })
}
