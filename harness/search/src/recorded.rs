//! Makes a scenario without faults from a recorded conversation, so that it can be explored.
//!
//! It keeps the order of the messages and their roles, the calls in each reply, and the results of their
//! tools. Parts that a scenario cannot express are left out and listed. A tool in a scenario always returns
//! the same text. If a recorded tool returned different texts, the scenario's tool returns the name of the
//! call instead.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::Document;
use brickbat_scenario::history::{Content, History, Item, Role};
use brickbat_scenario::lower::{MAX_ARGS, MAX_BLOCKS, MAX_CALLS, MAX_REPLIES, MAX_TOOLS, MAX_TURNS};
use brickbat_scenario::plan::MARKER;
use brickbat_scenario::scenario::{Block, Call, Reply, Scenario, Tool, Turn};
use brickbat_scenario::wire;

/// A scenario that was made from a recorded conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The scenario.
    pub scenario: Scenario,
    /// Descriptions of the parts that are left out.
    pub left_out: Vec<&'static str>,
}

/// The maximum number of characters kept of a text: structure decides what breaks a thread, and a text is
/// sent again with every request.
const MAX_CHARS: usize = 2_000;

/// The text to use if none was recorded.
const GOES_ON: &str = "It goes on.";

/// The number of conversation items in a request: the last recorded request of a thread has the most.
pub fn n_items(dialect: Dialect, request: &[u8]) -> usize {
    Document::parse(request).map_or(0, |document| wire::history(dialect, document.root()).items.len())
}

/// Makes a scenario from the conversation in a request, and from the recorded reply to it. Returns `None` if
/// the conversation has no user message.
pub fn recorded(dialect: Dialect, request: &[u8], reply: Option<&Value>) -> Option<Recorded> {
    let document = Document::parse(request).ok()?;
    let history = wire::history(dialect, document.root());
    let mut reader = Reader::default();
    reader.results(&history);
    history.items.iter().for_each(|item| reader.item(item));
    if let Some(reply) = reply {
        reader.reply(reply);
    }
    reader.finish(dialect)
}

/// Reads a conversation from its beginning.
#[derive(Default)]
struct Reader {
    /// The outcome of each call, by its id.
    results: BTreeMap<String, Outcome>,
    /// The messages that contain results.
    with_results: BTreeSet<usize>,
    turns: Vec<Turn>,
    /// The last message of the model that was read: its further blocks belong to the same reply.
    reply_of: Option<usize>,
    /// Each call with its tool's outcome, in order.
    calls: Vec<(Call, Outcome)>,
    left_out: BTreeSet<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Outcome {
    text: String,
    is_error: bool,
}

impl Reader {
    fn results(&mut self, history: &History) {
        for item in &history.items {
            if let Content::Result { id, text, is_error } = &item.content {
                let outcome = Outcome { text: text.clone(), is_error: *is_error == Some(true) };
                self.results.insert(id.clone(), outcome);
                self.with_results.insert(item.message);
            }
        }
    }

    fn item(&mut self, item: &Item) {
        match (&item.content, item.role) {
            (Content::Text { text }, Role::User) if self.with_results.contains(&item.message) => {
                if !text.trim().is_empty() {
                    self.left_out.insert("notes beside results");
                }
            }
            (Content::Text { text }, Role::User) => self.said_by_user(text),
            (Content::Text { text }, Role::Assistant) => {
                self.block(item.message, said(text).map(Block::Text))
            }
            (Content::Call { id, name, args }, Role::Assistant) => {
                let call = self.call(id, name, args);
                self.block(item.message, Some(Block::Call(call)));
            }
            (Content::Result { .. }, _) => self.reply_of = None,
            (Content::Thought { .. }, _) => {
                self.left_out.insert("thinking");
            }
            // Instructions belong to the system.
            (_, Role::Other) => {}
            _ => {
                self.left_out.insert("images, files and provider-specific content");
            }
        }
    }

    fn said_by_user(&mut self, text: &str) {
        let Some(text) = said(text) else { return };
        self.reply_of = None;
        match self.turns.last_mut() {
            Some(turn) if turn.replies.is_empty() => {
                turn.user = shortened(&format!("{}\n{text}", turn.user));
            }
            _ => self.turns.push(Turn::new(text, Vec::new())),
        }
    }

    fn call(&mut self, id: &str, name: &str, args: &Value) -> Call {
        let outcome = self.results.get(id).cloned();
        if outcome.is_none() {
            self.left_out.insert("that calls had no results: a scenario expresses this with a stop");
        }
        let outcome = outcome.unwrap_or(Outcome { text: GOES_ON.to_owned(), is_error: false });
        let call = Call { args: self.args(args), ..Call::new(call_name(self.calls.len()), tool_name(name)) };
        self.calls.push((call.clone(), outcome));
        call
    }

    /// The arguments; a scenario supports strings, numbers and booleans.
    fn args(&mut self, args: &Value) -> BTreeMap<String, Value> {
        let Some(fields) = args.as_object() else {
            self.left_out.insert("arguments that are not an object");
            return BTreeMap::new();
        };
        let mut own = BTreeMap::new();
        for (key, value) in fields.iter().filter(|(key, _)| *key != MARKER).take(MAX_ARGS) {
            let value = match value {
                Value::String(text) => Value::from(shortened(text)),
                Value::Number(_) | Value::Bool(_) => value.clone(),
                other => {
                    self.left_out.insert("the structure of arguments, which become texts");
                    Value::from(shortened(&other.to_string()))
                }
            };
            own.insert(key.clone(), value);
        }
        own
    }

    /// Adds a block to the reply for a model message, or begins a new reply.
    fn block(&mut self, message: usize, block: Option<Block>) {
        let (Some(block), Some(turn)) = (block, self.turns.last_mut()) else { return };
        match turn.replies.last_mut().and_then(|reply| reply.attempts.first_mut()) {
            // Two messages of the model without results between them are one reply.
            Some(blocks) if self.reply_of.is_some() => {
                if blocks.len() < MAX_BLOCKS {
                    blocks.push(block);
                }
            }
            _ => turn.replies.push(Reply::new(vec![block])),
        }
        self.reply_of = Some(message);
    }

    /// Reads the reply to the request itself.
    fn reply(&mut self, reply: &Value) {
        self.reply_of = None;
        for block in reply.as_array().into_iter().flatten() {
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let said = match (&block["text"], &block["call"]) {
                (Value::String(text), _) => said(text).map(Block::Text),
                (_, Value::Object(call)) => {
                    let text = |key: &str| call.get(key).map(word).unwrap_or_default();
                    let args = serde_json::from_str(&text("arguments")).unwrap_or(Value::Null);
                    Some(Block::Call(self.call(&text("id"), &text("name"), &args)))
                }
                _ => None,
            };
            self.block(usize::MAX, said);
        }
    }

    fn finish(mut self, dialect: Dialect) -> Option<Recorded> {
        for turn in &mut self.turns {
            let is_open = turn.replies.last().is_none_or(|reply| reply.calls().next().is_some());
            if is_open {
                turn.replies.push(Reply::new(vec![Block::Text(GOES_ON.to_owned())]));
            }
            if turn.replies.len() > MAX_REPLIES {
                self.left_out.insert("steps in the middle of long turns");
                turn.replies.drain(MAX_REPLIES - 1..turn.replies.len() - 1);
            }
        }
        let n_calls = |turns: &[Turn]| turns.iter().map(|turn| turn.calls().count()).sum::<usize>();
        while self.turns.len() > MAX_TURNS || (self.turns.len() > 1 && n_calls(&self.turns) > MAX_CALLS) {
            self.left_out.insert("the first turns of a long conversation");
            self.turns.remove(0);
        }
        if self.turns.is_empty() {
            return None;
        }
        let kept: BTreeSet<String> =
            self.turns.iter().flat_map(Turn::calls).map(|call| call.name.clone()).collect();
        self.calls.retain(|(call, _)| kept.contains(&call.name));
        let mut scenario = Scenario {
            tools: self.tools(),
            turns: std::mem::take(&mut self.turns),
            ..Scenario::new(format!("A conversation that was recorded on {dialect}."))
        };
        of_one_kind(&mut scenario);
        Some(Recorded { scenario, left_out: self.left_out.into_iter().collect() })
    }

    /// The tools that are called, each with its result.
    fn tools(&mut self) -> BTreeMap<String, Tool> {
        let mut by_tool: BTreeMap<&str, Vec<&(Call, Outcome)>> = BTreeMap::new();
        for call in &self.calls {
            by_tool.entry(&call.0.tool).or_default().push(call);
        }
        let mut tools = BTreeMap::new();
        for (name, calls) in by_tool.into_iter().take(MAX_TOOLS) {
            let (_, first) = calls[0];
            let text = match calls.iter().all(|(_, outcome)| outcome == first) {
                true => without_keys(&shortened(&first.text)),
                false => {
                    self.left_out.insert("what tools returned, where it differs from call to call");
                    // An argument that all calls have can distinguish the results.
                    let shared = calls[0].0.args.keys().find(|key| {
                        is_key(key) && calls.iter().all(|(call, _)| call.args.contains_key(*key))
                    });
                    match shared {
                        Some(key) => format!("result of {name} for {{{key}}}"),
                        None => format!("result of {name}"),
                    }
                }
            };
            let all_fail = calls.iter().all(|(_, outcome)| outcome.is_error);
            let text = if text.trim().is_empty() { String::new() } else { text };
            let (returns, fails) = if all_fail { (None, Some(text)) } else { (Some(text), None) };
            let tool = Tool { returns, fails, ..Tool::default() };
            tools.insert(name.to_owned(), tool);
        }
        tools
    }
}

/// Turns an argument that has several types into a string everywhere, because a tool's schema has one type
/// for each argument.
fn of_one_kind(scenario: &mut Scenario) {
    let mut kinds: BTreeMap<(String, String), BTreeSet<u8>> = BTreeMap::new();
    let kind = |value: &Value| match value {
        Value::Bool(_) => 0,
        Value::Number(_) => 1,
        _ => 2,
    };
    for call in scenario.calls() {
        for (key, value) in &call.args {
            kinds.entry((call.tool.clone(), key.clone())).or_default().insert(kind(value));
        }
    }
    for call in scenario.calls_mut() {
        for (key, value) in &mut call.args {
            let has_several =
                kinds.get(&(call.tool.clone(), key.clone())).is_some_and(|kinds| kinds.len() > 1);
            if has_several && !value.is_string() {
                *value = Value::from(value.to_string());
            }
        }
    }
}

/// The text of a message; `None` if it is blank.
fn said(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| shortened(text))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A text in which no braces refer to an argument.
fn without_keys(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, after) = rest.split_at(open + 1);
        plain.push_str(before);
        let close = after.find('}').filter(|close| is_key(&after[..*close]));
        if close.is_some() {
            plain.push(' ');
        }
        rest = after;
    }
    plain.push_str(rest);
    plain
}

/// True if a word between braces refers to an argument.
fn is_key(word: &str) -> bool {
    !word.is_empty() && word.chars().all(is_name_char)
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// A tool's name in letters that every provider accepts.
fn tool_name(name: &str) -> String {
    let name: String = name.chars().map(|c| if is_name_char(c) { c } else { '_' }).take(64).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}

/// `a` to `z`, then `a1` and so on.
fn call_name(n: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(n % 26).unwrap_or_default());
    match n / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

#[cfg(test)]
mod tests;
