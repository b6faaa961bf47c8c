//! Messages from the middle of a conversation, with messages around them that any provider takes.
//!
//! The messages around an excerpt are the most favourable: they make the calls that its first results answer, and answer
//! its last calls. So nothing is reported that depends on messages that the text does not show.

use std::ops::Range;

use serde_json::Value;

use crate::histories::{Block, Call, CallResult, Message, Placement, Role, list_in, read, render};
use crate::json::Document;
use crate::{Dialect, detect};

/// Any text.
const SOME_TEXT: &str = "…";

/// A list of messages, with others around those of the text.
#[derive(Debug, PartialEq)]
pub(super) struct Completed {
    pub(super) list: Value,
    /// The messages of the text.
    pub(super) own: Range<usize>,
}

impl Completed {
    /// The number of messages that were added after those of the text.
    pub(super) fn n_after(&self) -> usize {
        self.list.as_array().map_or(0, Vec::len) - self.own.end
    }
}

/// Completes an excerpt. A request has the excerpt in its list.
pub(super) fn completed(dialect: Dialect, request: &Value) -> Option<Completed> {
    let text = request.to_string();
    let document = Document::parse(text.as_bytes()).ok()?;
    let own = list_in(dialect, document.root()).to_value();
    let own = own.as_array().filter(|own| !own.is_empty())?;
    let mut messages = read(dialect, &Value::Array(own.clone()));
    messages.retain(|message| message.role != Role::System);
    let written = |messages: &[Message]| {
        let mut body = render(dialect, None, messages).body;
        let list = body.get_mut(crate::list_of(dialect)).map(Value::take);
        list.and_then(|list| list.as_array().cloned()).unwrap_or_default()
    };
    let before = written(&before(&messages));
    let after = written(&after(dialect, &messages));
    let range = before.len()..before.len() + own.len();
    let list = before.into_iter().chain(own.iter().cloned()).chain(after).collect();
    Some(Completed { list, own: range })
}

/// Completes a request that begins with results.
pub(super) fn after_calls(request: &Value) -> Option<Completed> {
    let dialect = detect(request.to_string().as_bytes())?;
    let completed = completed(dialect, request)?;
    let first = completed.list.get(completed.own.start)?;
    let messages = read(dialect, &Value::Array(vec![first.clone()]));
    messages.first().is_some_and(|first| results(first).next().is_some()).then_some(completed)
}

/// Puts a list into a request, or in place of one that is only a list.
pub(super) fn put(request: &mut Value, list: Value) {
    let name = Dialect::ALL.into_iter().map(crate::list_of).find(|name| request.get(*name).is_some());
    match name {
        Some(name) => request[name] = list,
        None => *request = list,
    }
}

fn results(message: &Message) -> impl Iterator<Item = &CallResult> {
    message.blocks.iter().filter_map(|block| match block {
        Block::Result(result) => Some(result),
        _ => None,
    })
}

fn calls(message: &Message) -> impl Iterator<Item = &Call> {
    message.blocks.iter().filter_map(|block| match block {
        Block::Call(call) => Some(call),
        _ => None,
    })
}

fn before(messages: &[Message]) -> Vec<Message> {
    let leading = messages.iter().take_while(|message| results(message).next().is_some());
    let calls: Vec<Block> = leading
        .flat_map(results)
        .map(|result| {
            let name = if result.name.is_empty() { "tool" } else { &result.name };
            Block::Call(Call::new(&result.call, name, "{}"))
        })
        .collect();
    let is_reply = messages.first().is_some_and(|first| first.role == Role::Assistant);
    let mut before = Vec::new();
    if is_reply || !calls.is_empty() {
        before.push(Message::text(Role::User, SOME_TEXT));
    }
    before.extend((!calls.is_empty()).then_some(Message { role: Role::Assistant, blocks: calls }));
    before
}

fn after(dialect: Dialect, messages: &[Message]) -> Vec<Message> {
    let Some(last) = messages.iter().rposition(|message| message.role == Role::Assistant) else {
        return Vec::new();
    };
    let (reply, rest) = (&messages[last], &messages[last + 1..]);
    if rest.iter().any(|message| results(message).next().is_none()) {
        return Vec::new();
    }
    let answered: Vec<&str> = rest.iter().flat_map(results).map(|result| result.call.as_str()).collect();
    let open: Vec<&Call> = calls(reply).filter(|call| !answered.contains(&call.id.as_str())).collect();
    let may_follow = match dialect.codec().placement {
        Placement::Apart => true,
        // All results are in one message.
        Placement::InMessage { .. } => rest.is_empty(),
    };
    if !open.is_empty() && may_follow {
        let result = |call: &&Call| {
            Block::Result(CallResult::new(&call.id, &call.name, vec![Block::Text(SOME_TEXT.to_owned())]))
        };
        return vec![Message { role: Role::Tool, blocks: open.iter().map(result).collect() }];
    }
    match rest.is_empty() {
        true => vec![Message::text(Role::User, SOME_TEXT)],
        false => Vec::new(),
    }
}
