//! The structure of a session, as far as a given history can express it.

mod measure;
mod odd;
mod read;
mod render;

use std::collections::{BTreeMap, BTreeSet};

use brickbat_scenario::scenario::{
    Call, CallId, GivenBlock, GivenHistory, GivenMessage, GivenResult, GivenThought, Picture, Signature,
};
use serde_json::{Map, Value, json};

pub(super) use measure::ANY as ANY_PICTURE;
pub(super) use odd::Words;

/// The structure of a conversation, without its texts.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Shape {
    pub(super) messages: Vec<ShapeMessage>,
    /// The oddities in ids and names, by call and tool number. A call that is not in any message is lost.
    pub(super) calls: BTreeMap<usize, ShapeCall>,
    pub(super) tools: BTreeMap<usize, String>,
}

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ShapeMessage {
    /// A user message.
    User(Words),
    /// An image from the user.
    Picture(Picture),
    /// Instructions in the middle of the conversation.
    System(Words),
    /// A reply of the model.
    Assistant(Vec<ShapeBlock>),
    /// A failed reply.
    Failed,
    /// Results, in one message.
    Results(Vec<ShapeResult>),
    /// A summary that replaced everything before it.
    Compacted,
}

/// A block of a reply.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ShapeBlock {
    Think {
        /// True if the store has the text.
        has_words: bool,
        signature: Signature,
    },
    Text(Words),
    /// A call, by its number.
    Call {
        call: usize,
        args: ShapeArgs,
    },
}

/// The properties of a call wherever it is mentioned.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ShapeCall {
    /// The number of the tool.
    pub(super) tool: usize,
    pub(super) id: ShapeId,
}

/// The id of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ShapeId {
    /// An id issued by the provider.
    Own,
    /// An id with this format.
    Foreign(String),
    /// The id of another call.
    Same(usize),
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ShapeArgs {
    /// An object, by the types of its values.
    Object(Map<String, Value>),
    /// Anything else, as an example text of its kind.
    Raw(&'static str),
}

/// The result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShapeResult {
    pub(super) call: usize,
    pub(super) is_error: bool,
    pub(super) picture: Option<Picture>,
}

impl Shape {
    /// The structure with calls and tools renumbered in the order of the conversation, and without unused
    /// ones.
    pub(super) fn named(&self) -> Shape {
        let mut order: Vec<usize> = Vec::new();
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        for call in self.messages.iter().flat_map(ShapeMessage::calls) {
            numbers.entry(call).or_insert_with(|| {
                order.push(call);
                order.len() - 1
            });
        }
        let number = |call: usize| numbers.get(&call).copied().unwrap_or(order.len());
        let mut tools: BTreeMap<usize, usize> = BTreeMap::new();
        let mut named = Shape::default();
        for (n, call) in order.iter().enumerate() {
            let Some(ShapeCall { tool, id }) = self.calls.get(call) else { continue };
            let n_tools = tools.len();
            let tool = *tools.entry(*tool).or_insert(n_tools);
            let id = match id {
                ShapeId::Same(other) if numbers.contains_key(other) => ShapeId::Same(number(*other)),
                ShapeId::Same(_) => ShapeId::Own,
                other => other.clone(),
            };
            named.calls.insert(n, ShapeCall { tool, id });
        }
        let odd = tools.iter().filter_map(|(tool, n)| Some((*n, self.tools.get(tool)?.clone())));
        named.tools = odd.collect();
        named.messages = self.messages.clone();
        for message in &mut named.messages {
            match message {
                ShapeMessage::Assistant(blocks) => {
                    for block in blocks {
                        if let ShapeBlock::Call { call, .. } = block {
                            *call = number(*call);
                        }
                    }
                }
                ShapeMessage::Results(results) => {
                    results.iter_mut().for_each(|result| result.call = number(result.call));
                }
                _ => {}
            }
        }
        named
    }

    /// The calls that results refer to but no message contains.
    pub(super) fn lost(&self) -> Vec<usize> {
        let made: BTreeSet<usize> = self.messages.iter().flat_map(ShapeMessage::made).collect();
        let results = self.messages.iter().flat_map(ShapeMessage::results);
        let answered: BTreeSet<usize> = results.map(|result| result.call).collect();
        let calls = self.calls.keys().copied();
        calls.filter(|call| !made.contains(call) && answered.contains(call)).collect()
    }

    /// Removes unused calls and tools, so that a small structure is small.
    pub(super) fn prune(&mut self) {
        let mut spoken: BTreeSet<usize> = self.messages.iter().flat_map(ShapeMessage::calls).collect();
        let same = spoken.iter().filter_map(|call| match self.calls.get(call)?.id {
            ShapeId::Same(other) => Some(other),
            ShapeId::Own | ShapeId::Foreign(_) => None,
        });
        let same: Vec<usize> = same.collect();
        spoken.extend(same);
        self.calls.retain(|call, _| spoken.contains(call));
        let tools: BTreeSet<usize> = self.calls.values().map(|call| call.tool).collect();
        self.tools.retain(|tool, _| tools.contains(tool));
    }

    /// The tools: the name of each in the scenario, and the odd name by which the model calls it, if it is
    /// odd. Valid only for a structure from [`Shape::named`].
    pub(super) fn tools(&self) -> Vec<(String, Option<&str>)> {
        let calls = self.calls.values().map(|call| call.tool);
        let mut used: Vec<usize> = calls.collect();
        used.sort_unstable();
        used.dedup();
        used.into_iter().map(|tool| (tool_name(tool), self.tools.get(&tool).map(String::as_str))).collect()
    }

    /// The structure as a given history.
    pub(super) fn history(&self, comment: String) -> GivenHistory {
        let lost = self.lost().into_iter().map(|call| self.call(call, None)).collect();
        let messages =
            self.messages.iter().enumerate().map(|(n, message)| self.message(n, message)).collect();
        GivenHistory { schema: 1, comment, source: String::new(), lost, messages }
    }

    fn message(&self, n: usize, message: &ShapeMessage) -> GivenMessage {
        match message {
            ShapeMessage::User(words) => GivenMessage::User(words.text(&format!("Message {}.", n + 1))),
            ShapeMessage::Picture(picture) => GivenMessage::Picture(*picture),
            ShapeMessage::System(words) => {
                GivenMessage::System(words.text(&format!("Instructions {}.", n + 1)))
            }
            ShapeMessage::Failed => GivenMessage::Failed("The reply failed.".to_owned()),
            ShapeMessage::Compacted => GivenMessage::Compacted(format!("Summary {}.", n + 1)),
            ShapeMessage::Assistant(blocks) => {
                GivenMessage::Assistant(blocks.iter().map(|block| self.block(n, block)).collect())
            }
            ShapeMessage::Results(results) => {
                let result = |result: &ShapeResult| {
                    let text = Some("what came of it".to_owned());
                    let (returns, fails) = if result.is_error { (None, text) } else { (text, None) };
                    GivenResult { of: call_name(result.call), returns, fails, shows: result.picture }
                };
                GivenMessage::Results(results.iter().map(result).collect())
            }
        }
    }

    fn block(&self, n: usize, block: &ShapeBlock) -> GivenBlock {
        match block {
            ShapeBlock::Think { has_words, signature } => {
                let text = if *has_words { format!("Thought {}.", n + 1) } else { String::new() };
                GivenBlock::Think(GivenThought { text, signature: *signature })
            }
            ShapeBlock::Text(words) => GivenBlock::Text(words.text(&format!("Reply {}.", n + 1))),
            ShapeBlock::Call { call, args } => GivenBlock::Call(self.call(*call, Some(args))),
        }
    }

    pub(super) fn call(&self, number: usize, args: Option<&ShapeArgs>) -> Call {
        let known = self.calls.get(&number);
        let id = known.and_then(|call| match &call.id {
            ShapeId::Own => None,
            ShapeId::Foreign(text) => Some(CallId::Text(text.clone())),
            ShapeId::Same(other) => Some(CallId::Same(call_name(*other))),
        });
        let (args, raw) = match args {
            Some(ShapeArgs::Object(fields)) => (fields.clone().into_iter().collect(), None),
            Some(ShapeArgs::Raw(text)) => (BTreeMap::new(), Some((*text).to_owned())),
            None => (BTreeMap::new(), None),
        };
        let tool = tool_name(known.map_or(0, |call| call.tool));
        Call { args, raw, id, ..Call::new(call_name(number), tool) }
    }
}

impl ShapeMessage {
    /// The calls that the message makes.
    pub(super) fn made(&self) -> impl Iterator<Item = usize> + '_ {
        let blocks = match self {
            ShapeMessage::Assistant(blocks) => blocks.as_slice(),
            _ => &[],
        };
        blocks.iter().filter_map(|block| match block {
            ShapeBlock::Call { call, .. } => Some(*call),
            _ => None,
        })
    }

    /// The results in the message.
    pub(super) fn results(&self) -> &[ShapeResult] {
        match self {
            ShapeMessage::Results(results) => results,
            _ => &[],
        }
    }

    /// The calls in the message, and those that it answers.
    fn calls(&self) -> impl Iterator<Item = usize> + '_ {
        self.made().chain(self.results().iter().map(|result| result.call))
    }
}

/// Reduces arguments to their types: a number stays a number, and every value with text becomes a word.
pub(super) fn kinds(fields: &Map<String, Value>) -> Map<String, Value> {
    /// The maximum number of arguments kept per call. Threads do not break because of the thirtieth.
    const MAX_ARGUMENTS: usize = 8;
    let kind = |value: &Value| match value {
        Value::Bool(_) => json!(true),
        Value::Number(_) => json!(1),
        _ => json!("text"),
    };
    let named = fields.values().take(MAX_ARGUMENTS).enumerate();
    named.map(|(n, value)| (format!("p{}", n + 1), kind(value))).collect()
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
