//! Codex's send model: each call gets an output, and each output has a call.
//!
//! Source: `ContextManager::for_prompt` and `codex-rs/core/src/context_manager/normalize.rs` of
//! <https://github.com/openai/codex>, which write nothing back. They pair calls and outputs by sets of ids,
//! with one set per kind of tool. They therefore miss an output before its call, a second output, and an id
//! that is used twice.

use std::collections::BTreeSet;

use brickbat_rules::Dialect;
use brickbat_rules::histories::{Block, CallResult, Image, Role};
use serde_json::{Value, json};

use super::items::{CUSTOM, CUSTOM_OUTPUT, SEARCH, SEARCH_OUTPUT, SHELL};
use super::read::{ORDINAL_MISSING, ORDINAL_REPEATED};
use super::replay::group;
use crate::{Ending, Message, Place, Sent, Session, Trouble};

const ANSWERED: &str = "answers calls without an output with `aborted`";
const SEARCHED: &str = "answers tool searches without an output as completed, with no tools";
const LEFT_OUT: &str = "leaves out outputs without a call";

/// The messages that Codex sends for a session.
pub(super) fn send(session: &Session) -> Sent {
    let items = single(&session.messages);
    let pairs = Pairs::of(&items);
    let (mut n_answered, mut n_searched) = (0, 0);
    let mut sent = Vec::with_capacity(items.len());
    for item in items {
        let answer = pairs.answer(&item);
        sent.push(item);
        if let Some(answer) = answer {
            match answer.blocks.first().and_then(|block| block.state.as_deref()) {
                Some(SEARCH_OUTPUT) => n_searched += 1,
                _ => n_answered += 1,
            }
            sent.push(answer);
        }
    }
    let n_before = sent.len();
    sent.retain(|item| !pairs.is_orphan(item));
    let n_left_out = n_before - sent.len();
    for block in sent.iter_mut().flat_map(|item| &mut item.blocks) {
        if let Some(value) = native(block) {
            block.content = Block::Native { dialect: Dialect::OpenaiResponses, value };
        }
    }
    let mended = [(ANSWERED, n_answered), (SEARCHED, n_searched), (LEFT_OUT, n_left_out)];
    let mended = mended.into_iter().filter(|(_, n)| *n > 0).collect();
    let messages = group(sent).into_iter().map(with_own_id).collect();
    Sent { messages, mended, gives_up: gives_up(session) }
}

/// Codex does not resume a paginated rollout if its last record has no ordinal (`ordinal_state_for_rollout` in
/// `codex-rs/rollout/src/ordinal.rs`). After a repeated ordinal it shows no later turns, and cannot fork the thread
/// (<https://github.com/openai/codex/issues/41566>).
fn gives_up(session: &Session) -> Option<(String, Place)> {
    let words = |trouble: &Trouble| match trouble.words.as_str() {
        ORDINAL_MISSING => Some("final paginated rollout record is missing an ordinal"),
        ORDINAL_REPEATED => Some("Codex shows no turns after this record, and cannot fork the thread."),
        _ => None,
    };
    let mut found = session.troubles.iter().filter(|trouble| trouble.loses.is_some());
    found.find_map(|trouble| Some((words(trouble)?.to_owned(), trouble.place.clone())))
}

/// Returns whether Codex answers every trailing call without an output after it. If the output comes before
/// its call, Codex does not answer the call.
pub(super) fn fills_tail(session: &Session) -> bool {
    let Some(last) = session.messages.iter().rposition(|message| message.role == Role::Assistant) else {
        return true;
    };
    let (before, tail) = session.messages.split_at(last);
    let before = Pairs::of(before);
    let tail = Pairs::of(tail);
    tail.calls.difference(&tail.outputs).all(|call| !before.outputs.contains(call))
}

/// Splits messages into items. The parts of one item stay together.
fn single(messages: &[Message]) -> Vec<Message> {
    let mut items = Vec::new();
    for message in messages {
        if !matches!(message.role, Role::Assistant | Role::Tool) {
            items.push(message.clone());
            continue;
        }
        let is_said = |block: &crate::Block| message.id.is_some() && said(block).is_some();
        let one = |blocks: &[crate::Block]| {
            let first = blocks.first()?;
            Some(Message {
                role: message.role,
                blocks: blocks.to_vec(),
                id: message.id.clone().filter(|_| is_said(first)),
                place: first.place.clone(),
                ending: message.ending,
            })
        };
        let stretches = message.blocks.chunk_by(|block, next| is_said(block) && is_said(next));
        items.extend(stretches.filter_map(one));
    }
    items
}

/// Sends texts with the id of their item, if there is one, and messages of the developer as items at their place.
fn with_own_id(mut message: Message) -> Message {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "developer",
        Role::Tool => return message,
    };
    if message.id.is_none() && message.role != Role::System {
        return message;
    }
    let is_said = |block: &crate::Block| said(block).is_some();
    let Some(first) = message.blocks.iter().position(is_said) else { return message };
    let content: Vec<Value> = message.blocks.iter().filter_map(said).map(|part| part.of(role)).collect();
    let mut value = json!({ "type": "message", "role": role, "content": content });
    if let Some(id) = &message.id {
        value["id"] = json!(id);
    }
    // The item extends to its last part.
    let end = message.blocks.iter().rfind(|block| is_said(block)).map(|last| last.place.end);
    let item = &mut message.blocks[first];
    item.place.end = end.unwrap_or(item.place.end);
    // The provider rejects the item as such, so the place is that of the item.
    if let Some((whole, _)) = item.place.pointer.rsplit_once("/content/") {
        item.place.pointer = whole.to_owned();
    }
    item.content = Block::Native { dialect: Dialect::OpenaiResponses, value };
    message.blocks.retain(|block| !is_said(block));
    if message.role == Role::System {
        message.role = Role::User;
    }
    message
}

/// A part in a message item.
enum Said<'a> {
    Text(&'a str),
    Image(&'a Image),
}

fn said(block: &crate::Block) -> Option<Said<'_>> {
    match &block.content {
        Block::Text(text) => Some(Said::Text(text)),
        Block::Image(image) => Some(Said::Image(image)),
        _ => None,
    }
}

impl Said<'_> {
    fn of(&self, role: &str) -> Value {
        match self {
            Said::Text(text) if role == "assistant" => json!({ "type": "output_text", "text": text }),
            Said::Text(text) => json!({ "type": "input_text", "text": text }),
            Said::Image(Image { media_type, data }) => {
                json!({ "type": "input_image", "image_url": format!("data:{media_type};base64,{data}") })
            }
        }
    }
}

/// The kinds of tools. Each has its own set of ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Function,
    Custom,
    Search,
}

/// The ids of all calls and outputs.
struct Pairs {
    calls: BTreeSet<(Sort, String)>,
    outputs: BTreeSet<(Sort, String)>,
}

impl Pairs {
    fn of(items: &[Message]) -> Pairs {
        let mut pairs = Pairs { calls: BTreeSet::new(), outputs: BTreeSet::new() };
        for block in items.iter().flat_map(|item| &item.blocks) {
            match &block.content {
                Block::Call(call) => pairs.calls.insert((sort(block), call.id.clone())),
                Block::Result(result) => pairs.outputs.insert((sort(block), result.call.clone())),
                _ => continue,
            };
        }
        pairs
    }

    /// The output that Codex inserts directly after a call without one.
    fn answer(&self, item: &Message) -> Option<Message> {
        let block = item.blocks.first()?;
        let Block::Call(call) = &block.content else { return None };
        let sort = sort(block);
        if self.outputs.contains(&(sort, call.id.clone())) {
            return None;
        }
        let (output, state) = match sort {
            Sort::Function => (Block::Text("aborted".to_owned()), None),
            Sort::Custom => (Block::Text("aborted".to_owned()), Some(CUSTOM_OUTPUT)),
            Sort::Search => {
                let value = json!({
                    "type": SEARCH_OUTPUT,
                    "call_id": call.id,
                    "status": "completed",
                    "execution": "client",
                    "tools": [],
                });
                (Block::Native { dialect: Dialect::OpenaiResponses, value }, Some(SEARCH_OUTPUT))
            }
        };
        let result = CallResult::new(&call.id, "", vec![output]);
        let content = Block::Result(result);
        let block = crate::Block { place: block.place.clone(), content, state: state.map(str::to_owned) };
        let place = block.place.clone();
        Some(Message { role: Role::Tool, blocks: vec![block], id: None, place, ending: Ending::Whole })
    }

    fn is_orphan(&self, item: &Message) -> bool {
        item.blocks.first().is_some_and(|block| match &block.content {
            Block::Result(result) => !self.calls.contains(&(sort(block), result.call.clone())),
            _ => false,
        })
    }
}

/// The kind of a call or an output. Local shell calls use function outputs.
fn sort(block: &crate::Block) -> Sort {
    match block.state.as_deref() {
        Some(CUSTOM | CUSTOM_OUTPUT) => Sort::Custom,
        Some(SEARCH | SEARCH_OUTPUT) => Sort::Search,
        _ => Sort::Function,
    }
}

/// The item of a call or an output that does not belong to a function.
fn native(block: &crate::Block) -> Option<Value> {
    let kind = block.state.as_deref()?;
    match (&block.content, kind) {
        (Block::Call(call), CUSTOM) => Some(with_id(
            call.item.as_deref(),
            json!({ "type": kind, "call_id": call.id, "name": call.name, "input": call.arguments }),
        )),
        (Block::Call(call), SHELL) => {
            let action = parsed(&call.arguments);
            Some(with_id(
                call.item.as_deref(),
                json!({ "type": kind, "call_id": call.id, "status": "completed", "action": action }),
            ))
        }
        (Block::Call(call), SEARCH) => {
            let arguments = parsed(&call.arguments);
            let item =
                json!({ "type": kind, "call_id": call.id, "execution": "client", "arguments": arguments });
            Some(with_id(call.item.as_deref(), item))
        }
        (Block::Result(result), CUSTOM_OUTPUT) => {
            let item = json!({ "type": kind, "call_id": result.call, "output": output(result) });
            Some(with_id(result.item.as_deref(), item))
        }
        (Block::Result(result), SEARCH_OUTPUT) => match result.output.first() {
            Some(Block::Native { value, .. }) => Some(value.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn with_id(id: Option<&str>, mut item: Value) -> Value {
    if let Some(id) = id {
        item["id"] = json!(id);
    }
    item
}

fn parsed(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or(Value::Null)
}

/// A text, or a list of parts if there is an image.
fn output(result: &CallResult) -> Value {
    if !result.output.iter().any(|block| matches!(block, Block::Image(_))) {
        return json!(result.text());
    }
    let part = |block: &Block| match block {
        Block::Text(text) => Some(json!({ "type": "input_text", "text": text })),
        Block::Image(Image { media_type, data }) => {
            Some(json!({ "type": "input_image", "image_url": format!("data:{media_type};base64,{data}") }))
        }
        _ => None,
    };
    Value::Array(result.output.iter().filter_map(part).collect())
}
