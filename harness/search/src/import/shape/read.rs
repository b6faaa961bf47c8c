//! Reads the messages of a session, and numbers calls and tools.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::histories::{self, Block, Role};
use brickbat_scenario::scenario::Signature;
use brickbat_sessions::{self as sessions, Ending};
use serde_json::{Map, Value};

use super::odd::{id_form, name_form};
use super::{
    Shape, ShapeArgs, ShapeBlock, ShapeCall, ShapeId, ShapeMessage, ShapeResult, Words, kinds, measure,
};

impl Shape {
    /// The structure of messages, and the parts that it cannot express.
    pub(in super::super) fn of(
        messages: &[sessions::Message],
        begins_with_summary: bool,
    ) -> (Shape, Vec<&'static str>) {
        let made = messages.iter().flat_map(sessions::Message::calls).map(|call| call.id.clone()).collect();
        let mut reader = Reader { made, ..Reader::default() };
        for message in messages {
            let read = reader.message(message);
            reader.shape.messages.extend(read);
        }
        if begins_with_summary && let Some(first @ ShapeMessage::User(_)) = reader.shape.messages.first_mut()
        {
            *first = ShapeMessage::Compacted;
        }
        reader.left_out.sort_unstable();
        reader.left_out.dedup();
        (reader.shape, reader.left_out)
    }
}

#[derive(Default)]
struct Reader {
    shape: Shape,
    /// The ids of all calls in the session.
    made: BTreeSet<String>,
    /// The numbers of the calls with each id, in order.
    calls: BTreeMap<String, Vec<usize>>,
    /// The ids of results that came before their call, with the number of the call.
    early: BTreeMap<String, usize>,
    answered: BTreeSet<usize>,
    /// The number of leading calls with an id that are answered.
    n_answered: BTreeMap<String, usize>,
    tools: BTreeMap<String, usize>,
    n_calls: usize,
    left_out: Vec<&'static str>,
}

impl Reader {
    fn message(&mut self, message: &sessions::Message) -> Vec<ShapeMessage> {
        if message.role == Role::System {
            let texts = message.blocks.iter().filter_map(|block| match &block.content {
                Block::Text(text) => Some(text.as_str()),
                _ => None,
            });
            return vec![ShapeMessage::System(Words::of(&texts.collect::<Vec<_>>().join("\n")))];
        }
        let says_nothing = message.calls().next().is_none() && message.results().next().is_none();
        if message.ending == Ending::Failed && message.role == Role::Assistant && says_nothing {
            return vec![ShapeMessage::Failed];
        }
        let (mut blocks, mut results, mut said) = (Vec::new(), Vec::new(), Vec::new());
        let is_reply = message.role == Role::Assistant;
        for block in &message.blocks {
            match &block.content {
                Block::Text(text) if is_reply => blocks.push(ShapeBlock::Text(Words::of(text))),
                Block::Text(text) => said.push(ShapeMessage::User(Words::of(text))),
                Block::Thinking(thinking) => blocks.push(thought(thinking)),
                Block::Image(_) if is_reply => self.left_out.push("an image in a reply"),
                Block::Image(image) => {
                    said.push(ShapeMessage::Picture(measure::measured(&image.data).unwrap_or(measure::ANY)));
                }
                Block::Native { .. } => self.left_out.push("a provider-specific block"),
                Block::Call(call) => blocks.push(self.call(call)),
                Block::Result(result) => results.push(self.result(result)),
            }
        }
        let mut messages = Vec::new();
        if is_reply && (!blocks.is_empty() || message.blocks.is_empty()) {
            messages.push(ShapeMessage::Assistant(blocks));
        }
        if !results.is_empty() {
            messages.push(ShapeMessage::Results(results));
        }
        // The texts of one message become one, except for odd ones.
        said.dedup_by(|next, before| next == before && *next == ShapeMessage::User(Words::plain()));
        messages.extend(said);
        messages
    }

    fn call(&mut self, call: &histories::Call) -> ShapeBlock {
        let known = self.calls.get(&call.id).and_then(|calls| calls.first().copied());
        let number = match (known, self.early.remove(&call.id)) {
            (None, Some(early)) => early,
            _ => self.number(),
        };
        let id = match known {
            Some(first) => ShapeId::Same(first),
            None => ShapeId::Foreign(id_form(&call.id, number)),
        };
        self.calls.entry(call.id.clone()).or_default().push(number);
        let tool = self.tool(&call.name);
        self.shape.calls.insert(number, ShapeCall { tool, id });
        ShapeBlock::Call { call: number, args: args(&call.arguments) }
    }

    fn result(&mut self, result: &histories::CallResult) -> ShapeResult {
        let known = self.open(&result.call).or_else(|| self.early.get(&result.call).copied());
        let call = known.unwrap_or_else(|| self.call_elsewhere(result));
        self.answered.insert(call);
        let mut pictures = result.output.iter().filter_map(|block| match block {
            Block::Image(image) => Some(measure::measured(&image.data).unwrap_or(measure::ANY)),
            _ => None,
        });
        let picture = pictures.next();
        if pictures.next().is_some() {
            self.left_out.push("a second image of a result");
        }
        if result.output.is_empty() || result.output.iter().all(is_blank) {
            self.left_out.push("a result without text");
        }
        if result.output.iter().any(|block| matches!(block, Block::Native { .. })) {
            self.left_out.push("a provider-specific block");
        }
        ShapeResult { call, is_error: result.is_error, picture }
    }

    /// The first call with this id that has no result yet, or otherwise the last call with the id.
    fn open(&mut self, id: &str) -> Option<usize> {
        let made = self.calls.get(id)?;
        // If the product has no ids, all calls of a conversation are in this list.
        let n_answered = self.n_answered.entry(id.to_owned()).or_default();
        *n_answered += made[*n_answered..].iter().take_while(|call| self.answered.contains(call)).count();
        made.get(*n_answered).or(made.last()).copied()
    }

    /// The call number for a result that comes before its call, or whose call is missing.
    fn call_elsewhere(&mut self, result: &histories::CallResult) -> usize {
        let number = self.number();
        if self.made.contains(&result.call) {
            self.early.insert(result.call.clone(), number);
        } else {
            self.calls.insert(result.call.clone(), vec![number]);
        }
        let tool = self.tool(&result.name);
        let id = ShapeId::Foreign(id_form(&result.call, number));
        self.shape.calls.insert(number, ShapeCall { tool, id });
        number
    }

    fn number(&mut self) -> usize {
        self.n_calls += 1;
        self.n_calls - 1
    }

    fn tool(&mut self, name: &str) -> usize {
        let n = self.tools.len();
        let tool = *self.tools.entry(name.to_owned()).or_insert(n);
        if let Some(form) = name_form(name, tool) {
            self.shape.tools.insert(tool, form);
        }
        tool
    }
}

fn is_blank(block: &Block) -> bool {
    matches!(block, Block::Text(text) if text.trim().is_empty())
}

fn thought(thinking: &histories::Thinking) -> ShapeBlock {
    let signature = match thinking.signature.as_deref() {
        None => Signature::Absent,
        Some("") => Signature::Empty,
        Some(_) => Signature::Full,
    };
    ShapeBlock::Think { has_words: !thinking.text.is_empty(), signature }
}

/// Reduces arguments to their types, or to the kind of their defect.
fn args(text: &str) -> ShapeArgs {
    if let Ok(fields) = serde_json::from_str::<Map<String, Value>>(text) {
        return ShapeArgs::Object(kinds(&fields));
    }
    let raw = match serde_json::from_str::<Value>(text) {
        Ok(Value::Null) => "null",
        Ok(Value::Bool(_)) => "true",
        Ok(Value::Number(_)) => "1",
        Ok(Value::String(_)) => "\"text\"",
        Ok(Value::Array(_)) => "[]",
        Ok(Value::Object(_)) | Err(_) if text.trim().is_empty() => "",
        Ok(Value::Object(_)) | Err(_) if is_several(text) => "{\"p1\":\"text\"}{\"p1\":\"text\"}",
        Ok(Value::Object(_)) | Err(_) if text.trim_start().starts_with('{') => "{\"p1\":\"te",
        Ok(Value::Object(_)) | Err(_) => "text",
    };
    ShapeArgs::Raw(raw)
}

/// True if a text consists of several JSON values, as from two attempts that were joined.
fn is_several(text: &str) -> bool {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    values.by_ref().take(2).filter(Result::is_ok).count() == 2
}
