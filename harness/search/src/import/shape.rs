//! The structure of a session, as far as a given history can say it.

use std::collections::BTreeMap;

use brickbat_rules::histories::{self, Block, Role, render};
use brickbat_rules::{Dialect, Profile, Rule, Severity, validate};
use brickbat_sessions as sessions;
use serde_json::{Map, Value, json};

/// A conversation without words.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    pub(super) messages: Vec<ShapeMessage>,
}

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ShapeMessage {
    /// The user said something.
    User,
    /// The model said something.
    Assistant(Vec<ShapeBlock>),
    /// Results, in one message.
    Results(Vec<ShapeResult>),
}

/// A part of a reply.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ShapeBlock {
    Text,
    Call {
        /// The call's number, by which results speak of it.
        call: usize,
        /// The tool's number.
        tool: usize,
        args: Map<String, Value>,
    },
}

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShapeResult {
    pub(super) call: usize,
    /// The tool's number.
    pub(super) tool: usize,
    pub(super) is_error: bool,
}

impl Shape {
    /// The structure of messages, and what of them it cannot hold.
    pub(super) fn of(messages: &[sessions::Message]) -> (Shape, Vec<&'static str>) {
        let mut reader = Reader::default();
        let mut shape = Shape { messages: Vec::new() };
        for message in messages {
            shape.messages.extend(reader.message(message));
        }
        reader.left_out.sort_unstable();
        reader.left_out.dedup();
        (shape, reader.left_out)
    }

    /// The rule for which a provider refuses it, after the user has said something more.
    pub(super) fn refusal(&self, profile: &'static Profile) -> Option<&'static Rule> {
        let mut messages: Vec<histories::Message> =
            self.messages.iter().map(|message| plain(message, profile.dialect)).collect();
        messages.push(histories::Message::text(Role::User, "Go on."));
        let body = render(profile.dialect, None, &messages).body.to_string();
        let violations = validate(profile, body.as_bytes());
        let refused = violations.into_iter().find(|violation| violation.severity == Severity::Error);
        refused.map(|violation| violation.rule)
    }

    /// The same with calls and tools numbered anew, in the order of the conversation.
    pub(super) fn named(&self) -> Shape {
        let (mut calls, mut tools) = (BTreeMap::new(), BTreeMap::new());
        let mut named = self.clone();
        for message in &mut named.messages {
            match message {
                ShapeMessage::User => {}
                ShapeMessage::Assistant(blocks) => {
                    for block in blocks {
                        let ShapeBlock::Call { call, tool, .. } = block else { continue };
                        let n = calls.len();
                        *call = *calls.entry(*call).or_insert(n);
                        let n = tools.len();
                        *tool = *tools.entry(*tool).or_insert(n);
                    }
                }
                ShapeMessage::Results(results) => {
                    for result in results {
                        let n = calls.len();
                        result.call = *calls.entry(result.call).or_insert(n);
                        let n = tools.len();
                        result.tool = *tools.entry(result.tool).or_insert(n);
                    }
                }
            }
        }
        named
    }

    pub(super) fn n_messages(&self) -> usize {
        self.messages.len()
    }

    /// The names of its tools.
    pub(super) fn tools(&self) -> Vec<String> {
        let blocks = self.messages.iter().flat_map(|message| match message {
            ShapeMessage::Assistant(blocks) => blocks.as_slice(),
            _ => &[],
        });
        let mut tools: Vec<String> = blocks
            .filter_map(|block| match block {
                ShapeBlock::Call { tool, .. } => Some(tool_name(*tool)),
                ShapeBlock::Text => None,
            })
            .collect();
        tools.sort();
        tools.dedup();
        tools
    }

    /// The messages as a given history has them.
    pub(super) fn history(&self) -> Value {
        let message = |(n, message): (usize, &ShapeMessage)| match message {
            ShapeMessage::User => json!({ "user": format!("Message {}.", n + 1) }),
            ShapeMessage::Assistant(blocks) => {
                let block = |block: &ShapeBlock| match block {
                    ShapeBlock::Text => json!({ "text": format!("Reply {}.", n + 1) }),
                    ShapeBlock::Call { call, tool, args } => {
                        json!({ "call": { "as": call_name(*call), "tool": tool_name(*tool), "args": args } })
                    }
                };
                json!({ "assistant": blocks.iter().map(block).collect::<Vec<_>>() })
            }
            ShapeMessage::Results(results) => {
                let result = |result: &ShapeResult| {
                    let said = if result.is_error { "fails" } else { "returns" };
                    json!({ "of": call_name(result.call), said: "what came of it" })
                };
                json!({ "results": results.iter().map(result).collect::<Vec<_>>() })
            }
        };
        Value::Array(self.messages.iter().enumerate().map(message).collect())
    }
}

/// Reads messages, and gives calls and tools numbers.
#[derive(Default)]
struct Reader {
    /// The numbers of each call and of its tool, by its id.
    calls: BTreeMap<String, (usize, usize)>,
    tools: BTreeMap<String, usize>,
    n_calls: usize,
    left_out: Vec<&'static str>,
}

impl Reader {
    fn message(&mut self, message: &sessions::Message) -> Vec<ShapeMessage> {
        let (mut blocks, mut results) = (Vec::new(), Vec::new());
        let mut has_words = false;
        for block in &message.blocks {
            match &block.content {
                Block::Text(text) if text.trim().is_empty() => self.left_out.push("a blank text"),
                Block::Text(_) => {
                    has_words = true;
                    blocks.push(ShapeBlock::Text);
                }
                Block::Thinking(_) => self.left_out.push("thinking"),
                Block::Image(_) => {
                    has_words = true;
                    self.left_out.push("an image");
                }
                Block::Native { .. } => self.left_out.push("a block of one provider alone"),
                Block::Call(call) => blocks.extend(self.call(call)),
                Block::Result(result) => match self.calls.get(&result.call) {
                    Some(&(call, tool)) => {
                        results.push(ShapeResult { call, tool, is_error: result.is_error });
                    }
                    None => self.left_out.push("a result without a call before it"),
                },
            }
        }
        let mut messages = Vec::new();
        if !results.is_empty() {
            messages.push(ShapeMessage::Results(results));
        }
        match message.role {
            Role::Assistant if !blocks.is_empty() => messages.insert(0, ShapeMessage::Assistant(blocks)),
            Role::User if has_words => messages.push(ShapeMessage::User),
            _ => {}
        }
        messages
    }

    fn call(&mut self, call: &histories::Call) -> Option<ShapeBlock> {
        if self.calls.contains_key(&call.id) {
            self.left_out.push("a call id that is used twice");
            return None;
        }
        let Ok(Value::Object(fields)) = serde_json::from_str(&call.arguments) else {
            self.left_out.push("arguments that are no JSON object");
            return None;
        };
        let n_tools = self.tools.len();
        let tool = *self.tools.entry(call.name.clone()).or_insert(n_tools);
        let n = self.n_calls;
        self.n_calls += 1;
        self.calls.insert(call.id.clone(), (n, tool));
        Some(ShapeBlock::Call { call: n, tool, args: kinds(&fields) })
    }
}

/// Arguments by their kinds: a number stays a number, anything that holds words becomes a word.
fn kinds(fields: &Map<String, Value>) -> Map<String, Value> {
    /// Arguments of one call that are kept. What breaks a thread does not hang on the thirtieth.
    const MAX_ARGUMENTS: usize = 8;
    let kind = |value: &Value| match value {
        Value::Bool(_) => json!(true),
        Value::Number(_) => json!(1),
        _ => json!("text"),
    };
    let named = fields.values().take(MAX_ARGUMENTS).enumerate();
    named.map(|(n, value)| (format!("p{}", n + 1), kind(value))).collect()
}

fn plain(message: &ShapeMessage, dialect: Dialect) -> histories::Message {
    match message {
        ShapeMessage::User => histories::Message::text(Role::User, "Message."),
        ShapeMessage::Assistant(blocks) => {
            let block = |block: &ShapeBlock| match block {
                ShapeBlock::Text => Block::Text("Reply.".to_owned()),
                ShapeBlock::Call { call, tool, args } => Block::Call(histories::Call {
                    id: wire_id(dialect, *call),
                    name: tool_name(*tool),
                    arguments: Value::Object(args.clone()).to_string(),
                    ..histories::Call::default()
                }),
            };
            histories::Message { role: Role::Assistant, blocks: blocks.iter().map(block).collect() }
        }
        ShapeMessage::Results(results) => {
            let block = |result: &ShapeResult| {
                Block::Result(histories::CallResult {
                    call: wire_id(dialect, result.call),
                    name: tool_name(result.tool),
                    output: vec![Block::Text("what came of it".to_owned())],
                    is_error: result.is_error,
                })
            };
            histories::Message { role: Role::Tool, blocks: results.iter().map(block).collect() }
        }
    }
}

/// An id in the form that the provider of a dialect mints.
fn wire_id(dialect: Dialect, n: usize) -> String {
    match dialect {
        Dialect::AnthropicMessages => format!("toolu_{n:024}"),
        Dialect::BedrockConverse => format!("tooluse_{n:022}"),
        Dialect::Mistral => format!("{n:09}"),
        _ => format!("call_{n:024}"),
    }
}

fn tool_name(n: usize) -> String {
    format!("tool{}", n + 1)
}

/// `a` to `z`, then `a1` and so on.
fn call_name(n: usize) -> String {
    let letter = char::from(b'a' + (n % 26) as u8);
    match n / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}
